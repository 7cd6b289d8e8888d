//===- PreparedEntry.cpp - the calls of an entry, resolved ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/PreparedEntry.h"

#include "lib/Ops/BodyRules.h"
#include "lib/Plan/Order.h"
#include "lib/Runtime/CallArgs.h"
#include "lib/Schedule/AccessTracker.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace aicf {

bool PreparedEntry::writes(uint32_t buffer) const {
  return std::binary_search(writtenBuffers.begin(), writtenBuffers.end(),
                            buffer);
}

StatusOr<ResolvedCall> resolveUnary(Device &device, OpKind kind,
                                    const TensorView &from,
                                    const TensorView &to) {
  auto body = std::make_shared<Body>(makeBody(kind, {}, {true}, {true}));
  return resolve(device, {body, {&from, 1}, {&to, 1}});
}

static Status resolvePlanCalls(const Plan &plan, size_t index,
                               const Memory &memory, Device &device,
                               Stream &stream, PreparedEntry &prepared) {
  const PlanEntry &entry = plan.entries[index];
  std::unordered_map<int64_t, uint32_t> events; // numbered from 0
  auto number = [&](const std::vector<int64_t> &names) {
    std::vector<uint32_t> numbers;
    for (int64_t name : names)
      numbers.push_back(
          events.try_emplace(name, uint32_t(events.size())).first->second);
    return numbers;
  };
  auto inCall = [&](size_t i, const Status &status) {
    return status.withContext("entry " + entry.name + ", call " +
                              std::to_string(i));
  };
  uint32_t numStreams = 1;
  for (size_t i = 0; i < entry.calls.size(); ++i) {
    const PlanCall &call = entry.calls[i];
    std::vector<TensorView> ins, outs;
    for (uint32_t value : call.ins)
      ins.push_back(memory.view(index, value));
    for (uint32_t value : call.outs)
      outs.push_back(memory.view(index, value));
    CallRequest request{call.body, ins, outs, call.kid};
    if (call.workspace >= 0)
      request.workspace = {
          memory.start({index, uint32_t(call.workspace)}),
          TensorDesc(DType::I32, {int64_t(call.workspaceBytes / 4)})};
    StatusOr<ResolvedCall> resolved = beginResolve(device, request);
    if (!resolved.ok())
      return inCall(i, resolved.status());
    resolved->tag = static_cast<int32_t>(i);
    resolved->stream = call.stream;
    resolved->waits = number(call.waits);
    resolved->signals = number(call.signals);
    numStreams = std::max(numStreams, call.stream + 1);
    prepared.calls.push_back(std::move(*resolved));
  }
  for (size_t i = 0; i < prepared.calls.size(); ++i)
    if (Status status = prepared.calls[i].deviceCall->finish(); !status.ok())
      return inCall(i, status);
  return stream.reserve(numStreams, uint32_t(events.size()));
}

/// Warm-up: every updated buffer is copied away first and back last, so that
/// whatever the calls in between write, the old bits stay.
static Status addWarmupCopies(const Plan &plan, size_t index, Memory &memory,
                              Device &device, PreparedEntry &prepared) {
  const PlanEntry &entry = plan.entries[index];
  std::vector<bool> isUpdated(plan.buffers.size() + entry.buffers.size());
  for (const PlanCall &call : entry.calls)
    for (uint32_t value : call.outs)
      isUpdated[plan.value(entry, value).buffer] = true;
  std::vector<ResolvedCall> save, restore;
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    if (!isUpdated[i])
      continue;
    TensorView view = memory.view(index, i);
    AICF_ASSIGN_OR_RETURN(TensorView shadow, memory.shadow(i));
    AICF_ASSIGN_OR_RETURN(ResolvedCall out,
                          resolveUnary(device, OpKind::Copy, view, shadow));
    AICF_ASSIGN_OR_RETURN(ResolvedCall back,
                          resolveUnary(device, OpKind::Copy, shadow, view));
    save.push_back(std::move(out));
    restore.push_back(std::move(back));
  }
  prepared.firstPlanCall = save.size();
  prepared.calls.insert(prepared.calls.begin(), save.begin(), save.end());
  prepared.calls.insert(prepared.calls.end(), restore.begin(), restore.end());
  return {};
}

StatusOr<PreparedEntry> prepareEntry(const Plan &plan, size_t index,
                                     Memory &memory, Device &device,
                                     Stream &stream, bool isWarmup) {
  PreparedEntry prepared;
  AICF_RETURN_IF_ERROR(
      resolvePlanCalls(plan, index, memory, device, stream, prepared));
  if (isWarmup)
    AICF_RETURN_IF_ERROR(
        addWarmupCopies(plan, index, memory, device, prepared));
  AICF_RETURN_IF_ERROR(describeEntry(plan, index, prepared));
  return prepared;
}

Status describeEntry(const Plan &plan, size_t index, PreparedEntry &prepared) {
  const PlanEntry &entry = plan.entries[index];
  prepared.entry = &entry;
  prepared.parts = entry.runs();
  prepared.diesAfter.assign(prepared.calls.size(), {});
  prepared.readBuffers.clear();
  prepared.writtenBuffers.clear();
  AICF_ASSIGN_OR_RETURN(HappensBefore order, orderOf(entry));
  AICF_ASSIGN_OR_RETURN(EntryRegions regions,
                        EntryRegions::create(plan, entry));
  std::vector<AccessSet> accesses = accessesOf(plan, entry, order);
  for (size_t i = 0; i < accesses.size(); ++i)
    if (!accesses[i].empty() &&
        segmentOf(entry.buffers[i].role) == Segment::Temp)
      prepared.diesAfter[prepared.firstPlanCall + accesses[i].lastCall()]
          .push_back(uint32_t(plan.buffers.size() + i));
  AccessTracker tracker(regions.map(), order);
  std::unordered_set<uint32_t> read, written; // not a bit for each buffer
  for (uint32_t i = 0; i < entry.calls.size(); ++i) {
    for (uint32_t value : entry.calls[i].ins) {
      uint32_t buffer = plan.value(entry, value).buffer;
      // Never a temp or an output: the plan is verified.
      if (!tracker.isWritten(regions.ofValue(value)) &&
          read.insert(buffer).second)
        prepared.readBuffers.push_back(buffer);
    }
    for (uint32_t value : entry.calls[i].outs) {
      (void)tracker.write(regions.ofValue(value), i); // verified: no race
      written.insert(plan.value(entry, value).buffer);
    }
  }
  for (uint32_t buffer : written)
    if (buffer < plan.buffers.size() && regions.isUsed(buffer) &&
        tracker.isWritten(regions.ofValue(buffer)))
      prepared.writtenBuffers.push_back(buffer);
  std::sort(prepared.writtenBuffers.begin(), prepared.writtenBuffers.end());
  return {};
}

} // namespace aicf
