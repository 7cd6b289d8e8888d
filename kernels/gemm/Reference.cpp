//===- Reference.cpp - matrix products in f64 -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

namespace aicf::reference {

void compute(const GemmView<Call> &call) {
  auto attrs = call.attrs();
  auto &a = call.a(), &b = call.b();
  int64_t m = call.c().desc.rows(), n = call.c().desc.width();
  int64_t k = attrs.transA ? a.desc.rows() : a.desc.width();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += a[size_t(attrs.transA ? l * m + i : i * k + l)] *
               b[size_t(attrs.transB ? j * k + l : l * n + j)];
      call.c()[size_t(i * n + j)] = sum;
    }
}

void compute(const BatchedGemmView<Call> &call) {
  auto attrs = call.attrs();
  const Tensor &a = call.a(), &b = call.b();
  Tensor &c = call.c();
  size_t m = size_t(c.dim(c.desc.rank - 2u)), n = size_t(c.desc.width());
  size_t batches = c.size() / (m * n), k = a.size() / (batches * m);
  for (size_t z = 0; z < batches; ++z)
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (size_t l = 0; l < k; ++l)
          sum += a[z * m * k + (attrs.transA ? l * m + i : i * k + l)] *
                 b[z * k * n + (attrs.transB ? j * k + l : l * n + j)];
        c[(z * m + i) * n + j] = sum;
      }
}

} // namespace aicf::reference
