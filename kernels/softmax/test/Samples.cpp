//===- Samples.cpp - legal calls of the family ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {

std::vector<KindRow> softmaxSamples() {
  return {
      {"softmax", OpKind::Softmax,
       [](auto m, auto n) { return Sample{{f({m, n})}, {f({m, n})}, {}}; }},
      {"softmax rank 3", OpKind::Softmax,
       [](auto m, auto n) {
         return Sample{{f({2, m, n})}, {f({2, m, n})}, {}};
       }},
      {"softmax_bwd", OpKind::SoftmaxBwd,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({m, n})}, {f({m, n})}, {}};
       }},
      {"log_softmax", OpKind::LogSoftmax,
       [](auto m, auto n) { return Sample{{f({m, n})}, {f({m, n})}, {}}; }},
      {"log_softmax_bwd", OpKind::LogSoftmaxBwd,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({m, n})}, {f({m, n})}, {}};
       }},
      {"argmax", OpKind::Argmax,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {{DType::I32, {m}}}, {}};
       }},
      {"argmax rank 1", OpKind::Argmax,
       [](auto, auto n) { return Sample{{f({n})}, {i32()}, {}}; }},
      {"top_k", OpKind::TopK,
       [](auto m, auto n) {
         int64_t k = (n + 1) / 2;
         return Sample{{f({m, n})},
                       {{DType::I32, {m, k}}},
                       encodeAttrs(TopKAttrs{k})};
       }},
  };
}

} // namespace aicf::test
