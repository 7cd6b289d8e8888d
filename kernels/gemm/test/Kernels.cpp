//===- Kernels.cpp - values of products of 16-bit operands ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/KernelCase.h"

#include <gtest/gtest.h>

using namespace aicf;
using namespace aicf::test;

namespace {

/// Small integers, whose sums f32 has exactly: element (row, column) of either operand.
double elementAt(int64_t row, int64_t column) {
  return double((row * 7 + column * 3) % 5 - 2);
}

/// op(x) is [rows, columns]; it is stored transposed, or not.
Operand factor(DType dtype, int64_t rows, int64_t columns, bool isTransposed) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < rows * columns; ++i) {
    const int64_t width = isTransposed ? rows : columns;
    const int64_t row = i / width, column = i % width;
    numbers.push_back(isTransposed ? elementAt(column, row) : elementAt(row, column));
  }
  return operandOf(dtype,
                   isTransposed ? std::vector<int64_t>{columns, rows}
                                : std::vector<int64_t>{rows, columns},
                   numbers);
}

/// Longer than the panels that operands are widened in, in each direction, and not a
/// multiple of any.
TEST(Products, OfHalvesAreExactWhereSumsAre) {
  if (makeDevice()->kind() != DeviceKind::CPU)
    GTEST_SKIP() << "kernels of the CPU";
  const int64_t m = 270, n = 300, k = 1100;
  std::vector<double> expected;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += elementAt(i, l) * elementAt(l, j);
      expected.push_back(sum);
    }
  for (DType dtype : {DType::F16, DType::BF16})
    for (int32_t transposes : {0, 1, 2, 3}) {
      Case c;
      const GemmAttrs attrs = {transposes % 2, transposes / 2};
      c.attrs = encodeAttrs(attrs);
      c.ins = {factor(dtype, m, k, attrs.transA), factor(dtype, k, n, attrs.transB)};
      c.outs = {operandOf(DType::F32, {m, n}, std::vector<double>(size_t(m * n), 9))};
      const std::string kid = "gemm_" + std::string(nameOf(dtype)) + "_f32_blas_v0";
      ASSERT_TRUE(call(OpKind::Gemm, c, 2, kid).ok());
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_EQ(load(c.outs[0], i), expected[i]) << kid << " " << transposes << " " << i;
    }
}

} // namespace
