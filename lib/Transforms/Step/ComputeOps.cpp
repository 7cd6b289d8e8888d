//===- ComputeOps.cpp - which ops run on 16 bits --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/ComputeOps.h"

#include "lib/Ops/Rules.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

/// Whether a number of the op that is finite would be infinite in 16 bits.
static bool hasFarNumber(Operation *op, FloatType narrow) {
  return llvm::any_of(op->getAttrs(), [&](NamedAttribute attr) {
    auto number = dyn_cast<FloatAttr>(attr.getValue());
    if (!number || !number.getValue().isFinite())
      return false;
    APFloat held = number.getValue();
    bool isInexact = false;
    held.convert(narrow.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &isInexact);
    return !held.isFinite();
  });
}

static bool mayBeNarrow(Operation *op) {
  auto step = dyn_cast<StepOpInterface>(op);
  auto isSingle = [](Type type) {
    return cast<RankedTensorType>(type).getRank() == 0;
  };
  return step && step.getPrecision() == Precision::Narrow &&
         !llvm::all_of(op->getOperandTypes(), isSingle) &&
         !llvm::all_of(op->getResultTypes(), isSingle);
}

/// Ops whose results reach nothing but new values of states.
static llvm::DenseSet<Operation *>
findStateOps(func::FuncOp func, const EntrySignature &signature) {
  llvm::DenseSet<Operation *> found;
  Operation *end = func.front().getTerminator();
  const bool trainsItself = hasLoss(func);
  auto isForState = [&](OpOperand &use) {
    if (use.getOwner() != end)
      return found.contains(use.getOwner());
    int64_t target = signature.results[use.getOperandNumber()].target;
    if (target < 0)
      return false;
    Role role = signature.arguments[target].role;
    return role == Role::State || (role == Role::Param && trainsItself);
  };
  for (Operation &op : llvm::reverse(func.front().without_terminator()))
    if (llvm::all_of(op.getUses(), isForState))
      found.insert(&op);
  return found;
}

ComputeOps::ComputeOps(func::FuncOp func, const EntrySignature &signature,
                       FloatType narrow)
    : stateOps(findStateOps(func, signature)), narrow(narrow) {}

bool ComputeOps::contains(Operation *op) const {
  // What reads such a number, as a softmax does behind a mask, reads it in f32.
  auto isFar = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    return maker && hasFarNumber(maker, narrow);
  };
  return mayBeNarrow(op) && !hasFarNumber(op, narrow) &&
         !llvm::any_of(op->getOperands(), isFar) && !stateOps.contains(op);
}

bool ComputeOps::narrows(OpOperand &use) const {
  if (!contains(use.getOwner()))
    return false;
  auto record = dyn_cast<RecordOpInterface>(use.getOwner());
  if (!record)
    return true;
  const OpInfo &info = infoOf(record.getPrimitive());
  for (auto [slot, value] : llvm::enumerate(record.getOperandSlots()))
    if (value == use.get() && slot < info.numOperands &&
        info.operands[slot].elementTypes == ElementTypes::Wide)
      return false;
  return true;
}

bool ComputeOps::read(Value value) const {
  return llvm::any_of(value.getUsers(),
                      [&](Operation *user) { return contains(user); });
}
