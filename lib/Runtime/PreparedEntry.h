//===- PreparedEntry.h - the calls of an entry, resolved --------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Plan calls become resolved ones, on the addresses that memory gives; what
// running the entry asks of its buffers is found once. Runs nothing. Internal
// to the runtime.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_PREPAREDENTRY_H
#define AICF_LIB_RUNTIME_PREPAREDENTRY_H

#include "aicf/OpCall.h"
#include "lib/Runtime/Memory.h"

namespace aicf {

/// An entry with everything that running it needs.
struct PreparedEntry {
  const PlanEntry *entry = nullptr;
  std::vector<ResolvedCall> calls;
  /// The plan's parts of `calls`, one at least; warm-up's copies are in none.
  std::vector<PlanPart> parts;
  size_t firstPlanCall = 0; ///< warm-up's copies stand before
  /// Numbers of the temp buffers that are dead after each of `calls` (poison
  /// mode); none after warm-up's copies.
  std::vector<std::vector<uint32_t>> diesAfter;
  /// Numbers of the named buffers that must have a value before a run, and of
  /// the persistent ones that have one after it.
  std::vector<uint32_t> readBuffers, writtenBuffers;
  bool hasRun = false;
  bool isStale = false; ///< temps have moved: `calls` are not to be run

  /// False for buffers that are not persistent.
  bool writes(uint32_t buffer) const;

  /// Calls visit(i) for each of `calls` as often as it runs, in order; and
  /// `fork` in front of each run of a part. Ends at the first error.
  template <typename Fork, typename Visit>
  Status forEachRun(Fork fork, Visit visit) const {
    auto visitAll = [&](size_t first, size_t end) -> Status {
      for (size_t i = first; i < end; ++i)
        AICF_RETURN_IF_ERROR(visit(i));
      return {};
    };
    size_t first = firstPlanCall;
    AICF_RETURN_IF_ERROR(visitAll(0, first));
    for (const PlanPart &part : parts) {
      for (uint32_t run = 0; run < part.times; ++run) {
        AICF_RETURN_IF_ERROR(fork());
        AICF_RETURN_IF_ERROR(visitAll(first, first + part.numCalls));
      }
      first += part.numCalls;
    }
    return visitAll(first, calls.size());
  }
};

/// Resolves the calls of entry `index`, between warm-up's copies if those are
/// wanted. Errors: resolve()'s, with the entry and the call.
StatusOr<PreparedEntry> prepareEntry(const Plan &plan, size_t index,
                                     Memory &memory, Device &device,
                                     Stream &stream, bool isWarmup);

/// Sets what stands in numbers of buffers: once more where they are another
/// plan's.
Status describeEntry(const Plan &plan, size_t index, PreparedEntry &prepared);

/// A call of a primitive with one operand and one result: a copy, a cast.
StatusOr<ResolvedCall> resolveUnary(Device &device, OpKind kind,
                                    const TensorView &from,
                                    const TensorView &to);

} // namespace aicf

#endif // AICF_LIB_RUNTIME_PREPAREDENTRY_H
