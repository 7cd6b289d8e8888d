//===- LossScaling.cpp - where a loss scale reaches -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "aicf/Analysis/LossScaling.h"
#include "aicf/Dialect/AICF/AICF.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::aicf;

/// A counter of batches goes on when a step is skipped.
static bool countsBatches(StepIncOp inc) {
  return llvm::any_of(inc.getStep().getUsers(), [](Operation *user) {
    return isa<ShuffleOp, RecordOp>(user);
  });
}

LogicalResult
mlir::aicf::checkLossScaling(func::FuncOp func, ArrayRef<Operation *> head,
                             ArrayRef<Operation *> tail,
                             function_ref<bool(Operation *)> carries) {
  llvm::DenseSet<Value> scaled;
  for (Operation *op : head) {
    if (auto grad = dyn_cast<MseGradOp>(op)) {
      if (grad.getLossScale() ||
          !grad.getTarget().getType().getElementType().isF32())
        return op->emitOpError()
               << "has a loss_scale operand or a target that is no f32: the "
                  "loss scale of --aicf-mixed-precision needs the one free and "
                  "the other f32";
      scaled.insert(grad.getDpred());
      continue;
    }
    bool any = llvm::any_of(op->getOperands(),
                            [&](Value v) { return scaled.contains(v); });
    if (isa<AddOp>(op) && any &&
        (!scaled.contains(op->getOperand(0)) ||
         !scaled.contains(op->getOperand(1))))
      return op->emitOpError() << "adds a gradient that the loss scale of "
                                  "--aicf-mixed-precision multiplies, and a "
                                  "value that it does not";
    if (any && (carries(op) || isa<CastOp>(op)))
      scaled.insert_range(op->getResults());
  }
  for (OpOperand &returned : func.front().getTerminator()->getOpOperands())
    if (scaled.contains(returned.get()))
      return func.emitError() << "result " << returned.getOperandNumber()
                              << " is a gradient, which the loss scale of "
                                 "--aicf-mixed-precision "
                                 "would multiply; keep=grad keeps it, scaled";
  for (Operation *op : tail) {
    auto training = dyn_cast<TrainingOpInterface>(op);
    auto operands = training ? training.getParamAndGrad() : std::nullopt;
    if (!operands)
      continue;
    Value param = op->getOperand(operands->first);
    Value grad = op->getOperand(operands->second);
    if (!scaled.contains(grad))
      return op->emitOpError()
             << "has a gradient that does not come from an aicf.mse_grad "
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

LogicalResult mlir::aicf::skipWithStep(Operation *op, Operation *clone,
                                       Value ok, Value invScale) {
  auto assign = [&](MutableOperandRange place, Value value,
                    StringRef name) -> LogicalResult {
    if (!place.empty())
      return op->emitOpError() << "has an operand " << name
                               << ", but the loss scale of "
                                  "--aicf-mixed-precision needs its place";
    place.assign(value);
    return success();
  };
  if (auto inc = dyn_cast<StepIncOp>(clone))
    return countsBatches(cast<StepIncOp>(op))
               ? success()
               : assign(inc.getOkMutable(), ok, "ok");
  auto both = [&](auto optimizer) -> LogicalResult {
    if (failed(assign(optimizer.getInvScaleMutable(), invScale, "inv_scale")))
      return failure();
    return assign(optimizer.getOkMutable(), ok, "ok");
  };
  if (auto adam = dyn_cast<AdamStepOp>(clone))
    return both(adam);
  if (auto sgd = dyn_cast<SgdStepOp>(clone))
    return both(sgd);
  return success();
}
