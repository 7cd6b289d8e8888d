//===- Cotangents.cpp - cotangents of values, added up ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/Cotangents.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

Value Cotangents::cotangent(Value result) {
  auto it = cotangents.find(result);
  if (it == cotangents.end())
    return {};
  if (!it->second) // one is computed only for ops that cannot do without
    it->second = FillLikeOp::create(backward, result.getLoc(), result,
                                    llvm::APFloat(1.0));
  return it->second;
}

void Cotangents::add(Value operand, Value cotangent) {
  if (!cotangent || !isNeeded(operand))
    return;
  hasWrongType |= cotangent.getType() != operand.getType();
  auto [it, fresh] = cotangents.try_emplace(operand, cotangent);
  if (fresh || hasWrongType)
    return;
  Value sum = AddOp::create(backward, cotangent.getLoc(),
                            this->cotangent(operand), cotangent);
  cotangents[operand] = sum;
}

void Cotangents::passOn(Value result, Value operand) {
  assert(isUsed(result) && "its cotangent is zero");
  if (!isNeeded(operand))
    return;
  if (cotangents.lookup(result) || cotangents.contains(operand))
    return add(operand, cotangent(result));
  cotangents[operand] = Value(); // one, as the result's
}

LogicalResult Cotangents::reportMissing(Operation *op, const Twine &why) const {
  InFlightDiagnostic error = op->emitOpError() << "has no derivative: " << why;
  if (askedAt)
    error.attachNote(*askedAt) << "the gradient is taken here";
  return error;
}

LogicalResult Cotangents::differentiate(
    Operation *op, llvm::function_ref<std::string(Operation *)> advice) {
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  auto step = dyn_cast<StepOpInterface>(op);
  if (!differentiable && step && step.getPhase() == Phase::Backward)
    return reportMissing(op, "it computes one itself, which a gradient goes "
                             "through, and a second one is not known");
  if (!differentiable)
    return reportMissing(op, advice(op));
  if (failed(differentiable.buildGradients(*this)))
    return failure();
  if (hasWrongType)
    return op->emitOpError()
           << "gave an operand a cotangent of another type than its own";
  return success();
}
