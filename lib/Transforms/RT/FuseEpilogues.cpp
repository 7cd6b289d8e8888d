//===- FuseEpilogues.cpp - a product and what follows it in one call -----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description. Each pattern asks the kernel table what the fused
// call would get; `isWorthIt` is the one rule about when that is faster.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/RT/Storage.h"

namespace aicf {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

namespace {
class Fuser {
public:
  Fuser(func::FuncOp func, DeviceKind device)
      : func(func), chooser(func, device), rewriter(func.getContext()) {}
  void run();

private:
  bool isWorthIt(OpKind kind, ArrayRef<Value> ins, TypeRange outs) const;
  void fuseBias(aicf::rt::BiasAddOp bias);
  void fuseReluBwd(aicf::rt::ReluBwdOp bwd);
  void fuseReluBwdReduce(aicf::rt::ReluBwdOp bwd);
  void fuseGemmReduce(aicf::rt::GemmOp gemm);
  void fuseLoss(aicf::rt::MseGradOp grad);

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
static aicf::rt::ReduceSumOp rowSum(Value value) {
  for (Operation *user : value.getUsers())
    if (auto sum = dyn_cast<aicf::rt::ReduceSumOp>(user))
      if (sum.getAxis() == 0 &&
          cast<RankedTensorType>(value.getType()).getRank() == 2 &&
          cast<RankedTensorType>(sum.getY().getType()).getRank() == 1)
        return sum;
  return {};
}

/// There is a kernel, and it is our own or one whose family says that its
/// epilogue costs nothing.
bool Fuser::isWorthIt(OpKind kind, ArrayRef<Value> ins, TypeRange outs) const {
  const KernelRow *row = chooser.choose(kind, ins, outs);
  return row && (row->provider == KernelProvider::Own || row->fusesForFree);
}

/// gemm, bias_add (last dimension), and relu if nothing else reads the sum.
void Fuser::fuseBias(aicf::rt::BiasAddOp bias) {
  auto gemm = bias.getY().getDefiningOp<aicf::rt::GemmOp>();
  int64_t axis = bias.getAxis();
  if (!gemm || !gemm.getC().hasOneUse() || (axis != -1 && axis != 1))
    return;
  Operation *last = bias;
  auto relu = onlyUser<aicf::rt::ReluOp>(bias.getOut());
  if (relu)
    last = relu;
  SmallVector<Value> ins = {gemm.getA(), gemm.getB(), bias.getB()};
  if (!isWorthIt(OpKind::GemmBias, ins, last->getResultTypes()))
    return;
  rewriter.setInsertionPoint(last);
  auto fused = aicf::rt::GemmBiasOp::create(rewriter, gemm.getLoc(),
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
void Fuser::fuseReluBwd(aicf::rt::ReluBwdOp bwd) {
  auto gemm = bwd.getDy().getDefiningOp<aicf::rt::GemmOp>();
  if (!gemm || !gemm.getC().hasOneUse())
    return;
  SmallVector<Value> ins = {gemm.getA(), gemm.getB(), bwd.getSaved()};
  if (!isWorthIt(OpKind::GemmReluBwd, ins, bwd->getResultTypes()))
    return;
  rewriter.setInsertionPoint(bwd);
  auto fused = aicf::rt::GemmReluBwdOp::create(rewriter, gemm.getLoc(),
                                               bwd->getResultTypes(), ins,
                                               labels(bwd->getResults()));
  fused.setTransA(gemm.getTransA());
  fused.setTransB(gemm.getTransB());
  rewriter.replaceOp(bwd, fused);
  rewriter.eraseOp(gemm);
}

/// relu_bwd and the sum of its result over the rows.
void Fuser::fuseReluBwdReduce(aicf::rt::ReluBwdOp bwd) {
  aicf::rt::ReduceSumOp sum = rowSum(bwd.getDx());
  if (!sum)
    return;
  SmallVector<Value> results = {bwd.getDx(), sum.getY()};
  if (!isWorthIt(OpKind::ReluBwdReduce, bwd.getOperandSlots(),
                 ValueRange(results).getTypes()))
    return;
  rewriter.setInsertionPoint(bwd);
  auto fused = aicf::rt::ReluBwdReduceOp::create(
      rewriter, bwd.getLoc(), ValueRange(results).getTypes(),
      bwd->getOperands(), labels(results));
  rewriter.replaceOp(sum, fused.getSums());
  rewriter.replaceOp(bwd, fused.getDx());
}

/// gemm{transA}(dy, x) and the sum of dy over the rows: dW and db.
void Fuser::fuseGemmReduce(aicf::rt::GemmOp gemm) {
  if (!gemm.getTransA())
    return;
  aicf::rt::ReduceSumOp sum = rowSum(gemm.getA());
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
  auto fused = aicf::rt::GemmReduceOp::create(
      rewriter, gemm.getLoc(), ValueRange(results).getTypes(),
      gemm->getOperands(), labels(results));
  fused.setTransA(true);
  fused.setTransB(gemm.getTransB());
  rewriter.replaceOp(sum, fused.getSums());
  rewriter.replaceOp(gemm, fused.getC());
}

/// The scale of a gradient, given or default, as its blob has it.
static double scaleOf(aicf::rt::MseGradOp grad) {
  SmallVector<uint8_t> blob = PrimitiveOpInterface(grad).getAttrBlob();
  MseGradAttrs attrs;
  std::memcpy(&attrs, blob.data(), sizeof(attrs));
  return attrs.scale;
}

/// mse_loss and mse_grad of the same operands.
void Fuser::fuseLoss(aicf::rt::MseGradOp grad) {
  for (Operation *user : grad.getPred().getUsers()) {
    auto loss = dyn_cast<aicf::rt::MseLossOp>(user);
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
    auto fused = aicf::rt::MseLossGradOp::create(rewriter, grad.getLoc(),
                                                 ValueRange(results).getTypes(),
                                                 ins, labels(results));
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
  forEach<aicf::rt::BiasAddOp>(func, [&](auto op) { fuseBias(op); });
  forEach<aicf::rt::MseGradOp>(func, [&](auto op) { fuseLoss(op); });
  // A product takes relu_bwd or the sum; what is left is fused without it.
  forEach<aicf::rt::ReluBwdOp>(func, [&](auto op) { fuseReluBwd(op); });
  forEach<aicf::rt::GemmOp>(func, [&](auto op) { fuseGemmReduce(op); });
  forEach<aicf::rt::ReluBwdOp>(func, [&](auto op) { fuseReluBwdReduce(op); });
}

namespace {
struct FuseEpilogues : aicf::impl::FuseEpiloguesBase<FuseEpilogues> {
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
