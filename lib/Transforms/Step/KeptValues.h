//===- KeptValues.h - what the backward pass reads --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Lists the forward values of an entry that its backward pass reads, with a
// save or without one. Does not know what they cost.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_STEP_KEPTVALUES_H
#define AICF_LIB_TRANSFORMS_STEP_KEPTVALUES_H

#include "aicf/Dialect/AICF/AICF.h"

#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace aicf::step {
using namespace mlir;

/// Whether `op` launches nothing and shows its operand.
bool isView(Operation *op);
/// Whether the backward pass may read `value` as it is: an argument or a save.
bool isAtHand(Value value);
/// Whether all that reads a value of three dimensions or more is a transpose
/// that exchanges the last two. Of a product kReadTurnedAttr has the last word.
bool isReadTurned(Value value);

/// The forward values of an entry that its backward pass reads.
class KeptValues {
public:
  explicit KeptValues(func::FuncOp func);

  /// The values in the order of their ops, with their readers in the backward
  /// pass, in the order of theirs.
  const llvm::MapVector<Value, SmallVector<OpOperand *>> &values() const {
    return readers;
  }
  ArrayRef<OpOperand *> readersOf(Value value) const {
    return readers.find(value)->second;
  }
  bool isRead(Value value) const { return readers.contains(value); }
  /// The place of an op in the entry.
  unsigned placeOf(Operation *op) const { return order.lookup(op); }

  /// Whether the entry returns the value, or what was saved of it.
  bool isReturned(Value value) const;
  /// Whether `aicf.recompute` says that the value is computed again.
  bool isMarked(Value value) const;

private:
  bool leavesBlock(Value value, Attribute block) const;

  llvm::DenseMap<Operation *, unsigned> order;
  unsigned backward = 0; ///< the place of its first op
  llvm::MapVector<Value, SmallVector<OpOperand *>> readers;
};

} // namespace aicf::step

#endif // AICF_LIB_TRANSFORMS_STEP_KEPTVALUES_H
