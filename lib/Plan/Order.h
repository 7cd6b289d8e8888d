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

#include <unordered_map>

namespace aicf {

/// The order of an entry's calls. Cannot fail on a verified plan.
StatusOr<HappensBefore> orderOf(const PlanEntry &entry);
/// The calls that access each tensor of the entry's own, in order: io and temp.
std::vector<AccessSet> accessesOf(const Plan &plan, const PlanEntry &entry,
                                  const HappensBefore &order);

/// The tids of the states that are derived from a persistent tensor, by its
/// tid. Those from which nothing is derived are left out.
using DerivedStates = std::unordered_map<uint32_t, std::vector<uint32_t>>;
DerivedStates derivedStatesOf(const Plan &plan);

} // namespace aicf

#endif // AICF_LIB_PLAN_ORDER_H
