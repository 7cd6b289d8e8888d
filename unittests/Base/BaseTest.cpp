//===- BaseTest.cpp - half floats and sizes -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/TensorDesc.h"
#include "lib/Base/HalfFloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace aicf;

namespace {

TEST(HalfFloat, EveryHalfAndBFloatRoundTrips) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    float half = halfToFloat(uint16_t(bits));
    float bfloat = bfloatToFloat(uint16_t(bits));
    if (!std::isnan(half)) {
      ASSERT_EQ(floatToHalf(half), bits);
    }
    if (!std::isnan(bfloat)) {
      ASSERT_EQ(floatToBFloat(bfloat), bits);
    }
  }
}

TEST(HalfFloat, RoundsToNearestEven) {
  EXPECT_EQ(floatToHalf(2049.0f), floatToHalf(2048.0f)); // tie, even below
  EXPECT_EQ(floatToHalf(2051.0f), floatToHalf(2052.0f)); // tie, even above
  EXPECT_EQ(floatToHalf(65519.0f), 0x7bff);              // largest half
  EXPECT_EQ(floatToHalf(65520.0f), 0x7c00);              // infinity
  EXPECT_EQ(floatToHalf(0x1p-25f), 0);                   // tie with zero
  EXPECT_EQ(floatToHalf(0x1.8p-24f), 2);                 // tie, even above
  EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(NAN))));
  EXPECT_TRUE(std::isnan(bfloatToFloat(floatToBFloat(NAN))));
}

TEST(TensorDesc, CheckedBytes) {
  EXPECT_EQ(checkedBytes(TensorDesc(DType::F64, {3, 5})), 120u);
  EXPECT_EQ(checkedBytes(TensorDesc(DType::F16, {})), 2u);
  EXPECT_FALSE(checkedBytes(TensorDesc(DType::F32, {0})));
  EXPECT_FALSE(checkedBytes(TensorDesc(DType::F32, {-4})));
  EXPECT_FALSE(checkedBytes(TensorDesc(DType::F32, {int64_t(1) << 31})));
  EXPECT_FALSE(checkedBytes(TensorDesc(
      DType::F32, {int64_t(1) << 30, int64_t(1) << 30, int64_t(1) << 30})));
  // 2^46 bytes are legal, more are not, and 2^64 are not none.
  EXPECT_TRUE(checkedBytes(TensorDesc(DType::F32, {1 << 30, 1 << 14})));
  EXPECT_FALSE(checkedBytes(TensorDesc(DType::F32, {1 << 30, 1 << 15})));
  EXPECT_FALSE(
      checkedBytes(TensorDesc(DType::F32, {1 << 30, 1 << 14, 1 << 18})));
  EXPECT_FALSE(checkedBytes(TensorDesc(DType::F32, {1, 1 << 30, 0})));
  TensorDesc tooDeep(DType::F32, {1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_TRUE(checkedBytes(tooDeep));
  tooDeep.rank = kMaxRank + 1;
  EXPECT_FALSE(checkedBytes(tooDeep));
}

} // namespace
