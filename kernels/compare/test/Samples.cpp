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

static TensorDesc bits(std::vector<int64_t> shape) {
  return {DType::I1, shape};
}

/// A comparison of two tensors of `dtype`.
static KindRow comparison(std::string name, OpKind kind, DType dtype) {
  KindRow row{std::move(name), kind, [=](int64_t m, int64_t n) {
                return Sample{{{dtype, {m, n}}, {dtype, {m, n}}},
                              {bits({m, n})},
                              {}};
              }};
  return isFloat(dtype) ? row : row.wide();
}

/// A comparison with a number.
static KindRow scalarComparison(std::string name, OpKind kind, DType dtype,
                                double value) {
  KindRow row{std::move(name), kind, [=](int64_t m, int64_t n) {
                return Sample{{{dtype, {m, n}}},
                              {bits({m, n})},
                              encodeAttrs(EqualScalarAttrs{value})};
              }};
  return isFloat(dtype) ? row : row.wide();
}

static KindRow where(std::string name, DType dtype) {
  KindRow row{std::move(name), OpKind::Where, [=](int64_t m, int64_t n) {
                TensorDesc of(dtype, {m, n});
                return Sample{{bits({m, n}), of, of}, {of}, {}};
              }};
  return isFloat(dtype) ? row : row.wide();
}

static KindRow maskedFill(std::string name, DType dtype, double value,
                          int32_t inverted) {
  KindRow row{std::move(name), OpKind::MaskedFill, [=](int64_t m, int64_t n) {
                TensorDesc of(dtype, {m, n});
                return Sample{{of, bits({m, n})},
                              {of},
                              encodeAttrs(MaskedFillAttrs{value, inverted})};
              }};
  return isFloat(dtype) ? row : row.wide();
}

std::vector<KindRow> compareSamples() {
  std::vector<KindRow> rows = {
      maskedFill("masked_fill", DType::F32, -1.5, 0),
      maskedFill("masked_fill inverted", DType::F32, 0.25, 1),
      maskedFill("masked_fill i64", DType::I64, 7, 0),
      where("where", DType::F32), where("where i32", DType::I32),
      where("where i64", DType::I64), where("where i1", DType::I1),
      comparison("equal i1", OpKind::Equal, DType::I1),
      comparison("not_equal i1", OpKind::NotEqual, DType::I1)};
  for (auto [dtype, of] :
       {std::pair(DType::F32, ""), std::pair(DType::I32, " i32"),
        std::pair(DType::I64, " i64")}) {
    for (OpKind kind : {OpKind::Equal, OpKind::NotEqual, OpKind::Less,
                        OpKind::LessEqual})
      rows.push_back(
          comparison(std::string(nameOf(kind)) + of, kind, dtype));
    for (OpKind kind :
         {OpKind::EqualScalar, OpKind::NotEqualScalar, OpKind::LessScalar,
          OpKind::LessEqualScalar, OpKind::GreaterScalar,
          OpKind::GreaterEqualScalar})
      rows.push_back(
          scalarComparison(std::string(nameOf(kind)) + of, kind, dtype,
                           dtype == DType::F32 ? 0.1 : 1));
  }
  for (OpKind kind : {OpKind::LogicalAnd, OpKind::LogicalOr, OpKind::LogicalXor,
                      OpKind::LogicalNot})
    rows.push_back(uniformRow(std::string(nameOf(kind)), kind, DType::I1));
  return rows;
}

} // namespace aicf::test
