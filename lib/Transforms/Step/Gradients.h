//===- Gradients.h - what an optimizer is appended to -----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The gradients that --aicf-autodiff has returned, and the entry that adds
// those of several batches up. Builds no updates of parameters.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_STEP_GRADIENTS_H
#define AICF_LIB_TRANSFORMS_STEP_GRADIENTS_H

#include "lib/Transforms/Step/EntryBuilder.h"

namespace aicf {
using namespace mlir;

struct Gradient {
  unsigned result; ///< that returned it
  BlockArgument param;
  StringRef name; ///< of the parameter
  Value value;
};

/// An error at the entry if there is none, or if one belongs to no parameter.
FailureOr<SmallVector<Gradient>> findGradients(func::FuncOp func);
/// The numbers of `aicf.optimizer` and of a parameter's marks are finite in the
/// type that the parameter's step computes in: f32, or f64 for f64.
LogicalResult checkNumbers(func::FuncOp func, ArrayRef<Gradient> gradients);
/// The results marked as gradients are updates from here on. `entry` has no new
/// results yet.
void dropGradients(func::FuncOp func, EntryBuilder &entry);
/// Writes an entry whose optimizer's marks have been answered, without them.
void finishTrained(func::FuncOp func, EntryBuilder &entry);

/// `value` cast to `element`; null stays null.
Value castTo(OpBuilder &b, Value value, Type element);
/// The gradients as an op on all of them needs them.
SmallVector<Value> inOneType(OpBuilder &b, ArrayRef<Gradient> gradients);

/// The state in which a parameter's gradients are added up over batches.
std::string sumName(const Gradient &gradient);
/// That state plus the gradient of this batch, as the parameter is stored.
Value addToSum(OpBuilder &b, Value sum, Value grad);
/// What multiplies a gradient: 1/loss scale, where there is one, and 1/batches; 0-d,
/// of the type of `like` unless the scale has one; null for 1.
Value meanFactor(OpBuilder &b, Location loc, Value inverseScale,
                 int64_t batches, Value like);
/// @F.accumulate behind @F, for all but the last of the batches that share
/// an update: `func` as it stands, with new sums for gradients. @F says how
/// many they are. An error at the entry if there is one already.
LogicalResult addAccumulatingEntry(func::FuncOp func,
                                   ArrayRef<Gradient> gradients);

} // namespace aicf

#endif // AICF_LIB_TRANSFORMS_STEP_GRADIENTS_H
