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
  llvm::SmallDenseSet<Operation *> isPart;
  for (CallOp part : parts)
    isPart.insert(part);
  // Operands by first use, then results in order: the normal form.
  llvm::DenseMap<Value, int32_t> numberOf;
  for (CallOp part : parts)
    for (Value operand : part.getArgs())
      if (!isPart.contains(makerOf(operand)) &&
          numberOf.try_emplace(operand, merged.operands.size()).second)
        merged.operands.push_back(operand);
  Body body;
  body.numOperands = uint32_t(merged.operands.size());
  uint32_t next = body.numOperands;
  for (CallOp part : parts) {
    BodyStep step = part.getCode().steps.front();
    for (int32_t &operand : step.operands)
      if (operand != kAbsentValue)
        operand = numberOf.lookup(part.getArgs()[unsigned(operand)]);
    for (uint32_t i = 0; i < step.numResults(); ++i, ++next) {
      Value result = part.getYielded(part.getCode().firstResultOf(0) + i);
      if (!result)
        continue; // absent
      numberOf[result] = int32_t(next);
      merged.vids.push_back(labelOf(result));
      if (staysInside(result))
        continue;
      body.results.push_back(next);
      merged.results.push_back(result);
    }
    body.steps.push_back(std::move(step));
    merged.locations.push_back(part.getLoc());
  }
  if (llvm::is_contained(merged.vids, -1))
    merged.vids.clear();
  CallOp first = parts.front();
  merged.body = BodyAttr::get(first->getContext(), body);
  return merged;
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
  for (CallOp part : llvm::reverse(parts))
    part.erase();
  return call;
}
