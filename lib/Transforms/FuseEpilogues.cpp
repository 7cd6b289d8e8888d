//===- FuseEpilogues.cpp - a product and what follows it in one call -----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description. Each pattern asks the kernel table what the fused
// call would get; `isWorthIt` is the one rule about when that is faster.
//===----------------------------------------------------------------------===//

#include "aicf/Analysis/Entry.h"
#include "aicf/Analysis/KernelChoice.h"
#include "aicf/Analysis/Storage.h"
#include "aicf/Transforms/Passes.h"

namespace mlir::aicf {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "aicf/Transforms/Passes.h.inc"
} // namespace mlir::aicf

using namespace mlir;
using namespace mlir::aicf;
using namespace mlir::aicf_rt;

using ::aicf::OpKind;

namespace {
class Fuser {
public:
  Fuser(func::FuncOp func, ::aicf::DeviceKind device)
      : func(func), chooser(func, device), rewriter(func.getContext()) {}
  void run();

private:
  bool isWorthIt(OpKind kind, ArrayRef<Value> ins, TypeRange outs) const;
  void fuseBias(mlir::aicf_rt::BiasAddOp bias);
  void fuseReluBwd(mlir::aicf_rt::ReluBwdOp bwd);
  void fuseReluBwdReduce(mlir::aicf_rt::ReluBwdOp bwd);
  void fuseGemmReduce(mlir::aicf_rt::GemmOp gemm);
  void fuseLoss(mlir::aicf_rt::MseGradOp grad);

  func::FuncOp func;
  KernelChooser chooser;
  IRRewriter rewriter;
};
} // namespace

/// Labels of values, one each; empty where nothing is numbered.
static SmallVector<int64_t> labels(ValueRange values) {
  SmallVector<int64_t> vids;
  for (Value value : values)
    vids.push_back(labelOf(value));
  return llvm::is_contained(vids, -1) ? SmallVector<int64_t>() : vids;
}

/// The only user of `value` if it is an `OpTy`, else null.
template <typename OpTy> static OpTy onlyUser(Value value) {
  return value.hasOneUse() ? dyn_cast<OpTy>(*value.user_begin()) : OpTy();
}

/// The reduce_sum over dimension 0 of `value` that drops it, or null.
static mlir::aicf_rt::ReduceSumOp rowSum(Value value) {
  for (Operation *user : value.getUsers())
    if (auto sum = dyn_cast<mlir::aicf_rt::ReduceSumOp>(user))
      if (sum.getAxis() == 0 &&
          cast<RankedTensorType>(value.getType()).getRank() == 2 &&
          cast<RankedTensorType>(sum.getY().getType()).getRank() == 1)
        return sum;
  return {};
}

/// There is a kernel, and it is our own or one whose family says that its
/// epilogue costs nothing.
bool Fuser::isWorthIt(OpKind kind, ArrayRef<Value> ins, TypeRange outs) const {
  const ::aicf::KernelRow *row = chooser.choose(kind, ins, outs);
  return row && (row->provider == ::aicf::Provider::Own || row->fusesForFree);
}

/// gemm, bias_add (last dimension), and relu if nothing else reads the sum.
void Fuser::fuseBias(mlir::aicf_rt::BiasAddOp bias) {
  auto gemm = bias.getY().getDefiningOp<mlir::aicf_rt::GemmOp>();
  int64_t axis = bias.getAxis();
  if (!gemm || !gemm.getC().hasOneUse() || (axis != -1 && axis != 1))
    return;
  Operation *last = bias;
  auto relu = onlyUser<mlir::aicf_rt::ReluOp>(bias.getOut());
  if (relu)
    last = relu;
  SmallVector<Value> ins = {gemm.getA(), gemm.getB(), bias.getB()};
  if (!isWorthIt(OpKind::GemmBias, ins, last->getResultTypes()))
    return;
  rewriter.setInsertionPoint(last);
  auto fused = mlir::aicf_rt::GemmBiasOp::create(rewriter, gemm.getLoc(),
                                                 last->getResultTypes(), ins,
                                                 labels(last->getResults()));
  fused.setTransA(gemm.getTransA());
  fused.setTransB(gemm.getTransB());
  fused.setRelu(relu != nullptr);
  rewriter.replaceOp(last, fused);
  if (relu)
    rewriter.eraseOp(bias);
  rewriter.eraseOp(gemm);
}

/// gemm and the relu_bwd of its result.
void Fuser::fuseReluBwd(mlir::aicf_rt::ReluBwdOp bwd) {
  auto gemm = bwd.getDy().getDefiningOp<mlir::aicf_rt::GemmOp>();
  if (!gemm || !gemm.getC().hasOneUse())
    return;
  SmallVector<Value> ins = {gemm.getA(), gemm.getB(), bwd.getSaved()};
  if (!isWorthIt(OpKind::GemmReluBwd, ins, bwd->getResultTypes()))
    return;
  rewriter.setInsertionPoint(bwd);
  auto fused = mlir::aicf_rt::GemmReluBwdOp::create(rewriter, gemm.getLoc(),
                                                    bwd->getResultTypes(), ins,
                                                    labels(bwd->getResults()));
  fused.setTransA(gemm.getTransA());
  fused.setTransB(gemm.getTransB());
  rewriter.replaceOp(bwd, fused);
  rewriter.eraseOp(gemm);
}

/// relu_bwd and the sum of its result over the rows.
void Fuser::fuseReluBwdReduce(mlir::aicf_rt::ReluBwdOp bwd) {
  mlir::aicf_rt::ReduceSumOp sum = rowSum(bwd.getDx());
  if (!sum)
    return;
  SmallVector<Value> results = {bwd.getDx(), sum.getY()};
  if (!isWorthIt(OpKind::ReluBwdReduce, bwd.getOperandSlots(),
                 ValueRange(results).getTypes()))
    return;
  rewriter.setInsertionPoint(bwd);
  auto fused = mlir::aicf_rt::ReluBwdReduceOp::create(
      rewriter, bwd.getLoc(), ValueRange(results).getTypes(),
      bwd->getOperands(), labels(results));
  rewriter.replaceOp(sum, fused.getSums());
  rewriter.replaceOp(bwd, fused.getDx());
}

/// gemm{transA}(dy, x) and the sum of dy over the rows: dW and db.
void Fuser::fuseGemmReduce(mlir::aicf_rt::GemmOp gemm) {
  if (!gemm.getTransA())
    return;
  mlir::aicf_rt::ReduceSumOp sum = rowSum(gemm.getA());
  if (!sum)
    return;
  SmallVector<Value> results = {gemm.getC(), sum.getY()};
  if (!isWorthIt(OpKind::GemmReduce, gemm.getOperandSlots(),
                 ValueRange(results).getTypes()))
    return;
  // At the first of the two: both have the operands they need there.
  rewriter.setInsertionPoint(sum->isBeforeInBlock(gemm) ? sum.getOperation()
                                                        : gemm.getOperation());
  if (Operation *maker = gemm.getB().getDefiningOp())
    if (!maker->isBeforeInBlock(&*rewriter.getInsertionPoint()))
      return;
  auto fused = mlir::aicf_rt::GemmReduceOp::create(
      rewriter, gemm.getLoc(), ValueRange(results).getTypes(),
      gemm->getOperands(), labels(results));
  fused.setTransA(true);
  fused.setTransB(gemm.getTransB());
  rewriter.replaceOp(sum, fused.getSums());
  rewriter.replaceOp(gemm, fused.getC());
}

/// The scale of a gradient, given or default, as its blob has it.
static double scaleOf(mlir::aicf_rt::MseGradOp grad) {
  SmallVector<uint8_t> blob = PrimitiveOpInterface(grad).getAttrBlob();
  ::aicf::MseGradAttrs attrs;
  std::memcpy(&attrs, blob.data(), sizeof(attrs));
  return attrs.scale;
}

/// mse_loss and mse_grad of the same operands.
void Fuser::fuseLoss(mlir::aicf_rt::MseGradOp grad) {
  for (Operation *user : grad.getPred().getUsers()) {
    auto loss = dyn_cast<mlir::aicf_rt::MseLossOp>(user);
    if (!loss || loss.getPred() != grad.getPred() ||
        loss.getTarget() != grad.getTarget())
      continue;
    SmallVector<Value> results = {loss.getLoss(), grad.getDpred()};
    SmallVector<Value> ins = grad.getOperandSlots();
    if (!isWorthIt(OpKind::MseLossGrad, ins, ValueRange(results).getTypes()))
      return;
    if (grad.getLossScale())
      if (Operation *maker = grad.getLossScale().getDefiningOp())
        if (!maker->isBeforeInBlock(loss) && loss->isBeforeInBlock(grad))
          return;
    rewriter.setInsertionPoint(loss->isBeforeInBlock(grad)
                                   ? loss.getOperation()
                                   : grad.getOperation());
    auto fused = mlir::aicf_rt::MseLossGradOp::create(
        rewriter, grad.getLoc(), ValueRange(results).getTypes(), ins,
        labels(results));
    fused.setScale(APFloat(scaleOf(grad)));
    rewriter.replaceOp(loss, fused.getLoss());
    rewriter.replaceOp(grad, fused.getDpred());
    return;
  }
}

/// Calls `fuse` on every op of a type; it may erase any.
template <typename OpTy, typename Fuse>
static void forEach(func::FuncOp func, Fuse fuse) {
  SmallVector<OpTy> ops(func.getOps<OpTy>());
  for (OpTy op : ops)
    fuse(op);
}

void Fuser::run() {
  forEach<mlir::aicf_rt::BiasAddOp>(func, [&](auto op) { fuseBias(op); });
  forEach<mlir::aicf_rt::MseGradOp>(func, [&](auto op) { fuseLoss(op); });
  // A product takes relu_bwd or the sum; what is left is fused without it.
  forEach<mlir::aicf_rt::ReluBwdOp>(func, [&](auto op) { fuseReluBwd(op); });
  forEach<mlir::aicf_rt::GemmOp>(func, [&](auto op) { fuseGemmReduce(op); });
  forEach<mlir::aicf_rt::ReluBwdOp>(func,
                                    [&](auto op) { fuseReluBwdReduce(op); });
}

namespace {
struct FuseEpilogues : mlir::aicf::impl::FuseEpiloguesBase<FuseEpilogues> {
  using FuseEpiloguesBase::FuseEpiloguesBase;
  void runOnOperation() override {
    for (func::FuncOp func : getEntries(getOperation())) {
      if (failed(checkEntryForm(func)))
        return signalPassFailure();
      Fuser(func, target).run();
    }
  }
};
} // namespace
