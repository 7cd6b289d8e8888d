//===- Samples.cpp - legal calls of the family ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "lib/Ops/Graphs.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {

/// A cast between types neither of which is the one under test.
static KindRow castRow(DType from, DType to) {
  std::string name =
      "cast " + std::string(nameOf(from)) + " to " + std::string(nameOf(to));
  KindRow row{name, OpKind::Cast, [=](int64_t m, int64_t n) {
                return Sample{{{from, {m, n}}}, {{to, {m, n}}}, {}};
              }};
  return row.wide();
}

/// Adds rows of casts that say their type.
static void addCastsTo(std::vector<KindRow> &rows) {
  for (uint8_t to = 0; to < kNumDTypes; ++to)
    for (uint8_t from = 0; from < kNumDTypes; ++from)
      if (auto kind = conversionTo(DType(to)); kind && from != to)
        rows.push_back({std::string(nameOf(*kind)) + " of " +
                            std::string(nameOf(DType(from))),
                        *kind, [=](int64_t m, int64_t n) {
                          return Sample{{{DType(from), {m, n}}},
                                        {{DType(to), {m, n}}},
                                        {}};
                        }});
}

/// Adds rows of integers and i1: their values are the same whatever type is
/// under test.
static void addIntegerRows(std::vector<KindRow> &rows) {
  constexpr DType kInts[] = {DType::I32, DType::I64, DType::I1};
  for (DType from : kInts)
    for (DType to : kInts)
      if (from != to)
        rows.push_back(castRow(from, to));
  for (DType dtype : {DType::I32, DType::I64}) {
    std::string of = " " + std::string(nameOf(dtype));
    for (OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul})
      rows.push_back(uniformRow(std::string(nameOf(kind)) + of, kind, dtype));
    rows.push_back(uniformRow("scale" + of, OpKind::Scale, dtype,
                              encodeAttrs(ScaleAttrs{-3})));
    rows.push_back(uniformRow("fill_like" + of, OpKind::FillLike, dtype,
                              encodeAttrs(FillLikeAttrs{7})));
  }
}

std::vector<KindRow> pointwiseSamples() {
  std::vector<KindRow> rows = {
      {"bias_add last", OpKind::BiasAdd,
       [](auto m, auto n) {
         return Sample{
             {f({m, n}), f({n})}, {f({m, n})}, encodeAttrs(BiasAddAttrs{-1})};
       }},
      {"bias_add first", OpKind::BiasAdd,
       [](auto m, auto n) {
         return Sample{
             {f({m, n}), f({m})}, {f({m, n})}, encodeAttrs(BiasAddAttrs{0})};
       }},
      {"bias_add middle", OpKind::BiasAdd,
       [](auto m, auto n) {
         return Sample{{f({2, m, n}), f({m})},
                       {f({2, m, n})},
                       encodeAttrs(BiasAddAttrs{1})};
       }},
      {"bias_add rows", OpKind::BiasAdd,
       [](auto m, auto n) {
         return Sample{{f({2, m, n}), f({n})},
                       {f({2, m, n})},
                       encodeAttrs(BiasAddAttrs{-1})};
       }},
      {"relu rows", OpKind::Relu,
       [](auto m, auto n) {
         return Sample{{f({2, m, n})}, {f({2, m, n})}, {}};
       }},
      {"relu_bwd rows", OpKind::ReluBwd,
       [](auto m, auto n) {
         return Sample{{f({2, m, n}), f({2, m, n})}, {f({2, m, n})}, {}};
       }},
      {"gelu erf", OpKind::Gelu,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({m, n})}, encodeAttrs(GeluAttrs{0})};
       }},
      {"gelu tanh", OpKind::Gelu,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({m, n})}, encodeAttrs(GeluAttrs{1})};
       }},
      {"gelu_bwd erf", OpKind::GeluBwd,
       [](auto m, auto n) {
         return Sample{
             {f({m, n}), f({m, n})}, {f({m, n})}, encodeAttrs(GeluBwdAttrs{0})};
       }},
      {"gelu_bwd tanh", OpKind::GeluBwd,
       [](auto m, auto n) {
         return Sample{
             {f({m, n}), f({m, n})}, {f({m, n})}, encodeAttrs(GeluBwdAttrs{1})};
       }},
      {"copy", OpKind::Copy,
       [](auto m, auto n) { return Sample{{f({m, n})}, {f({m, n})}, {}}; }},
      {"copy_saved", OpKind::CopySaved,
       [](auto m, auto n) { return Sample{{f({m, n})}, {f({m, n})}, {}}; }},
      {"scale", OpKind::Scale,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({m, n})}, encodeAttrs(ScaleAttrs{-1.5})};
       }},
      {"fill_like", OpKind::FillLike,
       [](auto m, auto n) {
         return Sample{
             {f({m, n})}, {f({m, n})}, encodeAttrs(FillLikeAttrs{0.25})};
       }},
      KindRow{"cast", OpKind::Cast,
              [](auto m, auto n) {
                return Sample{{f({m, n})}, {half({m, n})}, {}};
              }}
          .mixed(),
      KindRow{"cast wider", OpKind::Cast,
              [](auto m, auto n) {
                return Sample{{half({m, n})}, {f({m, n})}, {}};
              }}
          .mixed(),
      {"cast to i32", OpKind::Cast,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {{DType::I32, {m, n}}}, {}};
       }},
      {"cast to i64", OpKind::Cast,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {{DType::I64, {m, n}}}, {}};
       }},
      {"cast to i1", OpKind::Cast,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {{DType::I1, {m, n}}}, {}};
       }},
      {"cast of i32", OpKind::Cast,
       [](auto m, auto n) {
         return Sample{{{DType::I32, {m, n}}}, {f({m, n})}, {}};
       }},
      {"cast of i64", OpKind::Cast,
       [](auto m, auto n) {
         return Sample{{{DType::I64, {m, n}}}, {f({m, n})}, {}};
       }},
      {"cast of i1", OpKind::Cast,
       [](auto m, auto n) {
         return Sample{{{DType::I1, {m, n}}}, {f({m, n})}, {}};
       }},
  };
  addCastsTo(rows);
  addIntegerRows(rows);
  return rows;
}

} // namespace aicf::test
