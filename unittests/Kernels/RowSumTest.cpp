//===- RowSumTest.cpp - sums and maxima of rows on the CPU -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/RowSum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace aicf::cpu;

namespace {

/// Whole numbers: the sum is exact in any order.
TEST(RowSum, HasEachElementOnce) {
  for (int64_t width = 1; width <= 600; ++width) {
    int64_t asked = 0;
    const double sum = rowSum<double>(width, [&](int64_t j) {
      EXPECT_LT(j, width);
      ++asked;
      return double(j * j + 1);
    });
    double expected = 0;
    for (int64_t j = 0; j < width; ++j)
      expected += double(j * j + 1);
    ASSERT_EQ(sum, expected) << width;
    ASSERT_EQ(asked, width);
  }
}

TEST(RowSum, IsTheSameOfMemoryAndOfAFunction) {
  std::vector<float> row;
  for (int64_t width = 1; width <= 600; ++width) {
    row.push_back(std::sin(float(width)));
    ASSERT_EQ(rowSum(row.data(), width),
              rowSum<float>(width, [&](int64_t j) { return row[size_t(j)]; }))
        << width;
  }
}

TEST(RowSum, IsInF64) {
  // In f32, 1 is lost beside 2^25.
  const double sum = rowSum<float>(
      17, [](int64_t j) { return j == 0 ? 33554432.0f : 1.0f; });
  EXPECT_EQ(sum, 33554432.0 + 16);
}

TEST(RowMost, IsFoundWhereverItIs) {
  for (int64_t width = 1; width <= 70; ++width)
    for (int64_t at = 0; at < width; ++at) {
      std::vector<float> row(size_t(width), -3);
      row[size_t(at)] = -2;
      ASSERT_EQ(rowMost(row.data(), width), -2) << at << " of " << width;
    }
}

} // namespace
