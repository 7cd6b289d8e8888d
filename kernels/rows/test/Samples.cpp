//===- Samples.cpp - legal calls of the family ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {

std::vector<KindRow> rowsSamples() {
  return {
      {"gather_rows", OpKind::GatherRows,
       [](auto m, auto n) {
         return Sample{{f({m, n}), {DType::I32, {2 * m}}}, {f({2 * m, n})}, {}};
       }},
      {"gather_rows i64", OpKind::GatherRows,
       [](auto m, auto n) {
         return Sample{{f({m, 3, n}), {DType::I64, {5}}}, {f({5, 3, n})}, {}};
       }},
      {"shuffle", OpKind::Shuffle,
       [](auto m, auto n) {
         return Sample{{{DType::I64, {}}},
                       {{DType::I32, {m}}},
                       encodeAttrs(ShuffleAttrs{n, 7})};
       }},
      {"shuffle i32", OpKind::Shuffle,
       [](auto m, auto n) {
         return Sample{
             {i32()}, {{DType::I64, {m}}}, encodeAttrs(ShuffleAttrs{m * n, 0})};
       }},
      {"record", OpKind::Record,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({n}), i32()}, {f({m, n})}, {}};
       }},
      {"record scalar", OpKind::Record,
       [](auto m, auto) {
         return Sample{{f({m}), f({}), {DType::I64, {}}}, {f({m})}, {}};
       }},
  };
}

} // namespace aicf::test
