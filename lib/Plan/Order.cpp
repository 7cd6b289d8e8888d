//===- Order.cpp - the order of the calls of a plan's entry ---------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Order.h"

namespace aicf {

StatusOr<HappensBefore> orderOf(const PlanEntry &entry) {
  std::vector<CallOrder> orders;
  orders.reserve(entry.calls.size());
  for (const PlanCall &call : entry.calls)
    orders.push_back({call.stream, call.waits, call.signals});
  const std::vector<uint32_t> partOf = entry.partsOfCalls();
  for (size_t i = 0; i < orders.size(); ++i)
    orders[i].part = partOf[i];
  return HappensBefore::create(orders);
}

StatusOr<EntryRegions> EntryRegions::create(const Plan &plan,
                                            const PlanEntry &entry) {
  EntryRegions made;
  std::vector<RegionMap::Entry> entries;
  entries.reserve(entry.values.size() + entry.calls.size());
  auto add = [&](uint32_t number) {
    if (!made.positions.try_emplace(number, entries.size()).second)
      return;
    const PlanValue &value = plan.value(entry, number);
    entries.push_back({value.buffer, Region(value.byteOffset, value.desc)});
  };
  for (size_t i = 0; i < entry.values.size(); ++i)
    add(uint32_t(plan.values.size() + i));
  for (const PlanCall &call : entry.calls) {
    for (uint32_t value : call.ins)
      add(value);
    for (uint32_t value : call.outs)
      add(value);
    auto workspace = uint32_t(call.workspace);
    if (call.workspace >= 0) {
      made.workspaces.try_emplace(workspace, entries.size());
      entries.push_back(
          {workspace, Region(plan.buffer(entry, workspace).bytes)});
    }
  }
  AICF_ASSIGN_OR_RETURN(made.regions, RegionMap::create(entries));
  return made;
}

std::vector<AccessSet> accessesOf(const Plan &plan, const PlanEntry &entry,
                                  const HappensBefore &order) {
  // Not one for each persistent buffer: a plan may have many entries.
  std::vector<AccessSet> accesses(entry.buffers.size());
  auto add = [&](uint32_t buffer, uint32_t call) {
    if (buffer >= plan.buffers.size())
      accesses[buffer - plan.buffers.size()].add(order, call);
  };
  for (uint32_t i = 0; i < entry.calls.size(); ++i) {
    const PlanCall &call = entry.calls[i];
    for (uint32_t value : call.ins)
      add(plan.value(entry, value).buffer, i);
    for (uint32_t value : call.outs)
      add(plan.value(entry, value).buffer, i);
    if (call.workspace >= 0)
      add(static_cast<uint32_t>(call.workspace), i);
  }
  return accesses;
}

DerivedStates derivedStatesOf(const Plan &plan) {
  DerivedStates derived;
  for (uint32_t i = 0; i < plan.buffers.size(); ++i)
    if (plan.buffers[i].derivedFrom >= 0)
      derived[uint32_t(plan.buffers[i].derivedFrom)].push_back(i);
  return derived;
}

} // namespace aicf
