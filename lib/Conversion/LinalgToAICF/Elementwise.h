//===- Elementwise.h - bodies of linalg.generic as aicf ops -----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_CONVERSION_LINALGTOAICF_ELEMENTWISE_H
#define AICF_CONVERSION_LINALGTOAICF_ELEMENTWISE_H

#include "lib/Transforms/Scalar/ScalarBody.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace aicf::linalg_bridge {
using namespace mlir;

/// The number that a scalar or every element of a tensor is, if that is known.
std::optional<double> constantOf(Value value);
/// `x` repeated along the loops of `shape` that are not among `loops`, which
/// rise.
Value expanded(OpBuilder &builder, Location loc, Value x,
               ArrayRef<int64_t> loops, ArrayRef<int64_t> shape);
/// a + b; a bias behind a product becomes linear's.
Value sumOf(OpBuilder &builder, Location loc, Value a, Value b);

/// Says the scalars of one op's body as tensors of the op's loops.
class BodyTranslator : public scalars::ScalarBody {
public:
  /// `shape`: extents of the loops.
  BodyTranslator(OpBuilder &builder, linalg::GenericOp op,
                 ArrayRef<int64_t> shape, bool usesGradients)
      : ScalarBody(builder, *op.getBody(), shape, usesGradients), op(op) {}

private:
  /// An input, or an init that the body reads; no number that repeats.
  bool reads(BlockArgument argument) override;
  Value operand(BlockArgument argument) override;
  Value sum(Location loc, Value a, Value b) override;

  linalg::GenericOp op;
};

} // namespace aicf::linalg_bridge

#endif // AICF_CONVERSION_LINALGTOAICF_ELEMENTWISE_H
