//===- CallList.h - the calls of an entry in order --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Numbers the calls of an entry, in tensor form or in a plan, and answers which
// of them access a value. Decides nothing.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_CALLLIST_H
#define AICF_LIB_TRANSFORMS_RT_CALLLIST_H

#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Schedule/HappensBefore.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace aicf::rt {
using namespace mlir;

/// The calls of an entry in program order, with their happens-before.
class CallList {
public:
  /// Lists the calls of a function whose form is legal (EntryForm), or of an
  /// aicf_rt.entry; as an analysis, too. Emits a diagnostic at the entry when
  /// its streams are malformed; then isValid() is false, and nothing else may
  /// be asked.
  explicit CallList(Operation *entry);
  bool isValid() const { return isOrdered; }

  ArrayRef<CallOp> getCalls() const { return calls; }
  const HappensBefore &getOrder() const { return order; }
  uint32_t indexOf(CallOp call) const { return indices.at(call); }

  /// Calls `access` with the index of each call that reads `value`, once for
  /// each operand: the one that makes it comes before these anyway. In a plan:
  /// of each call that takes a value of the buffer `value`, or has it for its
  /// workspace.
  void forEachAccess(Value value, function_ref<void(uint32_t)> access) const;
  void addAccesses(Value value, AccessSet &accesses) const;
  AccessSet accessesOf(Value value) const;

  /// Forgets a call that is about to be erased. Its index stays free.
  void drop(CallOp call) { indices.erase(call); }

private:
  SmallVector<CallOp> calls;
  llvm::DenseMap<Operation *, uint32_t> indices;
  HappensBefore order;
  bool isOrdered = false;
};

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_CALLLIST_H
