//===- RunAccepted.h - runs whatever the loader accepts ---------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_PLAN_RUNACCEPTED_H
#define AICF_UNITTESTS_PLAN_RUNACCEPTED_H

#include "aicf/Plan.h"

namespace aicf::test {

/// Writes every input of a plan that parse() accepted and runs every entry,
/// eagerly and as a graph, with one allocation a tensor, so that sanitizers see
/// each tensor's end; plans of other devices are interpreted. Plans above 64
/// MiB are left out. Returns how many entries ran; an error means that an
/// accepted plan did not run.
StatusOr<size_t> runAccepted(Plan plan);

} // namespace aicf::test

#endif // AICF_UNITTESTS_PLAN_RUNACCEPTED_H
