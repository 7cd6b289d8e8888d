//===- Rules.cpp - every rule of the family, violated once ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/RuleCases.h"

namespace aicf::test {

std::vector<RuleCase> layoutRuleCases() {
  return {
      {"pad", "C1", Code::InvalidArgument, attr(&PadAttrs::axis, -1)},
      {"pad", "C1", Code::InvalidArgument, attr(&PadAttrs::axis, 2)},
      {"pad", "", Code::InvalidArgument, attr(&PadAttrs::begin, -1)},
      {"pad", "", Code::InvalidArgument, attr(&PadAttrs::step, 0)},
      {"pad", "C2", Code::DTypeMismatch, out("y", F64)},
      {"pad", "C3", Code::ShapeMismatch, attr(&PadAttrs::begin, 4),
       "but the last index of operand 0 (x), 3x6xf32, in dimension 1 would "
       "become 9"},
      {"pad", "C3", Code::ShapeMismatch, attr(&PadAttrs::step, 2)},
      {"pad", "C3", Code::ShapeMismatch, out("y", {4, 9})},
      {"pad", "C3", Code::ShapeMismatch, out("y", {3}), "expected 3x6xf32"},
      {"concat", "C1", Code::InvalidArgument, attr(&ConcatAttrs::axis, -1)},
      {"concat", "C1", Code::InvalidArgument, attr(&ConcatAttrs::axis, 2)},
      {"concat", "C2", Code::DTypeMismatch, in("part[1]", F64)},
      {"concat", "C2", Code::DTypeMismatch, out("y", F64)},
      {"concat", "C3", Code::ShapeMismatch, in("part[1]", {4, 2})},
      {"concat", "C3", Code::ShapeMismatch, in("part[1]", {3}),
       "expected 3x6xf32"},
      {"concat", "C3", Code::ShapeMismatch, out("y", {3, 13})},
  };
}

} // namespace aicf::test
