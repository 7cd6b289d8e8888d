//===- Elementwise.h - bodies of linalg.generic as aicf ops -----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_CONVERSION_LINALGTOAICF_ELEMENTWISE_H
#define AICF_CONVERSION_LINALGTOAICF_ELEMENTWISE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include "llvm/ADT/MapVector.h"

#include <functional>
#include <memory>
#include <optional>

namespace aicf::linalg_bridge {
using namespace mlir;

/// An expression over scalars and the aicf op that computes it element by
/// element.
struct Definition {
  Value root;                ///< its leaves are arguments of its block
  SmallVector<Value> leaves; ///< in the order of the op's operands
  unsigned size;             ///< ops of the expression
  std::function<Value(OpBuilder &, Location, ValueRange)> build;
};

/// The definitions of pointwise records, and other ways to write them, in one
/// element type. Large ones first: sigmoid before the division in it.
class Definitions {
public:
  explicit Definitions(FloatType element);
  ArrayRef<Definition> get() const { return all; }

private:
  struct Writer;
  std::unique_ptr<Block> scratch;
  SmallVector<Definition> all;
};

/// The number that a scalar or every element of a tensor is, if that is known.
std::optional<double> constantOf(Value value);
/// `x` repeated along the loops of `shape` that are not among `loops`, which
/// rise.
Value expanded(OpBuilder &builder, Location loc, Value x,
               ArrayRef<int64_t> loops, ArrayRef<int64_t> shape);
/// a + b; a bias behind a product becomes linear's.
Value sumOf(OpBuilder &builder, Location loc, Value a, Value b);

/// Says the scalars of one op's body as tensors of the op's loops.
class BodyTranslator {
public:
  /// `shape`: extents of the loops.
  BodyTranslator(OpBuilder &builder, linalg::GenericOp op,
                 ArrayRef<int64_t> shape)
      : builder(builder), op(op), shape(shape) {}

  /// Null where aicf has no word for it; `reason` says for what.
  Value translate(Value scalar);
  /// A constant in the shape of the loops, or null.
  Value filled(double number, Type element);
  std::string reason;

private:
  Value compute(Value scalar);
  Value operand(BlockArgument argument);
  Value byDefinition(Value scalar);
  Value byHand(Operation *producer);
  Value fail(const Twine &why) {
    if (reason.empty())
      reason = why.str();
    return {};
  }

  OpBuilder &builder;
  linalg::GenericOp op;
  SmallVector<int64_t> shape;
  llvm::MapVector<Value, Value> known; ///< in order: IR depends on it
  DenseMap<Type, std::unique_ptr<Definitions>> definitions;
};

} // namespace aicf::linalg_bridge

#endif // AICF_CONVERSION_LINALGTOAICF_ELEMENTWISE_H
