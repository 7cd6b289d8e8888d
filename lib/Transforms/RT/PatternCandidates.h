//===- PatternCandidates.h - calls that may be in a pattern -----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Finds, on SSA values, calls that one pattern may take together: each reads
// what the bindings of its node say. It decides nothing more. Whether
// the calls match, the one matcher says (lib/Ops/Patterns.h), which the loader
// asks too.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_PATTERNCANDIDATES_H
#define AICF_LIB_TRANSFORMS_RT_PATTERNCANDIDATES_H

#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Ops/Patterns.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace aicf::rt {
using namespace mlir;

/// The calls of an entry that may be nodes of one pattern. A value may have
/// any number of users, few of them of the kind that is looked for: they are
/// listed once, by the value that they read.
class PatternCandidates {
public:
  /// `func` and `pattern` must outlive this.
  PatternCandidates(func::FuncOp func, const PatternInfo &pattern);

  /// The calls that may be the first node, in order.
  ArrayRef<Operation *> getAnchors() const { return anchors; }
  /// Calls `take` with every choice of calls around `anchor`, in the order of
  /// the nodes, until it returns true; then returns true. A choice with an
  /// optional node comes before the one without it.
  bool anyChoice(CallOp anchor, function_ref<bool(ArrayRef<CallOp>)> take);
  /// True for a result that the pattern wants as one of the call, of the choice
  /// that is being taken.
  bool isKept(Value result) const;
  /// Tells that `parts` are gone, and `after` stands for `before`. The choice
  /// that is being taken must be the last.
  void replace(ArrayRef<CallOp> parts, ArrayRef<Value> before,
               ValueRange after);

private:
  struct List {
    SmallVector<Operation *> calls; ///< in order; some are gone
    size_t head = 0;                ///< all before it are
  };
  /// Returns the shortest list that has every call which reads what is bound;
  /// null if there is none.
  List *listOf(unsigned node);
  /// Returns the value that a binding refers to, among the chosen calls.
  Value boundValue(const BindingInfo &binding) const;
  /// True if `call`, as `node`, reads what the pattern says of the chosen
  /// calls.
  bool isBound(CallOp call, unsigned node) const;
  bool extend(function_ref<bool(ArrayRef<CallOp>)> take);

  const PatternInfo &pattern;
  SmallVector<Operation *> anchors;
  /// By what an operand is and the number of the binding that says so.
  llvm::DenseMap<std::pair<Value, unsigned>, List> readers;
  llvm::DenseSet<Operation *> gone;
  SmallVector<CallOp> chosen; ///< one per node; null where it is left out
};

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_PATTERNCANDIDATES_H
