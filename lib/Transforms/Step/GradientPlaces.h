//===- GradientPlaces.h - gradients that an entry reads ---------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// An argument with 'aicf.gradient_of' stands for a gradient in the entry itself:
// in an update that is written there, or in a result.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_STEP_GRADIENTPLACES_H
#define AICF_LIB_TRANSFORMS_STEP_GRADIENTPLACES_H

#include "lib/Transforms/Step/EntryBuilder.h"

namespace aicf {
using namespace mlir;

/// Puts gradients in the place of the arguments that stand for them, and removes
/// these. What reads one stands in front of the backward pass, and goes behind it.
void fillGradientPlaces(func::FuncOp func, EntryBuilder &entry,
                        ArrayRef<std::pair<BlockArgument, Value>> places);

/// An error if an entry without a loss asks for a gradient.
LogicalResult checkNoGradientPlace(func::FuncOp func);

} // namespace aicf

#endif // AICF_LIB_TRANSFORMS_STEP_GRADIENTPLACES_H
