//===- SideCalls.cpp - calls beside forward and backward -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/SideCalls.h"
#include "lib/Ops/Graphs.h"
#include "lib/Transforms/RT/CallUses.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

/// The phase of a call is that of its first primitive: what was merged with it
/// serves it.
static Phase phaseOf(CallOp call) {
  return infoOf(call.getCode().primitives.front().kind).phase;
}

bool aicf::rt::isUpdate(CallOp call) { return isUpdateHalf(phaseOf(call)); }

/// True for a call of elementwise primitives: a sum of gradients, or one that
/// is scaled.
static bool isElementwise(CallOp call) {
  return llvm::all_of(
      call.getCode().primitives,
      [](const Primitive &primitive) { return mayBeInGraph(primitive.kind); });
}

bool aicf::rt::isSideCall(CallOp call) {
  if (isUpdate(call))
    return true;
  bool feedsUpdate = false;
  // The call, and elementwise ones on the way from it to updates.
  llvm::SmallSetVector<CallOp, 8> onTheWay;
  onTheWay.insert(call);
  auto feedsOther = [&](Value value) {
    return anyRead(value, [&](CallOp reader, unsigned) {
      if (isUpdate(reader) || phaseOf(reader) == Phase::Guard)
        feedsUpdate = true;
      else if (isElementwise(reader))
        onTheWay.insert(reader);
      else
        return true;
      return false;
    });
  };
  for (size_t i = 0; i < onTheWay.size(); ++i)
    for (Value result : CallOp(onTheWay[i]).getResults()) {
      if (i > 0 && isReturned(result)) // somebody else's, too
        return false;
      JoinOp join = joinOf(result); // the result is a part of what is read
      if (feedsOther(result) || (join && feedsOther(join.getResult())))
        return false;
    }
  return feedsUpdate;
}
