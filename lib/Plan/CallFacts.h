//===- CallFacts.h - what a plan says of its calls --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Costs and phases of calls, of a verified plan alone. Nothing is measured.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_PLAN_CALLFACTS_H
#define AICF_LIB_PLAN_CALLFACTS_H

#include "aicf/Plan.h"

namespace aicf {

/// Floating-point operations, as the records of the primitives count them
/// (`flops`): of a product 2·M·N·K.
double flopsOf(const Plan &plan, const PlanEntry &entry, const PlanCall &call);

/// Bytes that the call reads and writes, each operand and result once; of an
/// operand in which rows are looked up (`lookedUp`), as many as are read.
uint64_t bytesOf(const Plan &plan, const PlanEntry &entry,
                 const PlanCall &call);

/// Which part of a step a call is in.
enum class CallPhase : uint8_t { Forward, Backward, Update };
std::string_view nameOf(CallPhase phase);

/// Returns the phase of each call. An update is what its record says, and what
/// updates alone read and is not a gradient. Of the others those are backward that
/// compute a gradient or read what depends on one, but not a call that makes an
/// output, too, which needs none: a loss with its gradient. What stands behind the
/// first of these and is read by no forward call is computed again for them.
std::vector<CallPhase> phasesOf(const Plan &plan, const PlanEntry &entry);

/// Returns for each call the calls on other streams that it waits for.
std::vector<std::vector<uint32_t>> waitedFor(const PlanEntry &entry);

/// How often each call runs in a run of the entry.
std::vector<uint32_t> timesOf(const PlanEntry &entry);

/// Returns for each call the bytes of the temps that live while it runs, workspaces
/// among them, where calls run in the order of the list.
std::vector<uint64_t> bytesAlive(const Plan &plan, const PlanEntry &entry);

} // namespace aicf

#endif // AICF_LIB_PLAN_CALLFACTS_H
