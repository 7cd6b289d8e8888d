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

#include "lib/Dialect/Record.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/MapVector.h"

#include <functional>
#include <memory>
#include <optional>

namespace aicf::scalars {
using namespace mlir;

/// A pointwise op of these attributes, or null where its rules refuse them.
template <typename Op>
Value makeIfLegal(OpBuilder &b, Location loc, ValueRange tensors,
                  ArrayRef<NamedAttribute> attrs) {
  auto op = Op::create(b, loc, TypeRange(tensors[0].getType()), tensors, attrs);
  SmallVector<Type> types; // without a location it gives no diagnostic
  bool isTyped = succeeded(Op::inferReturnTypes(
      b.getContext(), std::nullopt, tensors, op->getDiscardableAttrDictionary(),
      op->getPropertiesStorage(), {}, types));
  if (isTyped) {
    op->getResult(0).setType(types.front());
    if (!checkByRecord(
            Op::getKind(), describeSlots(llvm::to_vector(tensors)),
            describeSlots({op->getResult(0)}), [&](StringRef name) {
              return op->getInherentAttr(name).value_or(Attribute());
            }))
      return op->getResult(0);
  }
  op->erase();
  return {};
}

/// An expression over scalars and the aicf op that computes it element by
/// element.
struct Definition {
  Value root;                ///< its leaves are arguments of its block
  SmallVector<Value> leaves; ///< in the order of the op's operands
  /// Constants of the expression that stand for any number, which is a field.
  SmallVector<double> fields;
  unsigned size; ///< ops of the expression
  bool isSum;    ///< of two operands
  /// Null where the op does not take those numbers.
  std::function<Value(OpBuilder &, Location, ValueRange, ArrayRef<double>)>
      build;
};

/// The definitions of pointwise records whose operands are of one element type,
/// but for conditions, and other ways to write them. Large ones first: sigmoid
/// before the division in it. With `ofGradients` those of backward records, too,
/// which have no derivative.
class Definitions {
public:
  Definitions(Type element, bool ofGradients);
  ArrayRef<Definition> get() const { return all; }

private:
  struct Writer;
  std::unique_ptr<Block> scratch;
  SmallVector<Definition> all;
};

/// True if `op` is of a record with a scalar definition: of the elements at one
/// place of its operands it makes the element there.
bool isPointwise(Operation *op);
/// What a pointwise op, a cast or a constant computes of its operands' elements,
/// as ops of arith and math; null for another op.
Value define(OpBuilder &builder, Operation *op, ValueRange elements);

/// The number that a scalar is, or every element of a splat, if that is known.
std::optional<double> numberOf(Value value);

/// Says the scalars of one body as tensors.
class ScalarBody {
public:
  /// `usesGradients`: ops of a backward pass may be among what is made. They have
  /// no derivative.
  ScalarBody(OpBuilder &builder, Block &body, ArrayRef<int64_t> shape,
             bool usesGradients)
      : builder(builder), body(body), shape(shape),
        usesGradients(usesGradients) {}
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
  const bool usesGradients;

private:
  Value compute(Value scalar);
  Value byDefinition(Value scalar, bool takesNumbers = false);
  Value byHand(Operation *producer);
  Value converted(Operation *producer);
  Value withNumber(Operation *producer);

  llvm::MapVector<Value, Value> made; ///< in order: IR depends on it
  unsigned depth = 0;                 ///< of translate() in itself
  DenseMap<Type, std::unique_ptr<Definitions>> definitions;
};

} // namespace aicf::scalars

#endif // AICF_TRANSFORMS_SCALAR_SCALARBODY_H
