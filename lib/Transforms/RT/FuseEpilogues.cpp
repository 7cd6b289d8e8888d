//===- FuseEpilogues.cpp - a product and what follows it in one call -----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description. Each pattern asks the kernel table what the fused
// call would get; `checkKernel` is the one rule about when that is faster.
//===----------------------------------------------------------------------===//

#include "kernels/Fields.h"
#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/RT/Storage.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace aicf {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

/// The only user of `value` if it is an `OpTy`, else null.
template <typename OpTy> static OpTy onlyUser(Value value) {
  return value.hasOneUse() ? dyn_cast<OpTy>(*value.user_begin()) : OpTy();
}

/// The product that makes `value` for one reader only, or null.
static GemmOp onlyProduct(Value value) {
  return value.hasOneUse() ? value.getDefiningOp<GemmOp>() : GemmOp();
}

/// The reduce_sum over dimension 0 of `value` that drops it, or null.
static ReduceSumOp rowSum(Value value) {
  for (Operation *user : value.getUsers())
    if (auto sum = dyn_cast<ReduceSumOp>(user))
      if (sum.getAxis() == 0 &&
          cast<RankedTensorType>(value.getType()).getRank() == 2 &&
          cast<RankedTensorType>(sum.getY().getType()).getRank() == 1)
        return sum;
  return {};
}

static Operation *earlier(Operation *a, Operation *b) {
  return a->isBeforeInBlock(b) ? a : b;
}

/// True when what makes `value` stands behind `op`.
static bool isMadeAfter(Value value, Operation *op) {
  Operation *maker = value ? value.getDefiningOp() : nullptr;
  return maker && !maker->isBeforeInBlock(op);
}

namespace {
/// A call that takes in an `OpTy` and a neighbour of it.
template <typename OpTy> struct Fusion : OpRewritePattern<OpTy> {
  Fusion(MLIRContext *context, const KernelChooser &chooser)
      : OpRewritePattern<OpTy>(context), chooser(chooser) {}

protected:
  /// There is a kernel, and it is our own or one whose family says that its
  /// epilogue costs nothing.
  LogicalResult checkKernel(PatternRewriter &rewriter, OpTy op, OpKind kind,
                            ArrayRef<Value> ins, TypeRange outs) const {
    const KernelRow *row = chooser.choose(kind, ins, outs);
    if (row && (row->provider == KernelProvider::Own || row->fusesForFree))
      return success();
    return rewriter.notifyMatchFailure(op, [&](Diagnostic &diag) {
      if (row)
        diag << "kernel " << row->kid << " takes longer than separate calls";
      else
        diag << "the target has no kernel for " << nameOf(kind);
    });
  }

private:
  const KernelChooser &chooser;
};

/// gemm, bias_add (last dimension), and relu if nothing else reads the sum.
struct FuseBias : Fusion<BiasAddOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(BiasAddOp bias,
                                PatternRewriter &rewriter) const override {
    GemmOp gemm = onlyProduct(bias.getY());
    if (!gemm)
      return rewriter.notifyMatchFailure(
          bias, "y is not a product that only bias_add reads");
    int64_t axis = bias.getAxis();
    if (axis != -1 && axis != 1)
      return rewriter.notifyMatchFailure(bias,
                                         "axis is not the last dimension");
    auto relu = onlyUser<ReluOp>(bias.getOut());
    Value out = relu ? Value(relu.getY()) : Value(bias.getOut());
    Operation *last = out.getDefiningOp();
    SmallVector<Value> ins = {gemm.getA(), gemm.getB(), bias.getB()};
    if (failed(
            checkKernel(rewriter, bias, OpKind::GemmBias, ins, out.getType())))
      return failure();
    rewriter.setInsertionPoint(last);
    auto fused = GemmBiasOp::create(rewriter, gemm.getLoc(), out.getType(), ins,
                                    labelsOf(out));
    fused.setTransA(gemm.getTransA());
    fused.setTransB(gemm.getTransB());
    fused.setRelu(relu != nullptr);
    rewriter.replaceOp(last, fused);
    if (relu)
      rewriter.eraseOp(bias);
    rewriter.eraseOp(gemm);
    return success();
  }
};

/// gemm and the relu_bwd of its result.
struct FuseReluBwd : Fusion<ReluBwdOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(ReluBwdOp bwd,
                                PatternRewriter &rewriter) const override {
    GemmOp gemm = onlyProduct(bwd.getDy());
    if (!gemm)
      return rewriter.notifyMatchFailure(
          bwd, "dy is not a product that only relu_bwd reads");
    SmallVector<Value> ins = {gemm.getA(), gemm.getB(), bwd.getSaved()};
    if (failed(checkKernel(rewriter, bwd, OpKind::GemmReluBwd, ins,
                           bwd->getResultTypes())))
      return failure();
    auto fused =
        GemmReluBwdOp::create(rewriter, gemm.getLoc(), bwd->getResultTypes(),
                              ins, labelsOf(Value(bwd.getDx())));
    fused.setTransA(gemm.getTransA());
    fused.setTransB(gemm.getTransB());
    rewriter.replaceOp(bwd, fused);
    rewriter.eraseOp(gemm);
    return success();
  }
};

/// relu_bwd and the sum of its result over the rows.
struct FuseReluBwdReduce : Fusion<ReluBwdOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(ReluBwdOp bwd,
                                PatternRewriter &rewriter) const override {
    ReduceSumOp sum = rowSum(bwd.getDx());
    if (!sum)
      return rewriter.notifyMatchFailure(bwd, "nothing sums dx over its rows");
    SmallVector<Value> results = {bwd.getDx(), sum.getY()};
    TypeRange types = ValueRange(results).getTypes();
    if (failed(checkKernel(rewriter, bwd, OpKind::ReluBwdReduce,
                           bwd.getOperandSlots(), types)))
      return failure();
    auto fused = ReluBwdReduceOp::create(rewriter, bwd.getLoc(), types,
                                         bwd->getOperands(), labelsOf(results));
    rewriter.replaceOp(sum, fused.getSums());
    rewriter.replaceOp(bwd, fused.getDx());
    return success();
  }
};

/// gemm{transA}(dy, x) and the sum of dy over the rows: dW and db.
struct FuseGemmReduce : Fusion<GemmOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(GemmOp gemm,
                                PatternRewriter &rewriter) const override {
    if (!gemm.getTransA())
      return rewriter.notifyMatchFailure(gemm, "a is not transposed");
    ReduceSumOp sum = rowSum(gemm.getA());
    if (!sum)
      return rewriter.notifyMatchFailure(gemm, "nothing sums a over its rows");
    SmallVector<Value> results = {gemm.getC(), sum.getY()};
    TypeRange types = ValueRange(results).getTypes();
    if (failed(checkKernel(rewriter, gemm, OpKind::GemmReduce,
                           gemm.getOperandSlots(), types)))
      return failure();
    // At the first of the two: both have the operands they need there.
    Operation *first = earlier(sum, gemm);
    if (isMadeAfter(gemm.getB(), first))
      return rewriter.notifyMatchFailure(gemm, "b is made after the sum");
    rewriter.setInsertionPoint(first);
    auto fused = GemmReduceOp::create(rewriter, gemm.getLoc(), types,
                                      gemm->getOperands(), labelsOf(results));
    fused.setTransA(true);
    fused.setTransB(gemm.getTransB());
    rewriter.replaceOp(sum, fused.getSums());
    rewriter.replaceOp(gemm, fused.getC());
    return success();
  }
};

/// mse_loss and mse_grad of the same operands.
struct FuseLoss : Fusion<MseGradOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(MseGradOp grad,
                                PatternRewriter &rewriter) const override {
    MseLossOp loss;
    for (Operation *user : grad.getPred().getUsers())
      if (auto other = dyn_cast<MseLossOp>(user))
        if (!loss && other.getPred() == grad.getPred() &&
            other.getTarget() == grad.getTarget())
          loss = other;
    if (!loss)
      return rewriter.notifyMatchFailure(grad,
                                         "there is no mse_loss of the same");
    SmallVector<Value> results = {loss.getLoss(), grad.getDpred()};
    TypeRange types = ValueRange(results).getTypes();
    SmallVector<Value> ins = grad.getOperandSlots();
    if (failed(checkKernel(rewriter, grad, OpKind::MseLossGrad, ins, types)))
      return failure();
    Operation *first = earlier(loss, grad);
    if (isMadeAfter(grad.getLossScale(), first))
      return rewriter.notifyMatchFailure(
          grad, "the loss scale is made after the loss");
    rewriter.setInsertionPoint(first);
    auto fused = MseLossGradOp::create(rewriter, grad.getLoc(), types, ins,
                                       labelsOf(results));
    // Given or default, as its blob has it.
    SmallVector<uint8_t> blob = PrimitiveOpInterface(grad).getAttrBlob();
    fused.setScale(
        APFloat(decodeAttrs<MseGradAttrs>({blob.data(), blob.size()}).scale));
    rewriter.replaceOp(loss, fused.getLoss());
    rewriter.replaceOp(grad, fused.getDpred());
    return success();
  }
};

struct FuseEpilogues : aicf::impl::FuseEpiloguesBase<FuseEpilogues> {
  using FuseEpiloguesBase::FuseEpiloguesBase;

  /// One pattern on every op of its kind, in program order.
  template <typename Pattern, typename OpTy>
  void apply(func::FuncOp func, const KernelChooser &chooser) {
    SmallVector<Operation *> ops;
    for (OpTy op : func.getOps<OpTy>())
      ops.push_back(op);
    std::reverse(ops.begin(), ops.end()); // the worklist is a stack
    RewritePatternSet patterns(&getContext());
    patterns.add<Pattern>(&getContext(), chooser);
    (void)applyOpPatternsGreedily(
        ops, std::move(patterns),
        GreedyRewriteConfig().enableFolding(false).setStrictness(
            GreedyRewriteStrictness::ExistingOps));
  }

  void runOnOperation() override {
    for (func::FuncOp func : step::getEntries(getOperation())) {
      if (failed(checkEntryForm(func)))
        return signalPassFailure();
      KernelChooser chooser(func, target);
      apply<FuseBias, BiasAddOp>(func, chooser);
      apply<FuseLoss, MseGradOp>(func, chooser);
      // A product takes relu_bwd or the sum; what is left is fused without it.
      apply<FuseReluBwd, ReluBwdOp>(func, chooser);
      apply<FuseGemmReduce, GemmOp>(func, chooser);
      apply<FuseReluBwdReduce, ReluBwdOp>(func, chooser);
    }
  }
};
} // namespace
