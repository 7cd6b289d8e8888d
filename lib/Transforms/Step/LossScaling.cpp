//===- LossScaling.cpp - where a loss scale reaches -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Step/LossScaling.h"
#include "lib/Dialect/Entry.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

/// A counter of batches goes on when a step is skipped.
static bool countsBatches(Value step) {
  return llvm::any_of(step.getUsers(), [](Operation *user) {
    auto op = dyn_cast<StepOpInterface>(user);
    return op && op.getPhase() == Phase::Data;
  });
}

/// A gradient begins here: the place of its scale is free, and what it is
/// computed from is f32.
static LogicalResult checkSeed(StepOpInterface op) {
  bool isTaken = !op.getOptionalOperand("loss_scale").empty();
  bool isWide = llvm::all_of(op->getOperandTypes(), [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isF32() || !isa<FloatType>(element);
  });
  if (!isTaken && isWide)
    return success();
  return op->emitOpError()
         << "has a loss_scale operand or an operand of another type than f32: "
            "the loss scale of --aicf-mixed-precision needs the one free and "
            "the others f32";
}

LogicalResult aicf::checkLossScaling(func::FuncOp func,
                                     ArrayRef<Operation *> head,
                                     ArrayRef<Operation *> tail) {
  llvm::DenseSet<Value> scaled;
  for (Operation *op : head) {
    auto step = dyn_cast<StepOpInterface>(op);
    Scaling scaling = step ? step.getScaling() : Scaling::None;
    if (scaling == Scaling::Seed) {
      if (failed(checkSeed(step)))
        return failure();
      scaled.insert_range(op->getResults());
      continue;
    }
    auto carries = [&](Value v) { return scaled.contains(v); };
    if (scaling == Scaling::None || llvm::none_of(op->getOperands(), carries))
      continue;
    if (scaling == Scaling::Sum && !llvm::all_of(op->getOperands(), carries))
      return op->emitOpError() << "adds a gradient that the loss scale of "
                                  "--aicf-mixed-precision multiplies, and a "
                                  "value that it does not";
    if (scaling == Scaling::Product &&
        llvm::count_if(op->getOperands(), carries) > 1)
      return op->emitOpError() << "multiplies two gradients, and so the loss "
                                  "scale of --aicf-mixed-precision with itself";
    scaled.insert_range(op->getResults());
  }
  for (OpOperand &returned : func.front().getTerminator()->getOpOperands())
    if (scaled.contains(returned.get()))
      return func.emitError() << "result " << returned.getOperandNumber()
                              << " is a gradient, which the loss scale of "
                                 "--aicf-mixed-precision "
                                 "would multiply; keep=grad keeps it, scaled";
  for (Operation *op : tail) {
    Training training = trainingOf(op);
    if (!training) {
      if (llvm::any_of(op->getOperands(),
                       [&](Value v) { return scaled.contains(v); }))
        return op->emitOpError() << "reads a gradient that the loss scale of "
                                    "--aicf-mixed-precision multiplies, in the "
                                    "update half, where "
                                    "only optimizers take it out again";
      continue;
    }
    Value param = training.param->get();
    Value grad = training.grad->get();
    if (!scaled.contains(grad))
      return op->emitOpError()
             << "has a gradient that does not come from a loss's gradient "
                "before the first optimizer: f16 needs a loss scale on it";
    if (!getElementTypeOrSelf(param).isF32() ||
        getElementTypeOrSelf(grad).isBF16())
      return op->emitOpError()
             << "updates " << param.getType() << " with a gradient "
             << grad.getType()
             << ": the loss scale of --aicf-mixed-precision needs a parameter "
                "of f32 and a gradient of f32 or f16";
  }
  return success();
}

LogicalResult aicf::skipWithStep(Operation *op, Operation *clone, Value ok,
                                 Value invScale) {
  auto step = cast<StepOpInterface>(clone);
  auto assign = [&](StringRef name, Value value) -> LogicalResult {
    MutableOperandRange place = step.getOptionalOperand(name);
    if (!place.empty())
      return op->emitOpError() << "has an operand " << name
                               << ", but the loss scale of "
                                  "--aicf-mixed-precision needs its place";
    place.assign(value);
    return success();
  };
  if (step.getTraining())
    return failure(failed(assign("inv_scale", invScale)) ||
                   failed(assign("ok", ok)));
  auto inc = dyn_cast<StepIncOp>(op);
  return inc && !countsBatches(inc.getStep()) ? assign("ok", ok) : success();
}
