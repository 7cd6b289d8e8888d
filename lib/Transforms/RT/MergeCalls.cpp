//===- MergeCalls.cpp - several calls as one ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/MergeCalls.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Ops/Graphs.h"
#include "lib/Transforms/RT/CallUses.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {
/// Makes one body of several: gives every value a number of its own.
class Merger {
public:
  Merger(ArrayRef<CallOp> parts, llvm::function_ref<bool(Value)> staysInside)
      : parts(parts), staysInside(staysInside) {}

  MergedCall run() {
    addOperands();
    body.numOperands = next = uint32_t(merged.operands.size());
    for (CallOp part : parts)
      addPart(part);
    if (llvm::is_contained(merged.vids, -1))
      merged.vids.clear();
    CallOp first = parts.front();
    merged.body = BodyAttr::get(first->getContext(), body);
    return std::move(merged);
  }

private:
  /// In a body of one primitive each slot has an operand of its own.
  bool isAlone() const {
    CallOp first = parts.front();
    return parts.size() == 1 && first.getCode().primitives.size() == 1;
  }

  void addOperands() {
    llvm::SmallDenseSet<Operation *> isBefore;
    for (CallOp part : parts) {
      for (Value operand : part.getArgs())
        if (isAlone() ||
            (!isBefore.contains(callOf(operand)) &&
             numberOf.try_emplace(operand, merged.operands.size()).second))
          merged.operands.push_back(operand);
      isBefore.insert(part);
    }
  }

  void addPart(CallOp part) {
    const Body &code = part.getCode();
    // By the numbers of the part's body.
    SmallVector<int32_t> newNumber;
    for (auto [i, operand] : llvm::enumerate(part.getArgs()))
      newNumber.push_back(isAlone() ? int32_t(i) : numberOf.lookup(operand));
    std::vector<uint32_t> made = valuesMade(code);
    for (Primitive primitive : code.primitives) {
      for (int32_t &operand : primitive.operands)
        if (operand != kAbsentValue)
          operand = newNumber[size_t(operand)];
      for (uint32_t r = 0; r < primitive.numResults(); ++r, ++next) {
        if (Value result = part.getYielded(uint32_t(newNumber.size())))
          addResult(result);
        newNumber.push_back(int32_t(next));
      }
      body.primitives.push_back(std::move(primitive));
    }
    ArrayRef<int64_t> vids = part.getVids();
    if (vids.empty())
      merged.vids.append(made.size(), -1);
    else
      llvm::append_range(merged.vids, vids);
    merged.locations.push_back(part.getLoc());
  }

  void addResult(Value result) {
    numberOf[result] = int32_t(next);
    if (staysInside(result))
      return;
    body.results.push_back(next);
    merged.results.push_back(result);
  }

  ArrayRef<CallOp> parts;
  llvm::function_ref<bool(Value)> staysInside;
  MergedCall merged;
  Body body;
  uint32_t next = 0;
  llvm::DenseMap<Value, int32_t> numberOf;
};
} // namespace

MergedCall aicf::rt::mergeCalls(ArrayRef<CallOp> parts,
                                llvm::function_ref<bool(Value)> staysInside) {
  return Merger(parts, staysInside).run();
}

MergedCall aicf::rt::inGraphOrder(const MergedCall &call) {
  GraphForm graph = aicf::inGraphOrder(call.body.getBody());
  MergedCall ordered = call;
  ordered.body = BodyAttr::get(call.body.getContext(), graph.body);
  ordered.operands.clear();
  for (uint32_t operand : graph.operands)
    ordered.operands.push_back(call.operands[operand]);
  if (call.vids.empty())
    return ordered;
  ordered.vids.clear();
  for (size_t primitive : graph.primitives)
    ordered.vids.push_back(call.vids[primitive]);
  return ordered;
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
