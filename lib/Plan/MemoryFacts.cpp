//===- MemoryFacts.cpp - what values cost or spare ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/MemoryFacts.h"
#include "lib/Plan/CallFacts.h"

#include <algorithm>
#include <map>

namespace aicf {

/// What calls do with a value, or with a buffer.
struct Uses {
  bool isRead = false, isWritten = false;
  bool isMadeForward = false, isReadBackward = false;
};

/// True for a value that is only a part of its buffer, or in another order.
static bool isOfBase(const Plan &plan, const PlanEntry &entry,
                     const PlanValue &value) {
  return value.desc.layout == Layout::Strided ||
         value.desc.spanBytes() < plan.buffer(entry, value.buffer).bytes;
}

std::vector<MemoryFact> memoryFactsOf(const Plan &plan,
                                      const PlanEntry &entry) {
  const std::vector<CallPhase> phases = phasesOf(plan, entry);
  std::map<uint32_t, Uses> ofValue, ofBuffer;
  for (size_t c = 0; c < entry.calls.size(); ++c) {
    for (uint32_t in : entry.calls[c].ins) {
      ofValue[in].isRead = true;
      Uses &buffer = ofBuffer[plan.value(entry, in).buffer];
      buffer.isReadBackward |= phases[c] == CallPhase::Backward;
    }
    for (uint32_t out : entry.calls[c].outs) {
      ofValue[out].isWritten = true;
      Uses &buffer = ofBuffer[plan.value(entry, out).buffer];
      buffer.isMadeForward |= phases[c] == CallPhase::Forward;
    }
  }
  std::vector<MemoryFact> facts;
  std::map<uint32_t, bool> isSaved;
  for (const auto &[number, uses] : ofValue) {
    const PlanValue &value = plan.value(entry, number);
    if (isOfBase(plan, entry, value))
      facts.push_back({uses.isWritten ? MemoryUse::Part : MemoryUse::View,
                       number, value.desc.dense().spanBytes()});
    const PlanBuffer &buffer = plan.buffer(entry, value.buffer);
    const Uses &held = ofBuffer[value.buffer];
    if (segmentOf(buffer.role) == Segment::Temp && held.isMadeForward &&
        held.isReadBackward && !std::exchange(isSaved[value.buffer], true))
      facts.push_back({MemoryUse::Save, number, buffer.bytes});
  }
  std::stable_sort(facts.begin(), facts.end(),
                   [](const MemoryFact &a, const MemoryFact &b) {
                     return a.bytes > b.bytes;
                   });
  return facts;
}

} // namespace aicf
