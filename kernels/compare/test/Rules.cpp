//===- Rules.cpp - every rule of the family, violated once -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/RuleCases.h"

namespace aicf::test {

std::vector<RuleCase> compareRuleCases() {
  return {
      {"equal", "", Code::DTypeMismatch, out("c", F32),
       "result 0 (c) has element type f32, expected i1"},
      {"equal", "", Code::ShapeMismatch, out("c", {18}), "result 0 (c)"},
      {"less", "", Code::DTypeMismatch, all(I1), "operand 0 (a)"},
      {"less", "", Code::DTypeMismatch, in("b", F64), "operand 1 (b)"},
      {"logical_and", "", Code::DTypeMismatch, all(I32),
       "operand 0 (a) has element type i32, expected i1"},
      {"logical_not", "", Code::DTypeMismatch, all(F32), "operand 0 (x)"},
      {"where", "", Code::DTypeMismatch, in("condition", I32),
       "operand 0 (condition)"},
      {"where", "C1", Code::ShapeMismatch, in("condition", {3, 1})},
      {"where", "", Code::DTypeMismatch, in("b", F64), "operand 2 (b)"},
      {"masked_fill", "", Code::DTypeMismatch, in("mask", F32),
       "operand 1 (mask)"},
      {"masked_fill", "C1", Code::ShapeMismatch, in("mask", {6})},
      {"masked_fill i64", "C2", Code::InvalidArgument,
       attr(&MaskedFillAttrs::value, 0.5)},
      {"masked_fill i64", "C2", Code::InvalidArgument,
       attr(&MaskedFillAttrs::value, INFINITY)},
      {"masked_fill", "", Code::InvalidArgument,
       attr(&MaskedFillAttrs::value, NAN), "value"},
      {"masked_fill", "", Code::InvalidArgument,
       attr(&MaskedFillAttrs::inverted, 2), "inverted"},
      {"equal_scalar", "", Code::InvalidArgument,
       attr(&EqualScalarAttrs::value, NAN), "value"},
      {"equal_scalar i32", "C1", Code::InvalidArgument,
       attr(&EqualScalarAttrs::value, 0.5)},
      {"not_equal_scalar", "", Code::InvalidArgument,
       attr(&NotEqualScalarAttrs::value, NAN), "value"},
      {"not_equal_scalar i32", "C1", Code::InvalidArgument,
       attr(&NotEqualScalarAttrs::value, 0.5)},
      {"less_scalar", "", Code::InvalidArgument,
       attr(&LessScalarAttrs::value, NAN), "value"},
      {"less_scalar i32", "C1", Code::InvalidArgument,
       attr(&LessScalarAttrs::value, 0.5)},
      {"less_equal_scalar", "", Code::InvalidArgument,
       attr(&LessEqualScalarAttrs::value, NAN), "value"},
      {"less_equal_scalar i32", "C1", Code::InvalidArgument,
       attr(&LessEqualScalarAttrs::value, 0.5)},
      {"greater_scalar", "", Code::InvalidArgument,
       attr(&GreaterScalarAttrs::value, NAN), "value"},
      {"greater_scalar i32", "C1", Code::InvalidArgument,
       attr(&GreaterScalarAttrs::value, 0.5)},
      {"greater_equal_scalar", "", Code::InvalidArgument,
       attr(&GreaterEqualScalarAttrs::value, NAN), "value"},
      {"greater_equal_scalar i32", "C1", Code::InvalidArgument,
       attr(&GreaterEqualScalarAttrs::value, 0.5)},
  };
}

} // namespace aicf::test
