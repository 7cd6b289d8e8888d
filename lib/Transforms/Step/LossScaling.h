//===- LossScaling.h - where a loss scale reaches ---------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What f16 training needs to know of an entry: which values a loss scale
// multiplies, and how an op is skipped with its step. Inserting the scale is
// aicf-mixed-precision's.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_STEP_LOSSSCALING_H
#define AICF_LIB_TRANSFORMS_STEP_LOSSSCALING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace aicf {
using namespace mlir;

/// Whether every gradient of `func` is either scaled everywhere or nowhere: an
/// error at the first op of `head` (forward and backward) or `tail`
/// (optimizers), or result, where it is not. Where a scale begins and what
/// carries it on, the ops say themselves.
LogicalResult checkLossScaling(func::FuncOp func, ArrayRef<Operation *> head,
                               ArrayRef<Operation *> tail);

/// Gives `clone`, an optimizer or step counter, the operands by which it
/// unscales its gradient and is skipped when `ok` is 0. An error at `op`, the
/// original, if their places are taken.
LogicalResult skipWithStep(Operation *op, Operation *clone, Value ok,
                           Value invScale);

} // namespace aicf

#endif // AICF_LIB_TRANSFORMS_STEP_LOSSSCALING_H
