//===- RuntimeModule.cpp - aicf._runtime ----------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Plans, executors, op_call. Needs no LLVM.
//===----------------------------------------------------------------------===//

#include "python/src/Arrays.h"

NB_MODULE(_runtime, m) {
  using namespace aicf::python;
  m.doc() = "AICF's runtime: plans, executors, op_call.";
  registerErrors();
  defineArrays(m);
  definePlan(m);
  defineExecutor(m);
  defineOpCall(m);
}
