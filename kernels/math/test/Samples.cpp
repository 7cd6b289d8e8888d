//===- Samples.cpp - legal calls of the family -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/SampleCalls.h"

#include <cmath>

namespace aicf::test {

std::vector<KindRow> mathSamples() {
  std::vector<KindRow> rows = {
      {"pow_scalar", OpKind::PowScalar,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({m, n})}, encodeAttrs(PowScalarAttrs{1.5})};
       }},
      {"pow_scalar_bwd", OpKind::PowScalarBwd,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({m, n})},
                       {f({m, n})},
                       encodeAttrs(PowScalarBwdAttrs{-0.5})};
       }},
      {"clamp", OpKind::Clamp,
       [](auto m, auto n) {
         return Sample{
             {f({m, n})}, {f({m, n})}, encodeAttrs(ClampAttrs{-0.5, 1.0})};
       }},
      {"clamp below", OpKind::Clamp,
       [](auto m, auto n) {
         return Sample{
             {f({m, n})}, {f({m, n})}, encodeAttrs(ClampAttrs{0.25, INFINITY})};
       }},
      {"clamp_bwd", OpKind::ClampBwd,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({m, n})},
                       {f({m, n})},
                       encodeAttrs(ClampBwdAttrs{-0.5, 1.0})};
       }},
      {"add_scalar", OpKind::AddScalar,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({m, n})}, encodeAttrs(AddScalarAttrs{1.5})};
       }},
      {"div_scalar", OpKind::DivScalar,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({m, n})}, encodeAttrs(DivScalarAttrs{41})};
       }},
  };
  for (DType dtype : {DType::I32, DType::I64}) {
    std::string of = dtype == DType::I32 ? " i32" : " i64";
    for (OpKind kind : {OpKind::Neg, OpKind::Abs, OpKind::Sign, OpKind::Maximum,
                        OpKind::Minimum})
      rows.push_back(uniformRow(std::string(nameOf(kind)) + of, kind, dtype));
    for (OpKind kind : {OpKind::BitwiseAnd, OpKind::BitwiseOr, OpKind::BitwiseXor,
                        OpKind::ShiftLeft, OpKind::ShiftRight,
                        OpKind::ShiftRightLogical})
      rows.push_back(uniformRow(
          std::string(nameOf(kind)) + (dtype == DType::I32 ? "" : of), kind,
          dtype));
    rows.push_back(uniformRow("clamp" + of, OpKind::Clamp, dtype,
                              encodeAttrs(ClampAttrs{1, INFINITY})));
    rows.push_back(uniformRow("add_scalar" + of, OpKind::AddScalar, dtype,
                              encodeAttrs(AddScalarAttrs{-3})));
  }
  return rows;
}

} // namespace aicf::test
