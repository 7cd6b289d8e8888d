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
#include "python/src/ToolCall.h"

#ifdef AICF_HAVE_TOOLS
int aicfRunMain(int argc, char **argv);
int aicfPlanMain(int argc, char **argv);
#endif

template <typename Enum, uint8_t count>
static std::vector<std::string> namesOf() {
  std::vector<std::string> names;
  for (uint8_t i = 0; i < count; ++i)
    names.emplace_back(nameOf(static_cast<Enum>(i)));
  return names;
}

NB_MODULE(_runtime, m) {
  using namespace aicf::python;
  m.doc() = "AICF's runtime: plans, executors, op_call.";
  registerErrors();
  // Words that C++ owns, for Python to use.
  m.def("dtypes", &namesOf<aicf::DType, aicf::kNumDTypes>,
        "The element types.");
  m.def("status_codes", &namesOf<aicf::StatusCode, aicf::kNumStatusCodes>,
        "What an error is called, Ok first.");
  m.attr("MAX_RANK") = aicf::kMaxRank;
  m.attr("MAX_CONSTANT_BYTES") = aicf::kMaxConstantBytes;
  m.attr("ACCUMULATE_SUFFIX") = aicf::kAccumulateSuffix;
  defineArrays(m);
  definePlan(m);
  defineExecutor(m);
  defineOpCall(m);
#ifdef AICF_HAVE_TOOLS
  m.def(
      "aicf_run",
      [](std::vector<std::string> arguments) {
        return callTool(aicfRunMain, std::move(arguments));
      },
      nb::arg("arguments"), "The tool aicf-run; returns its exit code.");
  m.def(
      "aicf_plan",
      [](std::vector<std::string> arguments) {
        return callTool(aicfPlanMain, std::move(arguments));
      },
      nb::arg("arguments"), "The tool aicf-plan; returns its exit code.");
#endif
}
