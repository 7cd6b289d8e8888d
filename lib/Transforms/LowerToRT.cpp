//===- LowerToRT.cpp - aicf ops to backend primitives ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description. One pattern an op where the lowering differs, one
// template for the rest.
//===----------------------------------------------------------------------===//

#include "aicf/Analysis/Entry.h"
#include "aicf/Transforms/Passes.h"

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::aicf {
#define GEN_PASS_DEF_LOWERTORT
#include "aicf/Transforms/Passes.h.inc"
} // namespace mlir::aicf

using namespace mlir;
using namespace mlir::aicf;

namespace {

/// Labels of an op's results; empty when nobody numbered them.
ArrayRef<int64_t> vidsOf(Operation *op) {
  auto vids = op->getAttrOfType<DenseI64ArrayAttr>(kVidsAttr);
  return vids ? vids.asArrayRef() : ArrayRef<int64_t>();
}

/// The label of result `i` as an array, or an empty one.
ArrayRef<int64_t> vidOf(Operation *op, unsigned i) {
  ArrayRef<int64_t> vids = vidsOf(op);
  return vids.empty() ? vids : vids.slice(i, 1);
}

/// Sets the fields that an op of both dialects has under the same name.
template <typename From, typename To> void copyAttrs(From, To) {}
void copyAttrs(ReduceSumOp from, mlir::aicf_rt::ReduceSumOp to) {
  to.setAxis(from.getAxis());
}
void copyAttrs(MseGradOp from, mlir::aicf_rt::MseGradOp to) {
  if (from.getScaleAttr())
    to.setScaleAttr(from.getScaleAttr());
}
void copyAttrs(LayerNormOp from, mlir::aicf_rt::LayerNormOp to) {
  to.setEpsAttr(from.getEpsAttr());
}
void copyAttrs(LossScaleUpdateOp from, mlir::aicf_rt::LossScaleUpdateOp to) {
  to.setGrowthFactorAttr(from.getGrowthFactorAttr());
  to.setBackoffFactorAttr(from.getBackoffFactorAttr());
  to.setGrowthIntervalAttr(from.getGrowthIntervalAttr());
}
void copyAttrs(BiasCorrOp from, mlir::aicf_rt::BiasCorrOp to) {
  to.setBeta1Attr(from.getBeta1Attr());
  to.setBeta2Attr(from.getBeta2Attr());
}
void copyAttrs(AdamStepOp from, mlir::aicf_rt::AdamStepOp to) {
  to.setBeta1Attr(from.getBeta1Attr());
  to.setBeta2Attr(from.getBeta2Attr());
  to.setEpsAttr(from.getEpsAttr());
  to.setWeightDecayAttr(from.getWeightDecayAttr());
}

void copyAttrs(ShuffleOp from, mlir::aicf_rt::ShuffleOp to) {
  to.setSizeAttr(from.getSizeAttr());
  to.setSeedAttr(from.getSeedAttr());
}

/// Same operands, same results, same attributes.
template <typename From, typename To>
struct LowerOneToOne : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(From op, typename From::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto lowered = To::create(rewriter, op.getLoc(), op->getResultTypes(),
                              adaptor.getOperands(), vidsOf(op));
    copyAttrs(op, lowered);
    rewriter.replaceOp(op, lowered);
    return success();
  }
};

struct LowerLinear : OpConversionPattern<LinearOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(LinearOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = op.getY().getType();
    auto gemm = mlir::aicf_rt::GemmOp::create(
        rewriter, op.getLoc(), type,
        ValueRange{adaptor.getX(), adaptor.getWeight()}, vidsOf(op));
    gemm.setTransB(true);
    Value y = gemm.getResult(0);
    if (adaptor.getBias())
      y = mlir::aicf_rt::BiasAddOp::create(rewriter, op.getLoc(), type,
                                           ValueRange{y, adaptor.getBias()},
                                           vidsOf(op))
              .getResult(0);
    rewriter.replaceOp(op, y);
    return success();
  }
};

/// dx = dy·W, dW = dyᵀ·x, db = Σ dy: only those that are used.
struct LowerLinearBwd : OpConversionPattern<LinearBwdOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(LinearBwdOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value dy = adaptor.getDy();
    SmallVector<Value, 3> results(3);
    if (!op.getDx().use_empty())
      results[0] = mlir::aicf_rt::GemmOp::create(
                       rewriter, op.getLoc(), op.getDx().getType(),
                       ValueRange{dy, adaptor.getWeight()}, vidOf(op, 0))
                       .getResult(0);
    if (!op.getDweight().use_empty()) {
      auto gemm = mlir::aicf_rt::GemmOp::create(
          rewriter, op.getLoc(), op.getDweight().getType(),
          ValueRange{dy, adaptor.getX()}, vidOf(op, 1));
      gemm.setTransA(true);
      results[1] = gemm.getResult(0);
    }
    if (!op.getDbias().use_empty())
      results[2] = mlir::aicf_rt::ReduceSumOp::create(
                       rewriter, op.getLoc(), op.getDbias().getType(),
                       ValueRange{dy}, vidOf(op, 2))
                       .getResult(0);
    rewriter.replaceOp(op, results); // null where unused
    return success();
  }
};

struct LowerSgdStep : OpConversionPattern<SgdStepOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(SgdStepOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    bool hasMoment = static_cast<bool>(op.getM());
    SmallVector<Type> types(hasMoment ? 2 : 1, op.getNewP().getType());
    ArrayRef<int64_t> vids = vidsOf(op);
    auto lowered = mlir::aicf_rt::SgdStepOp::create(
        rewriter, op.getLoc(), types, adaptor.getOperands(),
        vids.empty() ? vids : vids.take_front(types.size()));
    lowered.setMomentumAttr(op.getMomentumAttr());
    lowered.setWeightDecayAttr(op.getWeightDecayAttr());
    lowered.setNesterovAttr(op.getNesterovAttr());
    rewriter.replaceOp(
        op, {lowered.getResult(0), lowered->getResult(types.size() - 1)});
    return success();
  }
};

} // namespace

/// Pure ops whose results nobody uses, from the bottom up.
/// Folds every op once, in order. The conversion must not: where each op folds
/// to the one before, its value mapping becomes a chain that every lookup
/// walks.
static void foldOps(func::FuncOp func) {
  for (Operation &op :
       llvm::make_early_inc_range(func.front().without_terminator())) {
    SmallVector<OpFoldResult, 1> folded;
    if (failed(op.fold(folded)) || folded.empty())
      continue;
    for (auto [result, value] : llvm::zip_equal(op.getResults(), folded))
      result.replaceAllUsesWith(cast<Value>(value)); // there are no constants
    op.erase();
  }
}

static void eraseDeadOps(func::FuncOp func) {
  IRRewriter rewriter(func.getContext());
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(func.front().getOperations())))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

/// Without m there is no result to lower a used second result to.
static LogicalResult checkMoments(func::FuncOp func) {
  for (auto op : func.getOps<SgdStepOp>())
    if (!op.getM() && !op.getNewM().use_empty())
      return op.emitOpError() << "its second result is used, but without the "
                                 "operand m there is no moment";
  return success();
}

/// A history that nobody expanded would be lost here.
static LogicalResult checkHistories(func::FuncOp func) {
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (func.getResultAttr(i, kHistoryAttr))
      return func.emitError() << "result " << i
                              << " has 'aicf.history': run "
                                 "--aicf-expand-history first";
  return success();
}

LogicalResult mlir::aicf::lowerEntriesToRT(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  patterns
      .add<LowerLinear, LowerLinearBwd, LowerSgdStep,
           LowerOneToOne<ReluOp, mlir::aicf_rt::ReluOp>,
           LowerOneToOne<ReluBwdOp, mlir::aicf_rt::ReluBwdOp>,
           LowerOneToOne<AddOp, mlir::aicf_rt::AddOp>,
           LowerOneToOne<CopyOp, mlir::aicf_rt::CopyOp>,
           LowerOneToOne<SaveOp, mlir::aicf_rt::CopySavedOp>,
           LowerOneToOne<CastOp, mlir::aicf_rt::CastOp>,
           LowerOneToOne<MseLossOp, mlir::aicf_rt::MseLossOp>,
           LowerOneToOne<MseGradOp, mlir::aicf_rt::MseGradOp>,
           LowerOneToOne<ReduceSumOp, mlir::aicf_rt::ReduceSumOp>,
           LowerOneToOne<LayerNormOp, mlir::aicf_rt::LayerNormOp>,
           LowerOneToOne<LayerNormBwdOp, mlir::aicf_rt::LayerNormBwdOp>,
           LowerOneToOne<AllFiniteOp, mlir::aicf_rt::AllFiniteOp>,
           LowerOneToOne<LossScaleUpdateOp, mlir::aicf_rt::LossScaleUpdateOp>,
           LowerOneToOne<StepIncOp, mlir::aicf_rt::StepIncOp>,
           LowerOneToOne<BiasCorrOp, mlir::aicf_rt::BiasCorrOp>,
           LowerOneToOne<AdamStepOp, mlir::aicf_rt::AdamStepOp>,
           LowerOneToOne<ReciprocalOp, mlir::aicf_rt::ReciprocalOp>,
           LowerOneToOne<GatherRowsOp, mlir::aicf_rt::GatherRowsOp>,
           LowerOneToOne<ShuffleOp, mlir::aicf_rt::ShuffleOp>,
           LowerOneToOne<RecordOp, mlir::aicf_rt::RecordOp>>(context);
  FrozenRewritePatternSet frozen(std::move(patterns));
  ConversionTarget target(*context);
  target.addIllegalDialect<AICFDialect>();
  target.addLegalDialect<mlir::aicf_rt::AICFRTDialect>();
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  for (func::FuncOp func : getEntries(module)) {
    foldOps(func);
    eraseDeadOps(func);
    if (failed(checkHistories(func)) || failed(checkMoments(func)) ||
        failed(applyPartialConversion(func, target, frozen, config)))
      return failure();
  }
  return success();
}

namespace {
struct LowerToRT : mlir::aicf::impl::LowerToRTBase<LowerToRT> {
  void runOnOperation() override {
    if (failed(lowerEntriesToRT(getOperation())))
      signalPassFailure();
  }
};
} // namespace
