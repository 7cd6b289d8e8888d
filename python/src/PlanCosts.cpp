//===- PlanCosts.cpp - what a plan takes, from the plan alone -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/src/PlanCosts.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Plan/CallFacts.h"
#include "lib/Plan/MemoryFacts.h"
#include "python/src/Errors.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace aicf::python {

nb::list planCosts(const Plan &plan) {
  nb::list list;
  for (const PlanEntry &entry : plan.entries) {
    std::vector<uint32_t> times = timesOf(entry);
    for (size_t i = 0; i < entry.calls.size(); ++i) {
      const PlanCall &call = entry.calls[i];
      nb::dict one;
      one["entry"] = entry.name;
      one["op"] = primitiveNames(*call.body);
      one["kid"] = call.kid;
      one["flops"] = times[i] * flopsOf(plan, entry, call);
      one["bytes"] = times[i] * bytesOf(plan, entry, call);
      one["times"] = times[i];
      one["location"] = call.location;
      list.append(one);
    }
  }
  return list;
}

/// The values of one use: of each what it is, its label and bytes.
static nb::list memoryOf(const Plan &plan, const PlanEntry &entry,
                         const std::vector<MemoryFact> &facts, MemoryUse use) {
  nb::list values;
  for (const MemoryFact &fact : facts) {
    if (fact.use != use)
      continue;
    const PlanValue &value = plan.value(entry, fact.value);
    nb::dict one;
    one["value"] = value.desc.toString();
    one["vid"] = value.vid;
    one["bytes"] = fact.bytes;
    values.append(one);
  }
  return values;
}

nb::dict planMemory(const Plan &plan) {
  nb::dict memory, entries;
  memory["persistent_bytes"] = plan.persistentBytes;
  for (const PlanEntry &entry : plan.entries) {
    nb::dict one;
    one["io_bytes"] = entry.ioBytes;
    one["temp_bytes"] = entry.tempBytes;
    one["temp_lower_bound_bytes"] = entry.tempLowerBound;
    const std::vector<MemoryFact> facts = memoryFactsOf(plan, entry);
    one["saves"] = memoryOf(plan, entry, facts, MemoryUse::Save);
    one["views"] = memoryOf(plan, entry, facts, MemoryUse::View);
    one["parts"] = memoryOf(plan, entry, facts, MemoryUse::Part);
    entries[entry.name.c_str()] = one;
  }
  memory["entries"] = entries;
  return memory;
}

} // namespace aicf::python
