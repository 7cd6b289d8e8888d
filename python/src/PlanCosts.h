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

/// A dict a call: entry, op, kid, flops and bytes, those that it reads and
/// writes. A gemm counts 2·M·N·K; every other primitive one operation for each
/// element that it makes, copies none.
nanobind::list planCosts(const Plan &plan);
/// Bytes of the persistent segment, and of each entry's io and temp.
nanobind::dict planMemory(const Plan &plan);

} // namespace aicf::python

#endif // AICF_PYTHON_PLANCOSTS_H
