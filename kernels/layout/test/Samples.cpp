//===- Samples.cpp - legal calls of the family ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {

std::vector<KindRow> layoutSamples() {
  return {
      {"pad", OpKind::Pad,
       [](auto m, auto n) {
         return Sample{
             {f({m, n})}, {f({m, n + 3})}, encodeAttrs(PadAttrs{1, 2, 1})};
       }},
      {"pad steps", OpKind::Pad,
       [](auto m, auto n) {
         return Sample{{f({2, m, n})},
                       {f({2, 3 * m + 1, n})},
                       encodeAttrs(PadAttrs{1, 1, 3})};
       }},
      {"concat", OpKind::Concat,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({m, 2}), f({m, n})},
                       {f({m, 2 * n + 2})},
                       encodeAttrs(ConcatAttrs{1})};
       }},
      {"concat rows", OpKind::Concat,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({1, n})},
                       {f({m + 1, n})},
                       encodeAttrs(ConcatAttrs{0})};
       }},
      {"concat alone", OpKind::Concat,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({m, n})}, encodeAttrs(ConcatAttrs{0})};
       }},
  };
}

} // namespace aicf::test
