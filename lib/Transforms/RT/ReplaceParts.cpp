//===- ReplaceParts.cpp - one call in the place of several ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/MergeCalls.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

bool aicf::rt::mayStandAt(const MergedCall &merged, ArrayRef<CallOp> parts,
                          Operation *at) {
  llvm::SmallDenseSet<Operation *> isPart;
  for (CallOp part : parts)
    isPart.insert(part);
  for (Value operand : merged.operands)
    if (Operation *maker = producerOf(baseOf(operand)))
      if (isPart.contains(maker) || !maker->isBeforeInBlock(at))
        return false;
  for (Value result : merged.results) {
    JoinOp join = joinOf(result);
    if ((join && join->isBeforeInBlock(at)) ||
        anyRead(result, [&](CallOp reader, unsigned) {
          return !isPart.contains(reader) && reader->isBeforeInBlock(at);
        }))
      return false;
  }
  return true;
}

/// Has `view` made where `builder` is. To move an op makes the order of all of
/// its block unknown, and to find it again takes as long as the block is; a new
/// op does not.
static void makeAt(OpBuilder &builder, ViewOp view) {
  view.replaceAllUsesWith(cast<ViewOp>(builder.clone(*view)).getView());
  view.erase();
}

/// Views of operands stand before the call, which is new and stands at `at`,
/// and views of its results behind it.
static void moveViews(CallOp call, Operation *at) {
  OpBuilder builder(call);
  for (OpOperand &operand : call->getOpOperands())
    if (ViewOp view = viewOf(operand.get()); view && !view->isBeforeInBlock(at))
      makeAt(builder, view);
  for (Value result : call.getResults())
    forEachView(result, [&](ViewOp view) {
      builder.setInsertionPointAfter(call);
      if (view->isBeforeInBlock(at))
        makeAt(builder, view);
    });
}

CallOp aicf::rt::replaceParts(const MergedCall &merged, ArrayRef<CallOp> parts,
                              Operation *at) {
  OpBuilder builder(at);
  auto call =
      CallOp::create(builder, builder.getFusedLoc(merged.locations),
                     ValueRange(merged.results).getTypes(), merged.operands,
                     merged.body.getBody(), merged.vids);
  for (auto [before, after] :
       llvm::zip_equal(SmallVector<Value>(merged.results), call.getResults()))
    before.replaceAllUsesWith(after);
  moveViews(call, at);
  auto eraseViews = [](Value value) {
    forEachView(value, [](ViewOp view) {
      if (view.use_empty())
        view.erase();
    });
  };
  for (CallOp part : llvm::reverse(parts)) {
    llvm::for_each(part.getResults(), eraseViews);
    part.erase();
  }
  llvm::for_each(call.getResults(), eraseViews);
  return call;
}
