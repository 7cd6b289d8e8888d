//===- Kernels.cpp - values that the f64 table does not reach -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/KernelCase.h"

#include "lib/Ops/KernelTable.h"

#include <cmath>
#include <cstring>

using namespace aicf;
using namespace aicf::test;

namespace {

/// The first of equals; NaN is the largest; in rows of every length.
TEST(Kernels, ArgmaxOfEqualsAndNaN) {
  for (size_t n : {5, 70, 3000}) {
    std::vector<double> x(4 * n, -INFINITY);
    x[1] = x[3] = 7;
    x[n + 2] = 1;
    x[n + 3] = x[n + 4] = NAN;
    x[2 * n + n - 1] = -3;
    Case c;
    c.ins = {operandOf(DType::F32, {4, int64_t(n)}, x)};
    c.outs = {operandOf(DType::I32, {4}, {9, 9, 9, 9})};
    EXPECT_EQ(resultOf(OpKind::Argmax, c),
              (std::vector<double>{1, 3, double(n - 1), 0}));
  }
}

/// In order, of equals the first; NaN is the largest, and -inf an element like others.
TEST(Kernels, TopKOfEqualsAndNaN) {
  for (size_t n : {5, 70, 3000}) {
    std::vector<double> x(4 * n, -INFINITY);
    x[1] = x[3] = 7;
    x[4] = 8;
    x[n + 2] = 1;
    x[n + 3] = x[n + 4] = NAN;
    x[2 * n + n - 1] = -3;
    Case c;
    c.attrs = encodeAttrs(TopKAttrs{4});
    c.ins = {operandOf(DType::F32, {4, int64_t(n)}, x)};
    c.outs = {operandOf(DType::I32, {4, 4}, std::vector<double>(16, 9))};
    EXPECT_EQ(resultOf(OpKind::TopK, c),
              (std::vector<double>{4, 1, 3, 0, 3, 4, 2, 0, double(n - 1), 0, 1, 2,
                                   0, 1, 2, 3}));
  }
}

TEST(Kernels, SoftmaxOfLargeAndMaskedElements) {
  for (size_t n : {4, 40, 2000}) {
    std::vector<double> x(2 * n, -INFINITY);
    x[0] = x[1] = 1e30; // one half each
    x[n] = x[n + 1] = x[n + 2] = x[n + 3] = -1e30;
    Case c;
    c.ins = {operandOf(DType::F32, {2, int64_t(n)}, x)};
    c.outs = {
        operandOf(DType::F32, {2, int64_t(n)}, std::vector<double>(2 * n, 9))};
    std::vector<double> y = resultOf(OpKind::Softmax, c);
    for (size_t i = 0; i < 2 * n; ++i)
      EXPECT_NEAR(y[i], i < 2 ? 0.5 : i >= n && i < n + 4 ? 0.25 : 0, 1e-6);
  }
}

} // namespace
