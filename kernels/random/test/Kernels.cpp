//===- Kernels.cpp - values that the f64 table does not reach -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/KernelCase.h"

#include "lib/Ops/KernelTable.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace aicf;
using namespace aicf::test;

namespace {

/// Known answers of Random123 for Philox4x32-10: what is kept follows from
/// them.
TEST(Kernels, DropoutDrawsPhilox) {
  struct Answer {
    int64_t step, seed;
    uint32_t words[4];
  };
  const Answer answers[] = {
      {0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
  };
  for (const Answer &answer : answers)
    for (double p : {0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}) {
      Case c;
      c.ins = {operandOf(DType::F32, {4}, {1, 1, 1, 1}),
               operandOf(DType::I64, {}, {double(answer.step)})};
      c.outs = {operandOf(DType::F32, {4}, {0, 0, 0, 0})};
      c.attrs = encodeAttrs(DropoutAttrs{p, answer.seed});
      std::vector<double> y = resultOf(OpKind::Dropout, c);
      for (size_t i = 0; i < 4; ++i)
        EXPECT_EQ(y[i] != 0, answer.words[i] >= p * 0x1p32) << p << " " << i;
    }
}

/// The share that p says is dropped, others by every step and seed, and the rest
/// is scaled so that the mean stays.
TEST(Kernels, DropoutIsFair) {
  const size_t n = 20000;
  std::vector<std::vector<double>> masks;
  for (auto [step, seed] : {std::pair(1, 1), {2, 1}, {1, 2}, {-1, 1}}) {
    Case c;
    c.ins = {operandOf(DType::F32, {int64_t(n)}, std::vector<double>(n, 1)),
             operandOf(DType::I32, {}, {double(step)})};
    c.outs = {operandOf(DType::F32, {int64_t(n)}, std::vector<double>(n))};
    c.attrs = encodeAttrs(DropoutAttrs{0.25, seed});
    std::vector<double> y = resultOf(OpKind::Dropout, c);
    double kept = 0;
    for (double value : y)
      kept += value != 0;
    EXPECT_NEAR(kept / double(n), 0.75, 0.015); // 5 standard deviations
    for (const std::vector<double> &other : masks) {
      double same = 0;
      for (size_t i = 0; i < n; ++i)
        same += (y[i] != 0) == (other[i] != 0);
      EXPECT_NEAR(same / double(n), 0.75 * 0.75 + 0.25 * 0.25, 0.02);
    }
    masks.push_back(y);
  }
  Case all;
  all.ins = {operandOf(DType::F32, {3}, {1, -2, NAN}),
             operandOf(DType::I32, {}, {9})};
  all.outs = {operandOf(DType::F32, {3}, {0, 0, 0})};
  all.attrs = encodeAttrs(DropoutAttrs{0, 3});
  std::vector<double> y = resultOf(OpKind::Dropout, all);
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], -2);
  EXPECT_TRUE(std::isnan(y[2]));
}

/// Though low + (high - low) · u is often rounded to high in 8 or 11 bits.
TEST(Kernels, UniformStaysBelowHigh) {
  const size_t n = 20000;
  for (auto [dtype, below] : {std::pair(DType::BF16, 2 - 0x1p-7),
                              {DType::F16, 2 - 0x1p-10},
                              {DType::F32, 2 - 0x1p-23},
                              {DType::F64, 2 - 0x1p-52}}) {
    Case c;
    c.ins = {operandOf(DType::I64, {}, {3})};
    c.outs = {operandOf(dtype, {int64_t(n)}, std::vector<double>(n, 9))};
    c.attrs = encodeAttrs(UniformAttrs{1.5, 2.0, 11});
    auto draw = [&] {
      EXPECT_TRUE(call(OpKind::Uniform, c, 1).ok());
      std::vector<double> y;
      for (size_t i = 0; i < n; ++i)
        y.push_back(load(c.outs[0], i));
      return y;
    };
    std::vector<double> y = draw();
    auto [least, greatest] = std::minmax_element(y.begin(), y.end());
    EXPECT_GE(*least, 1.5);
    EXPECT_LE(*greatest, below) << nameOf(dtype);
    if (sizeOf(dtype) == 2) {
      EXPECT_EQ(*greatest, below) << "half of the last number's share is its own";
    }
    c.attrs = encodeAttrs(UniformAttrs{2.0, 2.0, 11});
    y = draw();
    EXPECT_EQ(std::count(y.begin(), y.end(), 2.0), int64_t(n)) << "no interval";
  }
}

} // namespace
