//===- PlanView.h - a plan as a page ----------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One HTML page with everything in it: memory over the calls, calls by stream,
// a table, the bodies of calls. It needs no network. Not a part of the runtime:
// link aicfPlanView.
//===----------------------------------------------------------------------===//
#ifndef AICF_PLANVIEW_H
#define AICF_PLANVIEW_H

#include "aicf/Plan.h"

namespace aicf {

/// A plan on the page.
struct ViewedPlan {
  const Plan *plan = nullptr;
  std::string title; ///< the file's name, say
  /// What `aicf-run --profile` wrote, or empty: times of kernels by the shapes
  /// of what they take and make.
  std::string profile;
};

struct PlanViewOptions {
  /// What the device copies and computes in a second, for the least time that a
  /// call can take; 0: not known. The reader may change them on the page.
  double bytesPerSecond = 0, flopsPerSecond = 0;
};

/// The page of one plan, or of two side by side with what diffPlans() says.
/// Errors: InvalidArgument (no plan or more than two, a profile that is not
/// one).
StatusOr<std::string> viewPlans(Span<const ViewedPlan> plans,
                                const PlanViewOptions &options = {});

} // namespace aicf

#endif // AICF_PLANVIEW_H
