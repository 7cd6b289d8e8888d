//===- Rules.cpp - every rule of the family, violated once -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/RuleCases.h"

namespace aicf::test {

std::vector<RuleCase> mathRuleCases() {
  return {
      {"exp", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
      {"exp", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
      {"log_bwd", "", Code::ShapeMismatch, in("x", {18}), "operand 1 (x)"},
      {"neg", "", Code::DTypeMismatch, all(I1),
       "operand 0 (x) has element type i1, expected f16, bf16, f32, f64, i32 or "
       "i64"},
      {"floor", "", Code::DTypeMismatch, all(I64), "operand 0 (x)"},
      {"div", "", Code::DTypeMismatch, all(I32), "operand 0 (a)"},
      {"maximum", "", Code::DTypeMismatch, in("b", F64), "operand 1 (b)"},
      {"pow_scalar", "", Code::InvalidArgument,
       attr(&PowScalarAttrs::exponent, INFINITY), "exponent"},
      {"pow_scalar_bwd", "", Code::InvalidArgument,
       attr(&PowScalarBwdAttrs::exponent, NAN), "exponent"},
      {"clamp", "", Code::InvalidArgument, attr(&ClampAttrs::min, NAN),
       "min is nan, expected a number or an infinity"},
      {"clamp", "", Code::InvalidArgument, attr(&ClampAttrs::max, NAN), "max"},
      {"clamp", "C1", Code::InvalidArgument, attr(&ClampAttrs::min, 1.5),
       "min is 1.5, expected at most max, which is 1"},
      {"clamp i32", "C2", Code::InvalidArgument, attr(&ClampAttrs::min, 0.5)},
      {"clamp i32", "C2", Code::InvalidArgument, attr(&ClampAttrs::max, 1.5)},
      {"clamp i64", "C2", Code::InvalidArgument, attr(&ClampAttrs::max, 0x1p63),
       "max is 9223372036854775808, expected a whole number that i64 holds, "
       "the element type of operand 0 (x)"},
      {"clamp_bwd", "", Code::InvalidArgument, attr(&ClampBwdAttrs::min, NAN),
       "min"},
      {"clamp_bwd", "", Code::InvalidArgument, attr(&ClampBwdAttrs::max, NAN),
       "max"},
      {"clamp_bwd", "C1", Code::InvalidArgument,
       attr(&ClampBwdAttrs::max, -1.0)},
      {"div_scalar", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
      {"div_scalar", "", Code::InvalidArgument,
       attr(&DivScalarAttrs::value, INFINITY), "value"},
      {"div_scalar", "C1", Code::InvalidArgument, attr(&DivScalarAttrs::value, 0.0)},
      {"bitwise_and", "", Code::DTypeMismatch, all(F32),
       "operand 0 (a) has element type f32, expected i32 or i64"},
      {"bitwise_xor", "", Code::DTypeMismatch, all(I1), "operand 0 (a)"},
      {"bitwise_or", "", Code::DTypeMismatch, in("b", I64), "operand 1 (b)"},
      {"shift_left", "", Code::DTypeMismatch, in("b", F32), "operand 1 (b)"},
      {"shift_right", "", Code::ShapeMismatch, in("b", {6, 3}), "operand 1 (b)"},
      {"shift_right_logical", "", Code::DTypeMismatch, out("c", F32),
       "result 0 (c)"},
      {"add_scalar", "", Code::InvalidArgument,
       attr(&AddScalarAttrs::value, INFINITY), "value"},
      {"add_scalar i32", "C1", Code::InvalidArgument,
       attr(&AddScalarAttrs::value, 0.5)},
      {"add_scalar i32", "C1", Code::InvalidArgument,
       attr(&AddScalarAttrs::value, 0x1p31)},
      {"add_scalar i32", "C1", Code::InvalidArgument,
       attr(&AddScalarAttrs::value, -0x1p31 - 1)},
  };
}

} // namespace aicf::test
