//===- PlanCosts.h - what a plan takes, from the plan alone -----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_PYTHON_PLANCOSTS_H
#define AICF_PYTHON_PLANCOSTS_H

#include "aicf/Plan.h"

#include <nanobind/nanobind.h>

namespace aicf::python {

/// One dict for each call: entry, op, kid, and the flops and bytes of
/// lib/Plan/CallFacts.h.
nanobind::list planCosts(const Plan &plan);
/// Bytes of the persistent segment, and of each entry's io and temp.
nanobind::dict planMemory(const Plan &plan);

} // namespace aicf::python

#endif // AICF_PYTHON_PLANCOSTS_H
