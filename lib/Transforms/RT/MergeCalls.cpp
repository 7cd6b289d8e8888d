//===- MergeCalls.cpp - several calls as one ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/MergeCalls.h"
#include "lib/Transforms/RT/CallUses.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

MergedCall aicf::rt::mergeCalls(ArrayRef<CallOp> parts,
                                llvm::function_ref<bool(Value)> staysInside) {
  MergedCall merged;
  llvm::SmallDenseSet<Operation *> isBefore;
  // The normal form: operands by first use, then results in order. In a body of
  // one primitive each slot has an operand of its own.
  bool isAlone = parts.size() == 1;
  llvm::DenseMap<Value, int32_t> numberOf;
  for (CallOp part : parts) {
    assert(part.getCode().primitives.size() == 1 &&
           "a part of several primitives");
    for (Value operand : part.getArgs())
      if (isAlone ||
          (!isBefore.contains(callOf(operand)) &&
           numberOf.try_emplace(operand, merged.operands.size()).second))
        merged.operands.push_back(operand);
    isBefore.insert(part);
  }
  Body body;
  body.numOperands = uint32_t(merged.operands.size());
  uint32_t next = body.numOperands;
  for (CallOp part : parts) {
    Primitive primitive = part.getCode().primitives.front();
    for (int32_t &operand : primitive.operands)
      if (operand != kAbsentValue && !isAlone)
        operand = numberOf.lookup(part.getArgs()[unsigned(operand)]);
    for (uint32_t i = 0; i < primitive.numResults(); ++i, ++next) {
      Value result = part.getFirstStepResult(i);
      if (!result)
        continue; // absent
      numberOf[result] = int32_t(next);
      merged.vids.push_back(labelOf(result));
      if (staysInside(result))
        continue;
      body.results.push_back(next);
      merged.results.push_back(result);
    }
    body.primitives.push_back(std::move(primitive));
    merged.locations.push_back(part.getLoc());
  }
  if (llvm::is_contained(merged.vids, -1))
    merged.vids.clear();
  CallOp first = parts.front();
  merged.body = BodyAttr::get(first->getContext(), body);
  return merged;
}

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

/// Views of operands stand before the call, views of its results behind it.
static void moveViews(CallOp call) {
  for (Value operand : call.getArgs())
    if (ViewOp view = viewOf(operand); view && !view->isBeforeInBlock(call))
      view->moveBefore(call);
  for (Value result : call.getResults())
    forEachView(result, [&](ViewOp view) { view->moveAfter(call); });
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
  moveViews(call);
  for (CallOp part : llvm::reverse(parts))
    part.erase();
  return call;
}
