//===- Reference.cpp - matrix products in f64 -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

namespace aicf::reference {
namespace {

/// A product on its way out: out(i, j, sum) is what c gets.
template <typename View, typename Out>
void multiply(const View &call, Out out) {
  auto attrs = call.attrs();
  auto &a = call.a(), &b = call.b();
  int64_t m = call.c().dim(0), n = call.c().dim(1);
  int64_t k = attrs.transA ? a.dim(0) : a.dim(1);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += a[size_t(attrs.transA ? l * m + i : i * k + l)] *
               b[size_t(attrs.transB ? j * k + l : l * n + j)];
      call.c()[size_t(i * n + j)] = out(size_t(i), size_t(j), sum);
    }
}

} // namespace

void compute(const GemmView<Call> &c) {
  multiply(c, [](size_t, size_t, double sum) { return sum; });
}

void compute(const GemmBiasView<Call> &c) {
  multiply(c, [&](size_t, size_t j, double sum) {
    double y = sum + c.bias()[j];
    return c.attrs().relu && y < 0 ? 0 : y;
  });
}

void compute(const GemmReluBwdView<Call> &c) {
  auto n = size_t(c.c().dim(1));
  multiply(c, [&](size_t i, size_t j, double sum) {
    return c.saved()[i * n + j] > 0 ? sum : 0;
  });
}

void compute(const GemmReduceView<Call> &c) {
  multiply(c, [](size_t, size_t, double sum) { return sum; });
  sumOver(c.a(), c.attrs().transA ? 0 : 1, c.sums());
}

} // namespace aicf::reference
