//===- GradientBuilder.h - what a derivative is built with ------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The other side of DifferentiableOpInterface. --aicf-autodiff implements it:
// it adds up cotangents and places saves.
//===----------------------------------------------------------------------===//
#ifndef AICF_DIALECT_AICF_GRADIENTBUILDER_H
#define AICF_DIALECT_AICF_GRADIENTBUILDER_H

#include "mlir/IR/Builders.h"

namespace aicf::step {

/// Reverse-mode differentiation of one op (Griewank & Walther, "Evaluating
/// Derivatives", 2008, chapter 3). The cotangent of a value is the derivative
/// of the loss with respect to it: a tensor of the value's type, or zero, which
/// no op ever computes. Values are those of the forward function.
class GradientBuilder {
public:
  virtual ~GradientBuilder() = default;

  /// Where backward ops are added.
  virtual mlir::OpBuilder &builder() = 0;

  /// Whether the loss depends on `result`: else its cotangent is zero.
  virtual bool isUsed(mlir::Value result) const = 0;
  /// The cotangent of `result`, null for zero.
  virtual mlir::Value cotangent(mlir::Value result) = 0;
  /// The same for a loss, whose gradient takes a factor that may be absent:
  /// null where the cotangent is one, as that of the minimised value itself is.
  virtual mlir::Value factor(mlir::Value result) = 0;

  /// Whether a trained parameter depends on the cotangent of `operand`.
  virtual bool isNeeded(mlir::Value operand) const = 0;
  /// Adds `cotangent`, of the type of `operand`, to that of `operand`. A null
  /// one is zero, and one that nobody needs is dropped.
  virtual void add(mlir::Value operand, mlir::Value cotangent) = 0;
  /// Adds the cotangent of `result`, which is used, to that of `operand`, of the
  /// same type.
  virtual void passOn(mlir::Value result, mlir::Value operand) = 0;

  /// `value` as the backward pass may read it: an argument of the entry itself,
  /// the result of an `aicf.save`, or a view of one of these.
  virtual mlir::Value saved(mlir::Value value) = 0;
};

/// The gradient op `Bwd` of `op`, whose fields are those of `op`; its result has
/// the type of the first operand, dy.
template <typename Bwd, typename Op>
mlir::Value backwardOf(mlir::OpBuilder &b, Op op, mlir::ValueRange operands) {
  mlir::NamedAttrList fields;
  for (llvm::StringRef name : Op::getAttributeNames())
    if (std::optional<mlir::Attribute> field = op->getInherentAttr(name))
      fields.append(name, *field);
  return Bwd::create(b, op.getLoc(), mlir::TypeRange(operands[0].getType()),
                     operands, fields.getAttrs())
      ->getResult(0);
}

} // namespace aicf::step

#endif // AICF_DIALECT_AICF_GRADIENTBUILDER_H
