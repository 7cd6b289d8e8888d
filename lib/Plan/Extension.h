//===- Extension.h - a plan, and one that has more --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A program that gets one more entry goes on with another plan: that of the
// whole program, compiled again, or its own with the new entry behind the
// others. This makes the latter, and says what a new plan has unchanged, so
// that an executor keeps the values, the addresses and the graphs of it. It
// moves no memory.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_PLAN_EXTENSION_H
#define AICF_LIB_PLAN_EXTENSION_H

#include "aicf/Plan.h"

namespace aicf {

struct PlanExtension {
  /// By number in the new plan: the number of the same persistent buffer in the
  /// old one, or -1. "The same" is name, role, type and layout; where it lies
  /// is not.
  std::vector<int64_t> persistent;
  /// By entry of the new plan: the old plan's entry that runs the same calls on
  /// the same values, or -1.
  std::vector<int64_t> entries;
  /// By entry of the new plan: the old plan's entry of that name, or -1. Inputs
  /// and outputs of one that changed are still the caller's.
  std::vector<int64_t> named;
};

/// Errors: InvalidArgument if `next` lacks an entry or a buffer that `plan`
/// has, or has a buffer of that name with another role or type. Derived states
/// may go and change: they hold no values of their own.
StatusOr<PlanExtension> matchExtension(const Plan &plan, const Plan &next);

/// Returns `plan` with the entries of `more` behind its own. A persistent
/// buffer that both have, by its name, becomes one. Those that only `more` has
/// come last. Errors: InvalidArgument (another device; an entry of a name that
/// `plan` has; a buffer of a name has another role, type, layout, first value
/// or source); InvalidPlan (such as a new copy of what an entry of `plan`
/// updates).
StatusOr<Plan> appendEntries(const Plan &plan, const Plan &more);

} // namespace aicf

#endif // AICF_LIB_PLAN_EXTENSION_H
