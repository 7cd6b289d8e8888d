//===- PlanBuffers.h - the buffers of a plan's entry ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Reads the calls of an aicf_rt.entry and answers which of them access each
// buffer. Decides nothing.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_PLANBUFFERS_H
#define AICF_LIB_TRANSFORMS_RT_PLANBUFFERS_H

#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Schedule/HappensBefore.h"

#include "llvm/ADT/DenseMap.h"

namespace aicf::rt {
using namespace mlir;

/// The calls of an entry in program order, with their happens-before.
class EntryCalls {
public:
  /// Emits a diagnostic at the entry when its streams are malformed.
  static FailureOr<EntryCalls> create(EntryOp entry);

  const HappensBefore &getOrder() const { return order; }
  /// The calls that read, write or scribble on a buffer.
  AccessSet accessesOf(Value buffer) const;

private:
  llvm::DenseMap<Operation *, uint32_t> indexOf;
  HappensBefore order;
};

/// Bytes of what a buffer holds.
inline uint64_t bytesOf(Type buffer) { return toTensorDesc(buffer).spanBytes(); }

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_PLANBUFFERS_H
