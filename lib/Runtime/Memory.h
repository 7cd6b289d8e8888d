//===- Memory.h - buffers of a plan in device memory ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Owns the segments (or one allocation per buffer), knows names, pointers, what
// was written, and the canaries. Internal to the runtime.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_MEMORY_H
#define AICF_LIB_RUNTIME_MEMORY_H

#include "aicf/Executor.h"
#include "lib/Plan/Extension.h"

#include <unordered_map>

namespace aicf {

/// A buffer, or a value, by the entry's position and the number there;
/// persistent ones belong to entry 0. A named buffer and the value that is all
/// of it have the same number.
struct BufferRef {
  size_t entry = 0;
  uint32_t number = 0;
};

class Memory {
public:
  Memory(const Plan &plan, Device &device, const ExecutorOptions &options);
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// "name" or "entry/name". Errors: InvalidArgument (unknown, ambiguous).
  StatusOr<BufferRef> find(std::string_view name) const;
  std::string namesNear(std::string_view name) const;
  Status bind(std::string_view name, void *memory, uint64_t bytes);
  /// Where a buffer was before bind(), to undo it.
  struct Binding {
    void *pointer;
    bool isBound, isWritten;
  };
  Binding binding(BufferRef ref) const {
    const Slot &s = slot(ref);
    return {s.pointer, s.isBound, s.isWritten};
  }
  void restore(BufferRef ref, Binding old) {
    Slot &s = slot(ref);
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
  /// Whether allocate() has found a larger place for the temps that were
  /// shared.
  bool haveTempsMoved() const { return areTempsElsewhere; }
  /// Memory for a copy of a persistent buffer.
  StatusOr<TensorView> shadow(uint32_t number);

  /// A value by its number.
  TensorView view(size_t entry, uint32_t value) const {
    const PlanValue &v = plan.value(plan.entries[entry], value);
    auto *start = static_cast<char *>(slot({entry, v.buffer}).pointer);
    return {start ? start + v.byteOffset : nullptr, v.desc};
  }
  /// Where a buffer begins.
  void *start(BufferRef ref) const { return slot(ref).pointer; }
  const PlanBuffer &buffer(BufferRef ref) const {
    return plan.buffer(plan.entries[ref.entry], ref.number);
  }
  Status checkSize(BufferRef ref, std::string_view name, uint64_t bytes) const;
  /// Whether a named buffer has a value.
  bool isWritten(BufferRef ref) const { return slot(ref).isWritten; }
  void setWritten(BufferRef ref, bool written) {
    slot(ref).isWritten = written;
  }
  bool isPersistent(BufferRef ref) const {
    return ref.number < persistent.size();
  }
  bool isBound(uint32_t persistentNumber) const {
    return persistent[persistentNumber].isBound;
  }
  /// Whether an entry has outputs, and each of them a place.
  bool hasOutputs(size_t entry) const {
    size_t all = 0, placed = 0;
    for (size_t i = 0; i < local[entry].size(); ++i)
      if (plan.entries[entry].buffers[i].role == Role::Output) {
        ++all;
        placed += local[entry][i].pointer != nullptr;
      }
    return all > 0 && placed == all;
  }
  Status checkCanaries(Stream &stream, const std::string &when) const;
  std::vector<SlotInfo> slots() const;
  void addBytes(ExecutorStatistics &stats) const;

private:
  /// Where a buffer lies.
  struct Slot {
    void *pointer = nullptr;
    uint64_t offset = 0;
    bool isBound = false, isWritten = false;
  };

  const Slot &slot(BufferRef ref) const {
    return ref.number < persistent.size()
               ? persistent[ref.number]
               : local[ref.entry][ref.number - persistent.size()];
  }
  Slot &slot(BufferRef ref) {
    return const_cast<Slot &>(std::as_const(*this).slot(ref));
  }
  /// Inputs and outputs of an entry that runs other calls now.
  void shareIO(const Memory &old, size_t from, size_t to);
  uint64_t tempBytesNeeded() const;
  Status checkRoom() const;
  StatusOr<std::shared_ptr<char>> allocateOwned(uint64_t bytes);
  StatusOr<char *> allocateBytes(uint64_t bytes);
  Status allocateSeparately(Stream &stream);
  Status allocateSegments();
  Status allocateTemps();

  const Plan &plan;
  Device &device;
  ExecutorOptions options;
  std::vector<Slot> persistent;
  std::vector<std::vector<Slot>> local; ///< by entry
  std::unordered_map<std::string, std::vector<BufferRef>> byName;
  std::vector<std::shared_ptr<void>> allocations;
  std::unordered_map<uint32_t, char *> shadows; ///< by persistent buffer
  std::shared_ptr<char>
      temps; ///< of all entries, which run one after the other
  uint64_t tempsCapacity = 0;
  bool areTempsElsewhere = false;
  uint64_t persistentBytes = 0, ioBytes = 0, separateTempBytes = 0;
};

} // namespace aicf

#endif // AICF_LIB_RUNTIME_MEMORY_H
