//===- Samples.cpp - legal calls of the family ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {
namespace {

Sample gemm(int64_t m, int64_t n, int transA, int transB) {
  int64_t k = (m + n) / 2 + 1;
  return {{transA ? f({k, m}) : f({m, k}), transB ? f({n, k}) : f({k, n})},
          {f({m, n})},
          encodeAttrs(GemmAttrs{transA, transB})};
}

Sample batchedGemm(std::vector<int64_t> batch, int64_t m, int64_t n, int transA,
                   int transB) {
  int64_t k = (m + n) / 4 + 1;
  auto matrices = [&](int64_t rows, int64_t columns) {
    std::vector<int64_t> shape = batch;
    shape.insert(shape.end(), {rows, columns});
    return f(shape);
  };
  return {{transA ? matrices(k, m) : matrices(m, k),
           transB ? matrices(n, k) : matrices(k, n)},
          {matrices(m, n)},
          encodeAttrs(BatchedGemmAttrs{transA, transB})};
}

} // namespace

std::vector<KindRow> gemmSamples() {
  return {
      {"batched_gemm NN", OpKind::BatchedGemm,
       [](auto m, auto n) { return batchedGemm({3}, m, n, 0, 0); }},
      {"batched_gemm NT", OpKind::BatchedGemm,
       [](auto m, auto n) { return batchedGemm({2, 3}, m, n, 0, 1); }},
      {"batched_gemm TN", OpKind::BatchedGemm,
       [](auto m, auto n) { return batchedGemm({2, 1, 2}, m, n, 1, 0); }},
      {"batched_gemm TT", OpKind::BatchedGemm,
       [](auto m, auto n) { return batchedGemm({1}, m, n, 1, 1); }},
      {"gemm NN", OpKind::Gemm,
       [](auto m, auto n) { return gemm(m, n, 0, 0); }},
      {"gemm NT", OpKind::Gemm,
       [](auto m, auto n) { return gemm(m, n, 0, 1); }},
      {"gemm TN", OpKind::Gemm,
       [](auto m, auto n) { return gemm(m, n, 1, 0); }},
      {"gemm TT", OpKind::Gemm,
       [](auto m, auto n) { return gemm(m, n, 1, 1); }},
      {"gemm rows NT", OpKind::Gemm,
       [](auto m, auto n) {
         return Sample{{f({2, m, 5}), f({n, 5})},
                       {f({2, m, n})},
                       encodeAttrs(GemmAttrs{0, 1})};
       }},
      {"gemm rows TN", OpKind::Gemm,
       [](auto m, auto n) {
         return Sample{{f({2, 5, m}), f({2, 5, n})},
                       {f({m, n})},
                       encodeAttrs(GemmAttrs{1, 0})};
       }},
      KindRow{"gemm to f32", OpKind::Gemm,
              [](auto m, auto n) {
                Sample s = gemm(m, n, 1, 0);
                s.ins[0].dtype = s.ins[1].dtype = DType::F16;
                return s;
              }}
          .mixed(),
  };
}

} // namespace aicf::test
