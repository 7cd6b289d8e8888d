//===- Rules.cpp - every rule of the family, violated once ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/RuleCases.h"

namespace aicf::test {

std::vector<RuleCase> pointwiseRuleCases() {
  return {
      {"bias_add last", "C1", Code::ShapeMismatch, in("b", {6, 1})},
      {"bias_add last", "", Code::DTypeMismatch, all(I32), "operand 0 (y)"},
      {"bias_add last", "C1", Code::DTypeMismatch, in("b", F64)},
      {"bias_add last", "", Code::DTypeMismatch, out("out", F64),
       "result 0 (out)"},
      {"bias_add last", "C2", Code::InvalidArgument,
       attr(&BiasAddAttrs::axis, -2)},
      {"bias_add last", "C2", Code::InvalidArgument,
       attr(&BiasAddAttrs::axis, 2)},
      {"bias_add last", "C2", Code::InvalidArgument,
       both(in("y", std::vector<int64_t>{}),
            out("out", std::vector<int64_t>{}))},
      {"bias_add last", "C3", Code::ShapeMismatch, in("b", {3})},
      {"bias_add first", "C3", Code::ShapeMismatch, in("b", {6})},
      {"bias_add middle", "C3", Code::ShapeMismatch, in("b", {6})},
      {"bias_add last", "", Code::ShapeMismatch, out("out", {6, 3}),
       "result 0 (out)"},
      {"scale", "", Code::DTypeMismatch, all(I1), "operand 0 (x)"},
      {"scale i32", "C1", Code::InvalidArgument,
       attr(&ScaleAttrs::factor, 0.5),
       "factor is 0.5, expected a whole number that i32 holds, the element "
       "type of operand 0 (x)"},
      {"scale", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
      {"fill_like", "", Code::DTypeMismatch, all(I1), "operand 0 (x)"},
      {"fill_like i64", "C1", Code::InvalidArgument,
       attr(&FillLikeAttrs::value, 0.5)},
      {"fill_like", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
      {"gelu erf", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
      {"gelu erf", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
      {"gelu tanh", "", Code::InvalidArgument, attr(&GeluAttrs::approximate, 2),
       "approximate"},
      {"gelu_bwd erf", "", Code::ShapeMismatch, in("x", {18}), "operand 1 (x)"},
      {"gelu_bwd tanh", "", Code::InvalidArgument,
       attr(&GeluBwdAttrs::approximate, -1), "approximate"},
      {"scale", "", Code::InvalidArgument, attr(&ScaleAttrs::factor, INFINITY),
       "factor"},
      {"scale", "", Code::InvalidArgument,
       both(all(F64), attr(&ScaleAttrs::factor, INFINITY)),
       "factor is inf, expected a finite number"},
      {"fill_like", "", Code::InvalidArgument, attr(&FillLikeAttrs::value, NAN),
       "value"},
      {"copy", "", Code::InvalidArgument, addOut(kScalar),
       "got 2 results, expected 1"},
      {"copy", "", Code::DTypeMismatch, out("y", I32), "result 0 (y)"},
      {"copy", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
      {"copy_saved", "", Code::DTypeMismatch, out("y", I32), "result 0 (y)"},
      {"copy_saved", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
      {"cast", "C1", Code::ShapeMismatch, out("y", {18})},
  };
}

} // namespace aicf::test
