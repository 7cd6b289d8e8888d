//===- LowerToRT.cpp - aicf ops to backend primitives ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Ops with a record become that primitive, by one pattern; linear and its
// gradient, which are several primitives, have one each.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICF/AICF.h"
#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Transforms/DialectConversion.h"

namespace aicf {
#define GEN_PASS_DEF_LOWERTORT
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

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

/// An op with a record becomes the primitive of that record: same operands,
/// same fields; results that the record calls absent are left out.
struct LowerRecord : OpInterfaceConversionPattern<RecordOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;
  LogicalResult
  matchAndRewrite(RecordOpInterface op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    const OpInfo &info = infoOf(op.getPrimitive());
    OperationState state(op->getLoc(),
                         ("aicf_rt." + StringRef(info.name)).str());
    state.addOperands(operands);
    unsigned numResults = op->getNumResults();
    while (numResults > 0 && isAbsent(op, info.results[numResults - 1], info))
      --numResults;
    state.addTypes(TypeRange(op->getResultTypes()).take_front(numResults));
    NamedAttrList properties;
    for (size_t i = 0; i < info.numFields; ++i)
      copyAttr(op, StringRef(info.fields[i].name), properties);
    copyAttr(op, "operandSegmentSizes", properties);
    ArrayRef<int64_t> vids = vidsOf(op);
    properties.set("vids",
                   rewriter.getDenseI64ArrayAttr(
                       vids.empty() ? vids : vids.take_front(numResults)));
    state.propertiesAttr = properties.getDictionary(op->getContext());
    Operation *lowered = rewriter.create(state);
    SmallVector<Value> results(lowered->getResults());
    results.resize(op->getNumResults()); // null where unused
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  static void copyAttr(Operation *op, StringRef name, NamedAttrList &to) {
    if (std::optional<Attribute> attr = op->getInherentAttr(name);
        attr && *attr)
      to.set(name, *attr);
  }
  /// True for an optional result whose operand is absent.
  static bool isAbsent(Operation *op, const ResultInfo &result,
                       const OpInfo &info) {
    return result.presence == Presence::Optional &&
           cast<StepOpInterface>(op)
               .getOptionalOperand(StringRef(info.operands[result.of].name))
               .empty();
  }
};

struct LowerLinear : OpConversionPattern<LinearOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(LinearOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = op.getY().getType();
    auto gemm = aicf::rt::GemmOp::create(
        rewriter, op.getLoc(), type,
        ValueRange{adaptor.getX(), adaptor.getWeight()}, vidsOf(op));
    gemm.setTransB(true);
    Value y = gemm.getC();
    if (adaptor.getBias())
      y = aicf::rt::BiasAddOp::create(rewriter, op.getLoc(), type,
                                      ValueRange{y, adaptor.getBias()},
                                      vidsOf(op))
              .getOut();
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
      results[0] = aicf::rt::GemmOp::create(
                       rewriter, op.getLoc(), op.getDx().getType(),
                       ValueRange{dy, adaptor.getWeight()}, vidOf(op, 0))
                       .getC();
    if (!op.getDweight().use_empty()) {
      auto gemm = aicf::rt::GemmOp::create(
          rewriter, op.getLoc(), op.getDweight().getType(),
          ValueRange{dy, adaptor.getX()}, vidOf(op, 1));
      gemm.setTransA(true);
      results[1] = gemm.getC();
    }
    if (!op.getDbias().use_empty())
      results[2] = aicf::rt::ReduceSumOp::create(rewriter, op.getLoc(),
                                                 op.getDbias().getType(),
                                                 ValueRange{dy}, vidOf(op, 2))
                       .getY();
    rewriter.replaceOp(op, results); // null where unused
    return success();
  }
};

} // namespace

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

/// Pure ops whose results nobody uses, from the bottom up.
static void eraseDeadOps(func::FuncOp func) {
  IRRewriter rewriter(func.getContext());
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(func.front().getOperations())))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

/// There is no result to lower a used one to where its operand is absent.
static LogicalResult checkAbsentResults(func::FuncOp func) {
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

/// A history that nobody expanded would be lost here.
static LogicalResult checkHistories(func::FuncOp func) {
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
  patterns.add<LowerLinear, LowerLinearBwd, LowerRecord>(context);
  FrozenRewritePatternSet frozen(std::move(patterns));
  ConversionTarget target(*context);
  target.addIllegalDialect<AICFDialect>();
  target.addLegalDialect<aicf::rt::AICFRTDialect>();
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  for (func::FuncOp func : getEntries(module)) {
    foldOps(func);
    eraseDeadOps(func);
    if (failed(checkHistories(func)) || failed(checkAbsentResults(func)) ||
        failed(applyPartialConversion(func, target, frozen, config)))
      return failure();
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
