//===- Interpreter.h - runs a plan in f64, without kernels ------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The oracle for plans, those of devices that this machine does not have too:
// each call is computed by kernels/reference, in the plan's order or in any
// other that its streams and events allow. Values live at their offsets, so
// that a plan whose live values share bytes gives wrong ones here as it
// would on a device. Nothing is shared with kernels or executor; slow on
// purpose.
//===----------------------------------------------------------------------===//
#ifndef AICF_INTERPRETER_INTERPRETER_H
#define AICF_INTERPRETER_INTERPRETER_H

#include "aicf/Plan.h"

#include <memory>
#include <optional>
#include <random>
#include <unordered_map>

namespace aicf {

struct InterpreterOptions {
  /// Seed of the plan's random initialisers.
  uint64_t seed = 0;
  /// Results are rounded to their tensor's dtype, as on a device. Off: they
  /// stay f64 (integers are whole numbers either way).
  bool roundToDType = true;
  /// Calls run in a random order that the plan allows, drawn anew each run;
  /// without it, in the order in which they stand.
  std::optional<uint64_t> orderSeed;
};

class Interpreter {
public:
  /// `plan` is verified. Params and states get their initial values.
  explicit Interpreter(std::shared_ptr<const Plan> plan,
                       InterpreterOptions options = {});

  /// Values of a tensor, row-major. `entry` says whose input or output; for
  /// params, states and hypers it is empty. write() rounds to the dtype.
  /// Errors: InvalidArgument (no such tensor, wrong count, an output or a
  /// derived state is written), NotInitialized (read before it has a value).
  Status write(std::string_view entry, std::string_view name,
               Span<const double> values);
  StatusOr<std::vector<double>> read(std::string_view entry,
                                     std::string_view name) const;
  /// The description of a tensor. Errors: InvalidArgument.
  StatusOr<TensorInfo> find(std::string_view entry,
                            std::string_view name) const;
  /// Runs an entry once. Errors: InvalidArgument (no such entry),
  /// NotInitialized (an input, hyper, param or state was never written).
  Status run(std::string_view entry);

private:
  /// A segment: a number for every byte, of which an element uses that of its
  /// first byte. The others are NaN, and so is what was never written.
  using Memory = std::vector<double>;
  struct EntryMemory {
    Memory io, temp;
    std::vector<bool> isWritten; ///< of entry.buffers
    /// Numbers of the named buffers that a run reads before it writes them, and
    /// of those that it writes as a whole.
    std::vector<uint32_t> read, written;
  };
  /// A value; that of a named buffer has the buffer's number.
  struct ValueRef {
    size_t entry; ///< any entry, for persistent values
    uint32_t number;
  };

  StatusOr<ValueRef> locate(std::string_view entry,
                            std::string_view name) const;
  const PlanValue &value(ValueRef at) const {
    return plan->value(plan->entries[at.entry], at.number);
  }
  const PlanBuffer &bufferOf(ValueRef at) const {
    return plan->bufferOf(plan->entries[at.entry], at.number);
  }
  Memory &memoryOf(size_t entry, Segment segment);
  /// Where a value's first element stands.
  double *slotOf(ValueRef at);
  std::vector<double> load(ValueRef at) const;
  void store(ValueRef at, const std::vector<double> &values);
  bool isWritten(size_t entry, uint32_t buffer) const;
  void setWritten(size_t entry, uint32_t buffer);
  /// Casts into the states that are derived from persistent buffer `source`.
  void refreshDerived(uint32_t source);
  std::vector<size_t> orderOf(const PlanEntry &entry, size_t first,
                              size_t end);
  void findAccesses(size_t entry);
  Status checkInputs(size_t entry) const;
  void runCall(size_t entry, const PlanCall &call);

  std::shared_ptr<const Plan> plan;
  InterpreterOptions options;
  /// The states that are derived from a persistent buffer, by its number.
  std::unordered_map<uint32_t, std::vector<uint32_t>> derivedStates;
  std::mt19937_64 random;
  Memory persistent;
  std::vector<bool> isPersistentWritten;
  std::vector<EntryMemory> entries;
};

} // namespace aicf

#endif // AICF_INTERPRETER_INTERPRETER_H
