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
      {"uniform", "C1", Code::ShapeMismatch, in("step", {1})},
      {"uniform", "C2", Code::InvalidArgument, attr(&UniformAttrs::low, 3.0),
       "low is 3 and high is "},
      {"uniform", "C2", Code::InvalidArgument,
       both(attr(&UniformAttrs::low, -3e38), attr(&UniformAttrs::high, 3e38)),
       "a difference that f32 holds"},
      {"uniform", "", Code::DTypeMismatch, out("y", I32), "result 0 (y)"},
      {"uniform", "", Code::InvalidArgument,
       attr(&UniformAttrs::low, -INFINITY), "low"},
      {"uniform", "", Code::InvalidArgument, attr(&UniformAttrs::high, NAN),
       "high"},
      {"normal", "C1", Code::ShapeMismatch, in("step", {1})},
      {"normal", "", Code::DTypeMismatch, out("y", I32), "result 0 (y)"},
      {"normal", "", Code::InvalidArgument, attr(&NormalAttrs::mean, NAN),
       "mean"},
      {"normal", "", Code::InvalidArgument, attr(&NormalAttrs::std, -1.0),
       "std is -1"},
  };
}

} // namespace aicf::test
