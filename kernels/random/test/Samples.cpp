//===- Samples.cpp - legal calls of the family ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {

std::vector<KindRow> randomSamples() {
  return {
      {"dropout", OpKind::Dropout,
       [](auto m, auto n) {
         return Sample{{f({m, n}), {DType::I64, {}}},
                       {f({m, n})},
                       encodeAttrs(DropoutAttrs{0.25, 7})};
       }},
      {"dropout i32", OpKind::Dropout,
       [](auto m, auto n) {
         return Sample{{f({m, n}), i32()},
                       {f({m, n})},
                       encodeAttrs(DropoutAttrs{0.75, -1})};
       }},
      {"uniform", OpKind::Uniform,
       [](auto m, auto n) {
         return Sample{{{DType::I64, {}}},
                       {f({m, n})},
                       encodeAttrs(UniformAttrs{-1, 2, 7})};
       }},
      {"normal", OpKind::Normal,
       [](auto m, auto n) {
         return Sample{
             {i32()}, {f({m, n})}, encodeAttrs(NormalAttrs{0.5, 2, -3})};
       }},
  };
}

} // namespace aicf::test
