//===- SideCalls.cpp - calls beside forward and backward -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/SideCalls.h"
#include "lib/Transforms/RT/CallUses.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

/// The phase of a call is that of its first primitive: what was merged with it
/// serves it.
static Phase phaseOf(CallOp call) {
  return infoOf(call.getCode().primitives.front().kind).phase;
}

bool aicf::rt::isUpdate(CallOp call) { return isUpdateHalf(phaseOf(call)); }

bool aicf::rt::isSideCall(CallOp call) {
  if (isUpdate(call))
    return true;
  bool feedsUpdate = false, feedsOther = false;
  auto look = [&](Value value) {
    feedsOther |= anyRead(value, [&](CallOp reader, unsigned) {
      bool updates = isUpdate(reader) || phaseOf(reader) == Phase::Guard;
      feedsUpdate |= updates;
      return !updates;
    });
  };
  for (Value result : call.getResults()) {
    look(result);
    if (JoinOp join = joinOf(result)) // a part of what is read
      look(join.getResult());
  }
  return feedsUpdate && !feedsOther;
}
