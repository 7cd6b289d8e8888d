//===- AICFToLinalg.cpp - the bridge out of the aicf dialect --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Purpose: other people's code generators take a step from here, and the tests
// have MLIR's JIT for a second opinion. Nothing is planned or fused.
//===----------------------------------------------------------------------===//

#include "lib/Conversion/AICFToLinalg/Tensors.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

namespace aicf {
#define GEN_PASS_DEF_CONVERTAICFTOLINALG
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;

static SmallVector<NamedAttribute> unmarked(ArrayRef<NamedAttribute> attrs) {
  return llvm::filter_to_vector(attrs, [](NamedAttribute attr) {
    return !attr.getName().getValue().starts_with("aicf.");
  });
}

static SmallVector<DictionaryAttr> unmarkedEach(ArrayAttr each) {
  return llvm::map_to_vector(
      each.getAsRange<DictionaryAttr>(), [](DictionaryAttr attrs) {
        return DictionaryAttr::get(attrs.getContext(),
                                   unmarked(attrs.getValue()));
      });
}

static void stripMarks(func::FuncOp func) {
  func->setDiscardableAttrs(
      unmarked(llvm::to_vector(func->getDiscardableAttrs())));
  // All at once: one by one is quadratic.
  if (ArrayAttr each = func.getArgAttrsAttr())
    func.setAllArgAttrs(unmarkedEach(each));
  if (ArrayAttr each = func.getResAttrsAttr())
    func.setAllResultAttrs(unmarkedEach(each));
}

namespace {
struct ConvertAICFToLinalg
    : aicf::impl::ConvertAICFToLinalgBase<ConvertAICFToLinalg> {
  using ConvertAICFToLinalgBase::ConvertAICFToLinalgBase;

  void runOnOperation() override {
    using namespace aicf::linalg_bridge;
    RewritePatternSet patterns(&getContext());
    addAttention(patterns);
    addLookups(patterns);
    addPointwise(patterns);
    addSums(patterns);
    addLosses(patterns);
    addCounters(patterns);
    addOptimizers(patterns);
    addLoops(patterns);
    addRows(patterns);
    addViews(patterns);
    ConversionTarget target(getContext());
    target.addIllegalDialect<AICFDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (failed(aicf::checkMarks(func)) ||
          failed(aicf::checkAbsentResults(func)))
        return signalPassFailure();
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      return signalPassFailure();
    // Definitions say a subexpression as often as they use it.
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    if (stripMarks)
      for (auto func : getOperation().getOps<func::FuncOp>())
        ::stripMarks(func);
  }
};
} // namespace
