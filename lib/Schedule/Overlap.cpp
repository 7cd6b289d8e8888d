//===- Overlap.cpp - byte ranges against lifetimes ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Overlap.h"

#include <algorithm>
#include <set>

namespace aicf {

std::optional<std::pair<size_t, size_t>>
findConflict(Span<const PlacedRange> ranges, const HappensBefore &order) {
  struct Event {
    uint64_t address;
    bool opens; // at one address ranges close before others open
    size_t range;
  };
  std::vector<Event> events;
  events.reserve(2 * ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    events.push_back({ranges[i].begin, true, i});
    events.push_back({ranges[i].end, false, i});
  }
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return a.address != b.address ? a.address < b.address : a.opens < b.opens;
  });
  // The ranges over the current address, by first access in list order, which
  // extends happens-before.
  std::set<std::pair<uint32_t, size_t>> open;
  auto ordered = [&](size_t a, size_t b) {
    return ranges[a].accesses->allBefore(order, *ranges[b].accesses);
  };
  for (const Event &event : events) {
    std::pair<uint32_t, size_t> key = {
        ranges[event.range].accesses->firstCall(), event.range};
    if (!event.opens) {
      open.erase(key);
      continue;
    }
    auto it = open.insert(key).first;
    if (it != open.begin() && !ordered(std::prev(it)->second, event.range))
      return std::pair(std::prev(it)->second, event.range);
    if (std::next(it) != open.end() &&
        !ordered(event.range, std::next(it)->second))
      return std::pair(event.range, std::next(it)->second);
  }
  return std::nullopt;
}

} // namespace aicf
