//===- SideCalls.h - calls beside forward and backward ----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_SIDECALLS_H
#define AICF_LIB_TRANSFORMS_RT_SIDECALLS_H

#include "aicf/Dialect/AICFRT/AICFRT.h"

namespace aicf::rt {
using namespace mlir;

/// Step counters and optimizers: nothing of forward and backward waits for
/// them.
bool isUpdate(CallOp call);

/// Calls that may run beside forward and backward: an update, or a weight or
/// bias gradient that only updates read, as it is or by way of elementwise
/// calls: a weight that is used several times has a sum of gradients.
class SideCalls {
public:
  /// Finds them among all calls of an entry, in order, in one pass from the
  /// end.
  explicit SideCalls(ArrayRef<CallOp> calls);

  bool contains(CallOp call) const { return sides.contains(call); }
  /// True if one of them reads `base` or a view of it.
  bool read(Value base) const { return bases.contains(base); }

private:
  llvm::DenseSet<Operation *> sides;
  llvm::DenseSet<Value> bases; ///< of what they read
};

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_SIDECALLS_H
