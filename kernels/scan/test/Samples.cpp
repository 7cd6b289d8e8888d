//===- Samples.cpp - legal calls of the family -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {

std::vector<KindRow> scanSamples() {
  std::vector<KindRow> rows;
  for (int64_t axis : {0, 1})
    for (bool isReversed : {false, true})
      rows.push_back(
          {std::string("cumsum ") + (axis ? "rows" : "columns") +
               (isReversed ? " reversed" : ""),
           OpKind::Cumsum, [=](int64_t m, int64_t n) {
             return Sample{{f({m, n})},
                           {f({m, n})},
                           encodeAttrs(CumsumAttrs{axis, isReversed})};
           }});
  rows.push_back({"cumsum middle", OpKind::Cumsum, [](auto m, auto n) {
                    return Sample{{f({2, m, n})},
                                  {f({2, m, n})},
                                  encodeAttrs(CumsumAttrs{1, 0})};
                  }});
  rows.push_back(uniformRow("cumsum i64", OpKind::Cumsum, DType::I64,
                            encodeAttrs(CumsumAttrs{1, 0})));
  return rows;
}

} // namespace aicf::test
