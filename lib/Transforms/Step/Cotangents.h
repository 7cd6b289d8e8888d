//===- Cotangents.h - cotangents of values, added up ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What --aicf-autodiff and --aicf-expand-gradients share: the sweep backward over
// ops, in which each value's cotangents are added up.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_STEP_COTANGENTS_H
#define AICF_LIB_TRANSFORMS_STEP_COTANGENTS_H

#include "aicf/Dialect/AICF/GradientBuilder.h"
#include "lib/Transforms/Passes.h"

namespace aicf {
using namespace mlir;

class Cotangents : public step::GradientBuilder {
public:
  OpBuilder &builder() override { return backward; }
  bool isUsed(Value result) const override {
    return cotangents.contains(result);
  }
  Value cotangent(Value result) override;
  Value factor(Value result) override { return cotangents.lookup(result); }
  void add(Value operand, Value cotangent) override;
  void passOn(Value result, Value operand) override;

protected:
  explicit Cotangents(OpBuilder backward) : backward(backward) {}

  bool isAnyUsed(Operation *op) const {
    return llvm::any_of(op->getResults(), [&](Value v) { return isUsed(v); });
  }
  /// Adds the cotangents of the op's operands. `advice` ends the error at an op
  /// that has no derivative.
  LogicalResult
  differentiate(Operation *op,
                llvm::function_ref<std::string(Operation *)> advice);

  OpBuilder backward;
  std::optional<Location> askedAt; ///< the gradient, for errors, if an op asks for it
  /// Null: one. Values without an entry have the cotangent zero.
  llvm::DenseMap<Value, Value> cotangents;

private:
  LogicalResult reportMissing(Operation *op, const Twine &why) const;

  /// True after an op broke the contract of the interface.
  bool hasWrongType = false;
};

} // namespace aicf

#endif // AICF_LIB_TRANSFORMS_STEP_COTANGENTS_H
