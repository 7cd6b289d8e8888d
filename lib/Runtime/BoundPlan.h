//===- BoundPlan.h - a plan in memory, with its calls -----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Has the memory of a plan and, once it is prepared, the resolved calls on its
// addresses: entries, and the casts that keep derived states. Knows which
// buffers have a value. Enqueues copies and casts, runs no entry. Internal to
// the runtime.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_BOUNDPLAN_H
#define AICF_LIB_RUNTIME_BOUNDPLAN_H

#include "lib/Plan/Order.h"
#include "lib/Runtime/PreparedEntry.h"

namespace aicf {

class BoundPlan {
public:
  /// `device` and `stream` outlive it.
  BoundPlan(std::shared_ptr<const Plan> plan, Device &device, Stream &stream,
            const ExecutorOptions &options);

  /// Allocates, resolves every call, runs the initialisers; once.
  Status prepare();
  /// The plan `next`, which has `found` in common with this one, in memory that
  /// both own from then on; prepared if this one is, with the initialisers of
  /// what is new. This one stays as it is.
  StatusOr<std::unique_ptr<BoundPlan>>
  extended(std::shared_ptr<const Plan> next, const PlanExtension &found);
  /// New memory for a tensor of a prepared plan: all calls that may use it are
  /// resolved anew. After an error everything is as before.
  Status rebind(std::string_view name, void *pointer, uint64_t bytes);

  /// Params and states that are not bound start again.
  Status initialize();
  /// Recomputes the states derived from buffer `source`: none where it is not
  /// persistent.
  Status refreshDerived(uint32_t source);

  /// Errors: InvalidArgument, with the names that there are.
  StatusOr<size_t> findEntry(std::string_view name) const;
  /// The same, to run it: its calls are resolved anew if it is stale. Errors:
  /// prepareEntry()'s, too.
  StatusOr<size_t> findToRun(std::string_view name);
  /// Ok unless entry `index` reads what was never written.
  Status checkWritten(size_t index) const;
  /// Ok if `ref` has a value, or with `after` will have one after that entry.
  Status checkHasValue(BufferRef ref, std::string_view name,
                       const PreparedEntry *after) const;
  /// Ok unless the buffer is ours to write: derived from another, or a constant.
  Status checkIsCallers(BufferRef ref) const;
  /// What a run of entry `index` has written can be read.
  void markRun(size_t index);

  const Plan &plan() const { return *sharedPlan; }
  bool isPrepared() const { return prepared; }
  const PreparedEntry &entry(size_t index) const { return entries[index]; }
  Memory &memory() { return buffers; }
  const Memory &memory() const { return buffers; }

private:
  StatusOr<PreparedEntry> prepareOne(size_t index);
  StatusOr<std::vector<ResolvedCall>> resolveDerivedCasts();
  Status prepareExtended(const BoundPlan &old, const PlanExtension &found);
  Status initialize(uint32_t number);

  std::shared_ptr<const Plan> sharedPlan;
  Device &device;
  Stream &stream;
  ExecutorOptions options;
  Memory buffers;
  DerivedStates derivedStates;
  std::vector<PreparedEntry> entries;
  std::vector<ResolvedCall> derivedCasts; ///< by persistent buffer
  bool prepared = false;
};

} // namespace aicf

#endif // AICF_LIB_RUNTIME_BOUNDPLAN_H
