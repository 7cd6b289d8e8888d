//===- FusionPlace.h - where the call for two calls stands ------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Who reads what in between decides, and how long tensors stay in memory. That
// the two may be one call, the caller knows.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_FUSIONPLACE_H
#define AICF_LIB_TRANSFORMS_RT_FUSIONPLACE_H

#include "lib/Transforms/RT/Decision.h"
#include "lib/Transforms/RT/MergeCalls.h"
#include "lib/Ops/Costs.h"

namespace aicf::rt {

/// The calls that make what params and states of an entry become.
class Updaters {
public:
  explicit Updaters(func::FuncOp func);
  /// The call that makes what `arg` becomes, or null.
  CallOp of(BlockArgument arg) const;

private:
  Operation *terminator;
  SmallVector<int64_t> results; ///< by argument the returned operand, or -1
};

/// Returns the call in front of which the fused one may stand, `maker` or
/// `reader`. Precondition: the calls may be fused, and `maker` stands before
/// `reader`.
Decided<CallOp> placeFor(const MergedCall &merged, CallOp maker, CallOp reader,
                         const Updaters &updaters, const Costs &costs);

/// Bytes of the tensors that hold `operands` of `maker` and that nothing else
/// uses from `reader` on: fused at that place, they would live longer.
uint64_t bytesKeptAlive(ValueRange operands, CallOp maker, CallOp reader);

/// True if a call between both updates one of `operands`, which `maker` reads.
/// At the place of `reader` it would read the old value, of which a copy were
/// needed.
bool readsWhatIsUpdatedBetween(ValueRange operands, CallOp maker, CallOp reader,
                               const Updaters &updaters);

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_FUSIONPLACE_H
