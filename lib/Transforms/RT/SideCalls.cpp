//===- SideCalls.cpp - calls beside forward and backward -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/SideCalls.h"
#include "lib/Ops/Graphs.h"
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

/// True for a call of elementwise primitives: a sum of gradients, or one that
/// is scaled.
static bool isElementwise(CallOp call) {
  return llvm::all_of(
      call.getCode().primitives,
      [](const Primitive &primitive) { return mayBeInGraph(primitive.kind); });
}

namespace {
/// What reads a value, as it is or by way of elementwise calls.
struct Readers {
  bool hasUpdates = false, hasOthers = false;

  void operator|=(Readers more) {
    hasUpdates |= more.hasUpdates;
    hasOthers |= more.hasOthers;
  }
};
} // namespace

/// The readers of `value`; `behind` has those of the results of later calls.
static Readers readersOf(Value value,
                         const llvm::DenseMap<Operation *, Readers> &behind) {
  Readers readers;
  anyRead(value, [&](CallOp reader, unsigned) {
    if (isUpdate(reader) || phaseOf(reader) == Phase::Guard)
      readers.hasUpdates = true;
    else if (!isElementwise(reader))
      readers.hasOthers = true;
    else
      readers |= behind.lookup(reader);
    return readers.hasOthers;
  });
  return readers;
}

SideCalls::SideCalls(ArrayRef<CallOp> calls) {
  llvm::DenseMap<Operation *, Readers> behind;
  for (CallOp call : llvm::reverse(calls)) {
    Readers readers;
    bool hasReturned = false;
    for (Value result : call.getResults()) {
      readers |= readersOf(result, behind);
      if (JoinOp join = joinOf(result)) // the result is a part of what is read
        readers |= readersOf(join.getResult(), behind);
      hasReturned |= isReturned(result);
    }
    if (isUpdate(call) || (readers.hasUpdates && !readers.hasOthers)) {
      sides.insert(call);
      bases.insert_range(llvm::map_range(call.getArgs(), baseOf));
    }
    readers.hasOthers |= hasReturned; // somebody else's, too
    behind[call] = readers;
  }
}
