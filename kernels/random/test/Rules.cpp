//===- Rules.cpp - every rule of the family, violated once ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/RuleCases.h"

namespace aicf::test {

std::vector<RuleCase> randomRuleCases() {
  return {
      {"dropout", "", Code::DTypeMismatch, in("x", I32), "operand 0 (x)"},
      {"dropout", "", Code::DTypeMismatch, in("step", F32), "operand 1 (step)"},
      {"dropout", "C1", Code::ShapeMismatch, in("step", {1})},
      {"dropout", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
      {"dropout", "", Code::InvalidArgument, attr(&DropoutAttrs::p, 1),
       "p is 1"},
      {"dropout", "", Code::InvalidArgument, attr(&DropoutAttrs::p, -0.1),
       "p is -0.1"},
      {"dropout", "", Code::InvalidArgument, attr(&DropoutAttrs::p, NAN),
       "p is nan"},
  };
}

} // namespace aicf::test
