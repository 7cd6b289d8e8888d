//===- Rules.cpp - every rule of the family, violated once ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/RuleCases.h"

namespace aicf::test {

std::vector<RuleCase> softmaxRuleCases() {
  return {
      {"softmax", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
      {"softmax", "C1", Code::ShapeMismatch,
       both(in("x", std::vector<int64_t>{}), out("y", std::vector<int64_t>{}))},
      {"softmax", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
      {"softmax_bwd", "", Code::DTypeMismatch, all(I32), "operand 0 (dy)"},
      {"softmax_bwd", "", Code::ShapeMismatch, in("y", {18}), "operand 1 (y)"},
      {"softmax_bwd", "C1", Code::ShapeMismatch,
       both(in("dy", std::vector<int64_t>{}), in("y", std::vector<int64_t>{}))},
      {"softmax_bwd", "", Code::ShapeMismatch, out("dx", {18}),
       "result 0 (dx)"},
      {"log_softmax", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
      {"log_softmax", "C1", Code::ShapeMismatch,
       both(in("x", std::vector<int64_t>{}), out("y", std::vector<int64_t>{}))},
      {"log_softmax_bwd", "", Code::ShapeMismatch, in("y", {18}),
       "operand 1 (y)"},
      {"log_softmax_bwd", "C1", Code::ShapeMismatch,
       both(in("dy", std::vector<int64_t>{}), in("y", std::vector<int64_t>{}))},
      {"argmax", "", Code::DTypeMismatch, in("x", I32), "operand 0 (x)"},
      {"argmax", "C1", Code::ShapeMismatch, in("x", std::vector<int64_t>{})},
      {"argmax", "C2", Code::ShapeMismatch, out("index", {6})},
      {"argmax", "", Code::DTypeMismatch, out("index", I64),
       "result 0 (index)"},
      {"top_k", "", Code::DTypeMismatch, in("x", I32), "operand 0 (x)"},
      {"top_k", "", Code::DTypeMismatch, out("index", I64), "result 0 (index)"},
      {"top_k", "", Code::InvalidArgument, attr(&TopKAttrs::k, int64_t(0)), "k"},
      {"top_k", "C1", Code::ShapeMismatch, in("x", std::vector<int64_t>{})},
      {"top_k", "C2", Code::InvalidArgument, attr(&TopKAttrs::k, int64_t(1000))},
      {"top_k", "C3", Code::ShapeMismatch, out("index", {6})},
  };
}

} // namespace aicf::test
