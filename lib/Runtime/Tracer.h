//===- Tracer.h - records what an executor runs -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Turns calls that ran and their times into TraceRecords. Measures nothing but
// the host's clock. Internal to the runtime.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_TRACER_H
#define AICF_LIB_RUNTIME_TRACER_H

#include "aicf/Executor.h"
#include "aicf/OpCall.h"
#include "lib/Plan/CallFacts.h"

#include <chrono>
#include <map>

namespace aicf {

class Tracer {
public:
  /// Starts a trace without records, or stops the one that runs.
  void enable(bool enabled);
  bool enabled() const { return isEnabled; }
  /// From now on calls are of another plan. It may lie where the last one lay, so
  /// its address does not tell.
  void changePlan() { facts.clear(); }
  /// Since enable(true).
  double nowMicros() const {
    return std::chrono::duration<double, std::micro>(Clock::now() - start)
        .count();
  }
  /// A call of entry `index` that ran eagerly, for `micros`.
  void addCall(const Plan &plan, size_t index, const ResolvedCall &call,
               double startMicros, double micros);
  /// The calls of a graph that was launched.
  void addLaunch(const Plan &plan, size_t index, const Graph &graph,
                 double start, const LaunchTimes &times);
  const std::vector<TraceRecord> &trace() const { return records; }

private:
  /// What an entry says of its calls, worked out once a trace.
  struct EntryFacts {
    std::vector<CallPhase> phases;
    std::vector<std::vector<uint32_t>> after;
    std::vector<uint64_t> bytesAlive;
  };
  const EntryFacts &factsOf(const Plan &plan, size_t index);
  TraceRecord describe(const Plan &plan, size_t index,
                       const ResolvedCall &call);

  std::map<size_t, EntryFacts> facts; ///< by entry of the plan
  using Clock = std::chrono::steady_clock;
  bool isEnabled = false;
  std::vector<TraceRecord> records;
  uint64_t numLaunches = 0;
  Clock::time_point start;
};

} // namespace aicf

#endif // AICF_LIB_RUNTIME_TRACER_H
