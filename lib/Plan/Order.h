//===- Order.h - the order of the calls of a plan's entry -------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_PLAN_ORDER_H
#define AICF_LIB_PLAN_ORDER_H

#include "aicf/Plan.h"
#include "lib/Schedule/HappensBefore.h"
#include "lib/Schedule/Region.h"

#include <unordered_map>

namespace aicf {

/// The order of an entry's calls. Cannot fail on a verified plan.
StatusOr<HappensBefore> orderOf(const PlanEntry &entry);

/// The bytes that the calls of an entry access.
class EntryRegions {
public:
  /// Errors: RegionMap::create()'s; none on a verified plan.
  static StatusOr<EntryRegions> create(const Plan &plan,
                                       const PlanEntry &entry);
  const RegionMap &map() const { return regions; }
  /// Returns the region of a value that some call takes or makes, or of one of
  /// the entry's own.
  uint32_t ofValue(uint32_t value) const {
    return regions.regionOf(positions.at(value));
  }
  /// All of a buffer that some call has for its workspace.
  uint32_t ofWorkspace(uint32_t buffer) const {
    return regions.regionOf(workspaces.at(buffer));
  }
  bool isUsed(uint32_t value) const { return positions.count(value) > 0; }

private:
  RegionMap regions;
  /// Not one for each persistent value: a plan may have many entries.
  std::unordered_map<uint32_t, size_t> positions, workspaces;
};

/// The calls that access each buffer of the entry's own, in order.
std::vector<AccessSet> accessesOf(const Plan &plan, const PlanEntry &entry,
                                  const HappensBefore &order);

/// The numbers of the states that are derived from a persistent buffer, by its
/// number. Those from which nothing is derived are left out.
using DerivedStates = std::unordered_map<uint32_t, std::vector<uint32_t>>;
DerivedStates derivedStatesOf(const Plan &plan);

} // namespace aicf

#endif // AICF_LIB_PLAN_ORDER_H
