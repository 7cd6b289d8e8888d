//===- RecomputePlan.h - what the backward pass computes again --*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Decides for the forward values that the backward pass of an entry reads how
// it gets them. The
// page of --aicf-rematerialize says by which costs. Nothing is rewritten here.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_STEP_RECOMPUTEPLAN_H
#define AICF_LIB_TRANSFORMS_STEP_RECOMPUTEPLAN_H

#include "lib/Transforms/Step/KeptValues.h"

#include "llvm/ADT/DenseSet.h"

namespace aicf::step {
using namespace mlir;

/// What a choice may cost.
struct RecomputeCosts {
  double rate = 0;       ///< bytes moved for each byte spared
  int64_t callBytes = 0; ///< what a call costs beside the bytes that it moves
};

/// The ops that compute a value again, and what they read.
struct Cone {
  llvm::SetVector<Operation *> ops; ///< with views
  llvm::SetVector<Value> sources;   ///< kept values, arguments
};

/// How the backward pass gets a value that is saved.
struct Choice {
  Value value;
  SmallVector<OpOperand *> readers; ///< in the order of their ops
  /// Readers that read another value, which compares alike.
  SmallVector<std::pair<OpOperand *, Value>> switched;
  Cone again;             ///< for the other readers, or
  bool isMask = false;    ///< they read a mask
  bool isMarked = false;  ///< by aicf.recompute: ops are computed again once
  int64_t sparedBytes = 0, movedBytes = 0;
};

/// The choices of one entry.
class RecomputePlan {
public:
  RecomputePlan(func::FuncOp func, const RecomputeCosts &costs);

  /// Values that need not be saved, in the order of their first readers.
  ArrayRef<Choice> choices() const { return taken; }

private:
  bool isKept(Value value) const;
  Value otherSide(Value value, OpOperand &reader) const;
  int64_t movedBy(Operation *op) const;
  bool isCheap(Operation *op) const;
  Cone coneOfMarked(Value value, llvm::DenseSet<Operation *> &before) const;
  std::optional<Cone> coneOf(Value value) const;
  void chooseMarked();
  void choose(Value value);
  std::optional<Choice> switched(Value value) const;
  std::optional<Choice> masked(const Choice &base) const;
  std::optional<Choice> again(const Choice &base) const;
  void take(Choice choice);
  void sortByReaders(std::vector<Choice> &choices) const;

  KeptValues kept;
  RecomputeCosts costs;
  llvm::DenseSet<Value> dropped; ///< values that need not be kept
  llvm::DenseSet<Value> sources; ///< values that choices read: they stay kept
  std::vector<Choice> taken;
};

} // namespace aicf::step

#endif // AICF_LIB_TRANSFORMS_STEP_RECOMPUTEPLAN_H
