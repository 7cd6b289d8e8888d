//===- ScalarBody.h - bodies of scalar ops as aicf ops ----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What scalar ops of arith and math compute for each element, as aicf ops on whole
// tensors. aicf.map and linalg.generic have such bodies.
//===----------------------------------------------------------------------===//
#ifndef AICF_TRANSFORMS_SCALAR_SCALARBODY_H
#define AICF_TRANSFORMS_SCALAR_SCALARBODY_H

#include "mlir/IR/Builders.h"

#include "llvm/ADT/MapVector.h"

#include <functional>
#include <memory>
#include <optional>

namespace aicf::scalars {
using namespace mlir;

/// An expression over scalars and the aicf op that computes it element by
/// element.
struct Definition {
  Value root;                ///< its leaves are arguments of its block
  SmallVector<Value> leaves; ///< in the order of the op's operands
  /// Constants of the expression that stand for any number, which is a field.
  SmallVector<double> fields;
  unsigned size; ///< ops of the expression
  /// Null where the op does not take those numbers.
  std::function<Value(OpBuilder &, Location, ValueRange, ArrayRef<double>)>
      build;
};

/// The definitions of pointwise records whose results are of one element type,
/// and other ways to write them. Large ones first: sigmoid before the division
/// in it.
class Definitions {
public:
  explicit Definitions(Type result);
  ArrayRef<Definition> get() const { return all; }

private:
  struct Writer;
  std::unique_ptr<Block> scratch;
  SmallVector<Definition> all;
};

/// What a pointwise op, a cast or a constant computes of its operands' elements,
/// as ops of arith and math; null for another op.
Value define(OpBuilder &builder, Operation *op, ValueRange elements);

/// The number that a scalar is, or every element of a splat, if that is known.
std::optional<double> numberOf(Value value);

/// Says the scalars of one body as tensors.
class ScalarBody {
public:
  ScalarBody(OpBuilder &builder, Block &body, ArrayRef<int64_t> shape)
      : builder(builder), body(body), shape(shape) {}
  virtual ~ScalarBody() = default;

  /// Null where aicf has no word for it; `reason` says for what, `culprit` is the
  /// op, or null.
  Value translate(Value scalar);
  /// A number in the shape of the tensors.
  Value filled(double number, Type element, Location loc);

  std::string reason;
  Operation *culprit = nullptr;

protected:
  /// Whether an argument has a tensor that the body may read.
  virtual bool reads(BlockArgument) { return true; }
  /// The tensor whose elements an argument is, or null after fail().
  virtual Value operand(BlockArgument argument) = 0;
  virtual Value sum(Location loc, Value a, Value b);
  Value fail(const Twine &why, Operation *op = nullptr) {
    if (reason.empty()) {
      reason = why.str();
      culprit = op;
    }
    return {};
  }

  OpBuilder &builder;
  Block &body;
  SmallVector<int64_t> shape;

private:
  Value compute(Value scalar);
  Value byDefinition(Value scalar, bool takesNumbers = false);
  Value byHand(Operation *producer);
  Value converted(Operation *producer);
  Value withNumber(Operation *producer);

  llvm::MapVector<Value, Value> made; ///< in order: IR depends on it
  DenseMap<Type, std::unique_ptr<Definitions>> definitions;
};

} // namespace aicf::scalars

#endif // AICF_TRANSFORMS_SCALAR_SCALARBODY_H
