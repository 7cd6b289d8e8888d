//===- Contraction.h - sums of products as products of matrices -*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_CONVERSION_LINALGTOAICF_CONTRACTION_H
#define AICF_CONVERSION_LINALGTOAICF_CONTRACTION_H

#include "mlir/IR/Builders.h"

namespace aicf::linalg_bridge {
using namespace mlir;

/// A tensor, and the loop that each of its dimensions follows.
struct Factor {
  Value tensor;
  SmallVector<int64_t> loops;
};

/// The sum of a·b over the loops that are not in `out`, as a tensor of those in
/// `out`: one product of matrices, or of batches of them, between views.
/// `extents` has each loop's. Factors of 16 bits are cast to `element`, which
/// is summed in: their products are exact in f32. Null where a loop that is
/// summed is not one of both factors, or there is no loop of rows (in `a` and
/// `out` alone) or of columns.
Value contract(OpBuilder &builder, Location loc, Factor a, Factor b,
               ArrayRef<int64_t> out, ArrayRef<int64_t> extents, Type element);

} // namespace aicf::linalg_bridge

#endif // AICF_CONVERSION_LINALGTOAICF_CONTRACTION_H
