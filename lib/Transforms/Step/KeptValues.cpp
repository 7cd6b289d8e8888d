//===- KeptValues.cpp - what the backward pass reads ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/KeptValues.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

bool aicf::step::isView(Operation *op) {
  return op && op->hasTrait<ViewOfOperand>();
}

bool aicf::step::isAtHand(Value value) {
  return !value.getDefiningOp() || value.getDefiningOp<SaveOp>();
}

bool aicf::step::isReadTurned(Value value) {
  Operation *maker = value.getDefiningOp();
  if (auto said =
          maker ? maker->getAttrOfType<BoolAttr>(kReadTurnedAttr) : BoolAttr())
    return said.getValue();
  int64_t rank = cast<ShapedType>(value.getType()).getRank();
  auto turned = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (rank < 3 || value.use_empty())
    return false;
  std::swap(turned[rank - 2], turned[rank - 1]);
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    auto transpose = dyn_cast<TransposeOp>(user);
    return transpose && llvm::equal(transpose.getPermutation(), turned);
  });
}

static bool readsSave(Operation &op) {
  return llvm::any_of(op.getOperands(), [](Value operand) {
    return operand.getDefiningOp<SaveOp>();
  });
}

static bool isBackward(Operation &op) {
  auto step = dyn_cast<StepOpInterface>(op);
  return step && step.getPhase() == Phase::Backward;
}

/// The backward pass begins with the first op that reads a save. Where there is none,
/// it begins with the first op of that phase; else such an op in front of it computes a
/// gradient that the loss is made of.
static Block::iterator findBackward(Block &block) {
  auto begin = llvm::find_if(block, readsSave);
  return begin == block.end() ? llvm::find_if(block, isBackward) : begin;
}

/// A step that was written by hand may read forward values without a save.
KeptValues::KeptValues(func::FuncOp func) {
  Block &block = func.front();
  for (Operation &op : block)
    order.try_emplace(&op, order.size());
  auto begin = findBackward(block);
  if (begin == block.end())
    return;
  backward = order.lookup(&*begin);
  auto add = [&](Value value, Value read) {
    for (OpOperand &use : read.getUses()) {
      Operation *user = use.getOwner();
      if (!isa<SaveOp>(user) && !user->hasTrait<OpTrait::IsTerminator>() &&
          order.lookup(user) >= backward)
        readers[value].push_back(&use);
    }
  };
  for (Operation &op : llvm::make_range(block.begin(), begin)) {
    if (isa<SaveOp>(op))
      continue;
    for (Value value : op.getResults()) {
      add(value, value);
      for (Operation *user : value.getUsers())
        if (auto save = dyn_cast<SaveOp>(user))
          add(value, save.getY());
    }
  }
  for (auto &[value, uses] : readers)
    llvm::sort(uses, [&](OpOperand *a, OpOperand *b) {
      return std::pair(order.lookup(a->getOwner()), a->getOperandNumber()) <
             std::pair(order.lookup(b->getOwner()), b->getOperandNumber());
    });
}

bool KeptValues::isReturned(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto save = dyn_cast<SaveOp>(user);
    return user->hasTrait<OpTrait::IsTerminator>() ||
           (save && isReturned(save.getY()));
  });
}

/// Whether a forward op outside of the block reads the value, or a view of it.
bool KeptValues::leavesBlock(Value value, Attribute block) const {
  if (isReturned(value))
    return true;
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isa<SaveOp>(user) || order.lookup(user) >= backward)
      return false;
    if (user->getDiscardableAttr(kRecomputeAttr) != block)
      return true;
    return isView(user) && leavesBlock(user->getResult(0), block);
  });
}

bool KeptValues::isMarked(Value value) const {
  Operation *maker = value.getDefiningOp();
  Attribute mark = maker ? maker->getDiscardableAttr(kRecomputeAttr) : nullptr;
  return mark && (isa<UnitAttr>(mark) || !leavesBlock(value, mark));
}
