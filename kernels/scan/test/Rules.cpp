//===- Rules.cpp - every rule of the family, violated once -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/RuleCases.h"

namespace aicf::test {

std::vector<RuleCase> scanRuleCases() {
  return {
      {"cumsum rows", "", Code::DTypeMismatch, all(I1), "operand 0 (x)"},
      {"cumsum rows", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
      {"cumsum rows", "C1", Code::InvalidArgument, attr(&CumsumAttrs::axis, 2)},
      {"cumsum rows", "", Code::InvalidArgument, attr(&CumsumAttrs::axis, -1),
       "axis"},
      {"cumsum rows", "", Code::InvalidArgument,
       attr(&CumsumAttrs::reversed, 2), "reversed"},
  };
}

} // namespace aicf::test
