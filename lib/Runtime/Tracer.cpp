//===- Tracer.cpp - records what an executor runs -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Tracer.h"

#include "lib/Ops/BodyRules.h"
#include "lib/Ops/KernelTable.h"
#include "lib/Plan/PlanText.h"

namespace aicf {

void Tracer::enable(bool enabled) {
  isEnabled = enabled;
  if (!enabled)
    return;
  records.clear();
  facts.clear();
  numLaunches = 0;
  start = Clock::now();
}

const Tracer::EntryFacts &Tracer::factsOf(const Plan &plan, size_t index) {
  auto [it, isNew] = facts.try_emplace(index);
  if (isNew) {
    const PlanEntry &entry = plan.entries[index];
    it->second = {phasesOf(plan, entry), waitedFor(entry),
                  aicf::bytesAlive(plan, entry)};
  }
  return it->second;
}

TraceRecord Tracer::describe(const Plan &plan, size_t index,
                             const ResolvedCall &call) {
  TraceRecord entry;
  entry.op = primitiveNames(call.body());
  entry.kid = std::string(call.row->kid);
  entry.stream = call.stream;
  const PlanEntry &planEntry = plan.entries[index];
  entry.entry = planEntry.name;
  if (call.tag >= 0) {
    const PlanCall &planCall = planEntry.calls[size_t(call.tag)];
    const EntryFacts &known = factsOf(plan, index);
    entry.call = call.tag;
    entry.phase = std::string(nameOf(known.phases[size_t(call.tag)]));
    entry.after = known.after[size_t(call.tag)];
    entry.bytesAlive = known.bytesAlive[size_t(call.tag)];
    entry.location = planCall.location;
    entry.inVids = planCall.inVids;
    entry.outVids = planCall.vids;
    for (uint32_t value : planCall.ins)
      entry.inNames.push_back(valueName(plan, planEntry, value));
    for (uint32_t value : planCall.outs)
      entry.outNames.push_back(valueName(plan, planEntry, value));
  }
  for (size_t i = 0; i < call.body().numOperands; ++i)
    entry.inTypes.push_back(call.operand(i).desc.toString());
  for (size_t i = 0; i < call.body().results.size(); ++i)
    entry.outTypes.push_back(call.result(i).desc.toString());
  return entry;
}

void Tracer::addCall(const Plan &plan, size_t index, const ResolvedCall &call,
                     double startMicros, double micros) {
  TraceRecord entry = describe(plan, index, call);
  entry.startMicros = startMicros;
  entry.micros = micros;
  records.push_back(std::move(entry));
}

void Tracer::addLaunch(const Plan &plan, size_t index, const Graph &graph,
                       double start, const LaunchTimes &times) {
  ++numLaunches;
  for (size_t i = 0; i < graph.numCalls(); ++i) {
    TraceRecord entry = describe(plan, index, graph.call(i));
    entry.isReplay = true;
    entry.launch = numLaunches;
    entry.isWholeLaunch = times.calls.empty();
    entry.startMicros = start;
    entry.micros = entry.isWholeLaunch ? times.micros : times.calls[i];
    if (!entry.isWholeLaunch)
      start += entry.micros;
    records.push_back(std::move(entry));
  }
}

} // namespace aicf
