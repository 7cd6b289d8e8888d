//===- RuntimeModule.cpp - aicf._runtime ----------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Plans, executors, op_call. Needs no LLVM.
//===----------------------------------------------------------------------===//

#include "aicf/EntryNames.h"
#include "python/src/Arrays.h"

NB_MODULE(_runtime, m) {
  using namespace aicf::python;
  m.doc() = "AICF's runtime: plans, executors, op_call.";
  registerErrors();
  // Words that C++ owns, for Python to use.
  nb::list dtypes, codes;
  for (uint8_t i = 0; i < aicf::kNumDTypes; ++i)
    dtypes.append(std::string(nameOf(static_cast<aicf::DType>(i))));
  for (uint8_t i = 1; i < aicf::kNumStatusCodes; ++i)
    codes.append(std::string(nameOf(static_cast<aicf::StatusCode>(i))));
  m.attr("DTYPES") = nb::tuple(dtypes);
  m.attr("STATUS_CODES") = nb::tuple(codes);
  m.attr("MAX_RANK") = aicf::kMaxRank;
  m.attr("ACCUMULATE_SUFFIX") = aicf::kAccumulateSuffix;
  defineArrays(m);
  definePlan(m);
  defineExecutor(m);
  defineOpCall(m);
}
