//===- LowerToRT.cpp - aicf ops to backend primitives ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Ops with a record become a call of that primitive, by one pattern; linear and
// its gradient, which are several primitives, have one each. Views are in
// LowerViews.cpp, what is a primitive on views in LowerReductions.cpp.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICF/AICF.h"
#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Dialect/Entry.h"
#include "lib/Dialect/Record.h"
#include "lib/Transforms/DeadOps.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/Remarks.h"
#include "lib/Transforms/Step/KeptValues.h"
#include "lib/Transforms/StepToRT/LowerViews.h"

#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace aicf {
#define GEN_PASS_DEF_LOWERTORT
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {

/// An op with a record becomes a call of that primitive: same operands, same
/// fields; results that the record calls absent are left out.
struct LowerRecord : OpInterfaceRewritePattern<RecordOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(RecordOpInterface op,
                                PatternRewriter &rewriter) const override {
    OpKind kind = op.getPrimitive();
    const OpInfo &info = infoOf(kind);
    SmallVector<Value> slots = op.getOperandSlots();
    SmallVector<uint8_t> attrs = aicf::encodeFields(
        kind,
        [&](StringRef name) {
          return op->getInherentAttr(name).value_or(Attribute());
        },
        aicf::describeSlots(slots));
    std::vector<bool> hasOperand, hasResult;
    for (Value slot : slots)
      hasOperand.push_back(slot != nullptr);
    size_t numResults = 0;
    for (size_t i = 0; i < info.numResults; ++i) {
      hasResult.push_back(!isAbsent(op, info.results[i], info));
      numResults += hasResult.back();
    }
    ArrayRef<int64_t> vids = vidsOf(op);
    auto call = aicf::rt::CallOp::create(
        rewriter, op->getLoc(),
        TypeRange(op->getResultTypes()).take_front(numResults),
        op->getOperands(),
        makeBody(kind, {attrs.begin(), attrs.end()}, hasOperand, hasResult),
        vids.take_front(std::min(vids.size(), numResults)));
    SmallVector<Value> results(call->getResults());
    results.resize(op->getNumResults()); // null where unused
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  /// True for an optional result whose operand is absent.
  static bool isAbsent(Operation *op, const ResultInfo &result,
                       const OpInfo &info) {
    return result.presence == Presence::Optional &&
           cast<StepOpInterface>(op)
               .getOptionalOperand(StringRef(info.operands[result.of].name))
               .empty();
  }
};

struct LowerLinear : OpRewritePattern<LinearOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LinearOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getY().getType();
    Value y = makeGemm(rewriter, op.getLoc(), type, op.getX(),
                       /*transA=*/false, op.getWeight(), op.getTransW(),
                       vidsOf(op));
    if (op.getBias())
      y = makeCall(rewriter, op.getLoc(), OpKind::BiasAdd,
                   BiasAddAttrs{/*axis=*/-1}, type, {y, op.getBias()},
                   vidsOf(op));
    rewriter.replaceOp(op, y);
    return success();
  }
};

/// dx = dy·W, dW = dyᵀ·x, db = Σ dy: only those that are used. Of a W that is
/// [K, N] the first two are dy·Wᵀ and xᵀ·dy.
struct LowerLinearBwd : OpRewritePattern<LinearBwdOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LinearBwdOp op,
                                PatternRewriter &rewriter) const override {
    Value dy = op.getDy();
    bool transW = op.getTransW();
    SmallVector<Value, 3> results(3);
    if (!op.getDx().use_empty())
      results[0] = makeGemm(rewriter, op.getLoc(), op.getDx().getType(), dy,
                            /*transA=*/false, op.getWeight(), !transW,
                            vidOf(op, 0), isReadTurned(op.getDx()));
    if (!op.getDweight().use_empty())
      results[1] = makeGemm(rewriter, op.getLoc(), op.getDweight().getType(),
                            transW ? dy : op.getX(), /*transA=*/true,
                            transW ? op.getX() : dy, /*transB=*/false,
                            vidOf(op, 1));
    if (!op.getDbias().use_empty()) {
      int64_t rows = cast<ShapedType>(dy.getType()).getRank() - 1;
      results[2] = makeCall(rewriter, op.getLoc(), OpKind::ReduceSum,
                            ReduceSumAttrs{/*axis=*/rows - 1},
                            op.getDbias().getType(), {dy}, vidOf(op, 2));
    }
    rewriter.replaceOp(op, results); // null where unused
    return success();
  }
};

/// No call: what reads it reads its operand.
struct LowerStopGradient : OpRewritePattern<StopGradientOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StopGradientOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.getX());
    return success();
  }
};
struct LowerStraightThrough : OpRewritePattern<StraightThroughOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StraightThroughOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.getValue());
    return success();
  }
};

} // namespace

/// Folds every op once, in order.
static void foldOps(func::FuncOp func) {
  for (Operation &op :
       llvm::make_early_inc_range(func.front().without_terminator())) {
    SmallVector<OpFoldResult, 1> folded;
    if (!isa_and_present<AICFDialect>(op.getDialect()) ||
        failed(op.fold(folded)) || folded.empty())
      continue; // others may fold to constants
    for (auto [result, value] : llvm::zip_equal(op.getResults(), folded))
      result.replaceAllUsesWith(cast<Value>(value)); // there are no constants
    op.erase();
  }
}

/// What is returned has storage of its own, and is dense: a view gets a copy, where
/// it is made, so that it has the old value of what is updated later.
static void copyReturnedViews(func::FuncOp func) {
  llvm::DenseMap<Value, Value> copies;
  for (OpOperand &returned : func.front().getTerminator()->getOpOperands()) {
    aicf::rt::ViewOp view = aicf::rt::viewOf(returned.get());
    if (!view)
      continue;
    Value &copy = copies[view];
    if (!copy) {
      OpBuilder builder(view.getContext());
      builder.setInsertionPointAfter(view);
      copy = aicf::rt::copyOfView(builder, view.getLoc(), view);
      remark::missed(view.getLoc(), remarkOf("LowerToRT", func.getSymName()))
          << "a returned view needs a copy: an output or update has storage of "
             "its own";
    }
    returned.set(copy);
  }
}

LogicalResult aicf::checkAbsentResults(func::FuncOp func) {
  for (auto op : func.getOps<RecordOpInterface>()) {
    const OpInfo &info = infoOf(op.getPrimitive());
    for (OpResult result : op->getResults()) {
      const ResultInfo &r = info.results[result.getResultNumber()];
      if (r.presence != Presence::Optional || result.use_empty())
        continue;
      StringRef operand(info.operands[r.of].name);
      if (cast<StepOpInterface>(op.getOperation())
              .getOptionalOperand(operand)
              .empty())
        return op->emitOpError()
               << "its result " << StringRef(r.name)
               << " is used, but the operand " << operand << " is absent";
    }
  }
  return success();
}

LogicalResult aicf::checkMarks(func::FuncOp func) {
  if (func->hasAttr(kOptimizerAttr))
    return func.emitError() << "has 'aicf.optimizer': run "
                               "--aicf-append-optimizer first";
  for (auto op : func.getOps<GradientOp>())
    return op.emitOpError() << "has no call: run --aicf-expand-gradients first";
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (func.getResultAttr(i, kMinimizeAttr))
      return func.emitError() << "result " << i
                              << " has 'aicf.minimize': run --aicf-autodiff "
                                 "first";
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (func.getResultAttr(i, kHistoryAttr))
      return func.emitError() << "result " << i
                              << " has 'aicf.history': run "
                                 "--aicf-expand-history first";
  return success();
}

LogicalResult aicf::lowerEntriesToRT(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  patterns.add<LowerLinear, LowerLinearBwd, LowerRecord, LowerStopGradient,
               LowerStraightThrough>(context);
  populateViewPatterns(patterns);
  populateReductionPatterns(patterns);
  populateProductPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  for (func::FuncOp func : getEntries(module)) {
    foldOps(func);
    eraseDeadOps(func.front());
    if (failed(checkMarks(func)) || failed(checkAbsentResults(func)))
      return failure();
    // Each op is rewritten by itself, so one walk does; a conversion, which can
    // be taken back, takes twice as long.
    walkAndApplyPatterns(func, frozen);
    copyReturnedViews(func);
    eraseDeadOps(func.front()); // views that others were made of
  }
  return success();
}

namespace {
struct LowerToRT : aicf::impl::LowerToRTBase<LowerToRT> {
  void runOnOperation() override {
    if (failed(lowerEntriesToRT(getOperation())))
      signalPassFailure();
  }
};
} // namespace
