//===- Memory.h - tensors of a plan in device memory ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Owns the segments (or one allocation a tensor), knows names, pointers, what
// was written, and the canaries. Internal to the runtime.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_MEMORY_H
#define AICF_LIB_RUNTIME_MEMORY_H

#include "aicf/Executor.h"
#include "lib/Plan/Extension.h"

#include <unordered_map>

namespace aicf {

/// A tensor by entry number and tid; persistent ones belong to entry 0.
struct TensorRef {
  size_t entry = 0;
  uint32_t tid = 0;
};

class Memory {
public:
  Memory(const Plan &plan, Device &device, const ExecutorOptions &options);
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// "name" or "entry/name". Errors: InvalidArgument (unknown, ambiguous).
  StatusOr<TensorRef> find(std::string_view name) const;
  Status bind(std::string_view name, void *memory, uint64_t bytes);
  /// Where a tensor was before bind(), to undo it.
  struct Binding {
    void *pointer;
    bool isBound, isWritten;
  };
  Binding binding(TensorRef ref) const {
    const Slot &s = slot(ref.entry, ref.tid);
    return {s.pointer, s.isBound, s.isWritten};
  }
  void restore(TensorRef ref, Binding old) {
    Slot &s = slot(ref.entry, ref.tid);
    s.pointer = old.pointer;
    s.isBound = old.isBound;
    s.isWritten = old.isWritten;
  }
  /// Has what `found` says that `old`'s plan and this one have in common lie
  /// where it is, in memory that both own from then on. Before allocate().
  void share(const Memory &old, const PlanExtension &found);
  /// Allocates everything that has no place yet. May be tried again after an
  /// error.
  Status allocate(Stream &stream);
  /// Memory for a copy of a persistent tensor.
  StatusOr<TensorView> shadow(uint32_t tid);

  TensorView view(size_t entry, uint32_t tid) const {
    const Slot &s = slot(entry, tid);
    return {s.pointer, tensorAt(entry, tid).desc};
  }
  const PlanTensor &tensor(TensorRef ref) const {
    return tensorAt(ref.entry, ref.tid);
  }
  Status checkSize(TensorRef ref, std::string_view name, uint64_t bytes) const;
  bool isWritten(size_t entry, uint32_t tid) const {
    return slot(entry, tid).isWritten;
  }
  void setWritten(size_t entry, uint32_t tid, bool written) {
    slot(entry, tid).isWritten = written;
  }
  bool isBound(uint32_t persistentTid) const {
    return persistent[persistentTid].isBound;
  }
  /// Whether every output of an entry has a place.
  bool hasOutputs(size_t entry) const {
    for (size_t i = 0; i < local[entry].size(); ++i)
      if (plan.entries[entry].tensors[i].role == Role::Output &&
          !local[entry][i].pointer)
        return false;
    return true;
  }
  Status checkCanaries(Stream &stream, const std::string &when) const;
  std::vector<SlotInfo> slots() const;
  void addBytes(ExecutorStatistics &stats) const;

private:
  struct Slot {
    void *pointer = nullptr;
    uint64_t offset = 0;
    bool isBound = false, isWritten = false;
  };

  const Slot &slot(size_t entry, uint32_t tid) const {
    return tid < persistent.size() ? persistent[tid]
                                   : local[entry][tid - persistent.size()];
  }
  Slot &slot(size_t entry, uint32_t tid) {
    return const_cast<Slot &>(std::as_const(*this).slot(entry, tid));
  }
  const PlanTensor &tensorAt(size_t entry, uint32_t tid) const {
    return plan.tensor(plan.entries[entry], tid);
  }
  /// Inputs and outputs of an entry that runs other calls now.
  void shareIO(const Memory &old, size_t from, size_t to);
  uint64_t tempBytesNeeded() const;
  Status checkRoom() const;
  StatusOr<char *> allocateBytes(uint64_t bytes);
  Status allocateSeparately(Stream &stream);
  Status allocateSegments();
  Status allocateTemps();

  const Plan &plan;
  Device &device;
  ExecutorOptions options;
  std::vector<Slot> persistent;
  std::vector<std::vector<Slot>> local; ///< by entry
  std::unordered_map<std::string, std::vector<TensorRef>> byName;
  std::vector<std::shared_ptr<void>> allocations;
  std::unordered_map<uint32_t, char *> shadows; ///< by persistent tid
  char *temps = nullptr; ///< for the next entry whose temps fit in
  uint64_t tempsCapacity = 0;
  uint64_t persistentBytes = 0, ioBytes = 0, tempBytes = 0;
};

} // namespace aicf

#endif // AICF_LIB_RUNTIME_MEMORY_H
