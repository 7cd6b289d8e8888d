//===- Unifier.h - is an expression a definition? ---------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_TRANSFORMS_SCALAR_UNIFIER_H
#define AICF_TRANSFORMS_SCALAR_UNIFIER_H

#include "lib/Transforms/Scalar/ScalarBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace aicf::scalars {

/// Compares an expression with a definition's.
class Unifier {
public:
  /// `takesNumbers`: a leaf may be a number, too.
  Unifier(const Definition &definition, bool takesNumbers)
      : definition(definition), takesNumbers(takesNumbers),
        numbers(definition.fields.size()) {}

  /// Whether `value` is `pattern` for some values of its leaves and fields.
  bool unify(Value pattern, Value value);
  bool run(Value value) { return unify(definition.root, value); }

  DenseMap<Value, Value> leaves;
  const Definition &definition;
  const bool takesNumbers;
  SmallVector<std::optional<double>> numbers;

private:
  bool unifyConstant(double number, Value value);
  bool inOrder(ValueRange pattern, ValueRange operands);
  bool unifyQuotient(Operation *product, arith::DivFOp quotient);
};

} // namespace aicf::scalars

#endif // AICF_TRANSFORMS_SCALAR_UNIFIER_H
