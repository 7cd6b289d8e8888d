//===- Rules.cpp - every rule of the family, violated once ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/RuleCases.h"

namespace aicf::test {

std::vector<RuleCase> rowsRuleCases() {
  return {
      {"gather_rows", "C1", Code::ShapeMismatch,
       in("data", std::vector<int64_t>{})},
      {"gather_rows", "", Code::DTypeMismatch, in("index", F32),
       "operand 1 (index)"},
      {"gather_rows", "C2", Code::ShapeMismatch, in("index", {6, 1})},
      {"gather_rows", "C3", Code::ShapeMismatch, out("rows", {5, 6})},
      {"gather_rows", "C3", Code::ShapeMismatch, out("rows", {6, 5})},
      {"gather_rows", "C3", Code::DTypeMismatch, out("rows", F64)},
      {"shuffle", "", Code::DTypeMismatch, in("step", F32), "operand 0 (step)"},
      {"shuffle", "C1", Code::ShapeMismatch, in("step", {1})},
      {"shuffle", "", Code::DTypeMismatch, out("index", F32),
       "result 0 (index)"},
      {"shuffle", "C2", Code::ShapeMismatch, out("index", {3, 1})},
      {"shuffle", "", Code::InvalidArgument, attr(&ShuffleAttrs::size, 0),
       "size"},
      {"shuffle", "", Code::InvalidArgument, attr(&ShuffleAttrs::size, -7),
       "size"},
      {"shuffle", "", Code::InvalidArgument,
       attr(&ShuffleAttrs::size, int64_t(1) << 31), "size"},
      {"record", "C1", Code::ShapeMismatch,
       in("history", std::vector<int64_t>{}), "of rank 0"},
      {"record", "C1", Code::ShapeMismatch, in("value", {3})},
      {"record", "C2", Code::DTypeMismatch, in("value", F64)},
      {"record", "", Code::ShapeMismatch, out("history_out", {6, 3}),
       "result 0 (history_out)"},
      {"record", "", Code::DTypeMismatch, out("history_out", F64),
       "result 0 (history_out)"},
      {"record", "", Code::DTypeMismatch, in("step", F32), "operand 2 (step)"},
      {"record", "C3", Code::ShapeMismatch, in("step", {1})},
  };
}

} // namespace aicf::test
