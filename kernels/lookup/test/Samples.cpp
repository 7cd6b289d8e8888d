//===- Samples.cpp - legal calls of the family -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {

static TensorDesc indices(DType dtype, std::vector<int64_t> shape) {
  return {dtype, shape};
}

std::vector<KindRow> lookupSamples() {
  return {
      {"pick", OpKind::Pick,
       [](auto m, auto n) {
         return Sample{{f({m, n + 40}), indices(DType::I32, {m})}, {f({m})}, {}};
       }},
      {"pick rank 3", OpKind::Pick,
       [](auto m, auto n) {
         return Sample{
             {f({2, m, n + 40}), indices(DType::I64, {2, m})}, {f({2, m})}, {}};
       }},
      {"pick_bwd", OpKind::PickBwd,
       [](auto m, auto n) {
         return Sample{{f({m}), indices(DType::I64, {m})},
                       {f({m, n + 40})},
                       encodeAttrs(PickBwdAttrs{n + 40})};
       }},
      {"embedding", OpKind::Embedding,
       [](auto m, auto n) {
         return Sample{{f({41, n}), indices(DType::I32, {m})}, {f({m, n})}, {}};
       }},
      {"embedding rank 2", OpKind::Embedding,
       [](auto m, auto n) {
         return Sample{{f({41, n}), indices(DType::I64, {2, m})},
                       {f({2, m, n})},
                       {}};
       }},
      {"embedding_bwd", OpKind::EmbeddingBwd,
       [](auto m, auto n) {
         return Sample{{f({m, n}), indices(DType::I64, {m})},
                       {f({4, n})},
                       encodeAttrs(EmbeddingBwdAttrs{4, -1})};
       }},
      {"embedding_bwd padding", OpKind::EmbeddingBwd,
       [](auto m, auto n) {
         return Sample{{f({2, m, n}), indices(DType::I32, {2, m})},
                       {f({4000, n})},
                       encodeAttrs(EmbeddingBwdAttrs{4000, 1})};
       }},
  };
}

} // namespace aicf::test
