//===- BaseTest.cpp - numbers, sizes and text -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/TensorDesc.h"
#include "lib/Base/FastDivisor.h"
#include "lib/Base/HalfFloat.h"
#include "lib/Base/Runs.h"
#include "lib/Base/Utf8.h"

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

/// By every divisor up to 1000, by those around powers of two, and by random
/// ones, of numbers around multiples.
TEST(FastDivisor, DividesAsTheProcessorDoes) {
  std::mt19937 random(1);
  constexpr int64_t kLimit = int64_t(1) << 31;
  auto expectExact = [&](int64_t by) {
    FastDivisor divisor(by);
    for (int run = 0; run < 200; ++run) {
      int64_t n = run == 0 ? kLimit - 1 : int64_t(random() % kLimit);
      for (int64_t i : {n, n / by * by, n / by * by - 1})
        if (i >= 0) {
          ASSERT_EQ(divisor.quotient(uint32_t(i)), uint32_t(i / by))
              << i << " / " << by;
        }
    }
  };
  for (int64_t by = 1; by <= 1000; ++by)
    expectExact(by);
  for (int64_t power = 1; power < kLimit; power *= 2)
    for (int64_t by : {power - 1, power, power + 1})
      if (by > 0)
        expectExact(by);
  for (int run = 0; run < 1000; ++run)
    expectExact(1 + int64_t(random() % (kLimit - 1)));
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

TEST(TensorDesc, StridesOfADenseTensorMakeItDense) {
  TensorDesc dense(DType::F32, {4, 1, 3});
  EXPECT_EQ(TensorDesc::strided(DType::F32, {4, 1, 3}, {3, 77, 1}), dense);
  TensorDesc columns = TensorDesc::strided(DType::F32, {4, 1, 3}, {8, 5, 1});
  EXPECT_EQ(columns, TensorDesc::strided(DType::F32, {4, 1, 3}, {8, 6, 1}));
  EXPECT_NE(columns, TensorDesc::strided(DType::F32, {4, 1, 3}, {9, 5, 1}));
  EXPECT_NE(columns, dense);
  EXPECT_EQ(columns.dense(), dense);
  EXPECT_EQ(columns.toString(), "4x1x3xf32 strided [8, 0, 1]");
  EXPECT_EQ(columns.spanBytes(), 4u * (3 * 8 + 2 + 1));
}

TEST(TensorDesc, HasDistinctElements) {
  auto isDistinct = [](std::vector<int64_t> shape,
                       std::vector<int64_t> strides) {
    return TensorDesc::strided(DType::F32, shape, strides)
        .hasDistinctElements();
  };
  EXPECT_TRUE(isDistinct({3, 4}, {4, 1}));
  EXPECT_TRUE(isDistinct({3, 4}, {9, 1}));
  EXPECT_TRUE(isDistinct({3, 4}, {1, 3}));
  EXPECT_TRUE(isDistinct({1, 4}, {0, 2})); // one index of any stride
  EXPECT_FALSE(isDistinct({3, 4}, {3, 1}));
  EXPECT_FALSE(isDistinct({3, 4}, {0, 1}));
  EXPECT_FALSE(isDistinct({3, 4}, {1, 2}));
  EXPECT_TRUE(isDistinct({2, 3, 4}, {4, 8, 1}));
  EXPECT_FALSE(isDistinct({2, 3, 4}, {2, 4, 1}));
}

TEST(TensorDesc, CheckedBytesOfStrides) {
  auto bytes = [](int64_t stride) {
    return checkedBytes(TensorDesc::strided(DType::F32, {3, 4}, {stride, 1}));
  };
  EXPECT_EQ(bytes(10), 4u * (2 * 10 + 3 + 1));
  EXPECT_EQ(bytes(0), 4u * 4); // a broadcast row
  EXPECT_FALSE(bytes(-4));
  EXPECT_TRUE(bytes(int64_t(1) << 42));
  EXPECT_FALSE(bytes(int64_t(1) << 43)); // 64 TiB
  EXPECT_FALSE(bytes(int64_t(1) << 60));
  EXPECT_FALSE(bytes(INT64_MAX));
}

/// What forEachRun() says, against indices computed one by one.
void expectRuns(const TensorDesc &desc, size_t numRuns) {
  std::vector<int64_t> places;
  size_t runs = 0;
  forEachRun(desc, [&](int64_t first, int64_t start, int64_t count) {
    EXPECT_EQ(first, int64_t(places.size()));
    for (int64_t i = 0; i < count; ++i)
      places.push_back(start + i);
    ++runs;
  });
  EXPECT_EQ(runs, numRuns) << desc.toString();
  ASSERT_EQ(int64_t(places.size()), desc.elements());
  for (int64_t n = 0; n < desc.elements(); ++n) {
    int64_t place = 0;
    for (size_t i = desc.rank, rest = size_t(n); i-- > 0;) {
      place += int64_t(rest % size_t(desc.dims[i])) * desc.stride(i);
      rest /= size_t(desc.dims[i]);
    }
    EXPECT_EQ(places[size_t(n)], place) << desc.toString() << ", " << n;
  }
}

TEST(Runs, AreAsLongAsTheLayoutAllows) {
  expectRuns(TensorDesc(DType::F32, {}), 1);
  expectRuns(TensorDesc(DType::F32, {3, 4, 5}), 1);
  TensorDesc padded(DType::BF16, {5, 3});
  padded.layout = Layout::Padded;
  expectRuns(padded, 5);
  auto strided = [](Span<const int64_t> shape, Span<const int64_t> strides) {
    return TensorDesc::strided(DType::F32, shape, strides);
  };
  expectRuns(strided({4, 3}, {8, 1}), 4);        // columns
  expectRuns(strided({3, 4}, {1, 3}), 12);       // transposed
  expectRuns(strided({2, 3, 4}, {24, 4, 1}), 2); // rows of each matrix
  expectRuns(strided({2, 3, 4}, {0, 4, 1}), 2);  // broadcast
  expectRuns(strided({3, 1, 4}, {4, 9, 1}), 1);  // one index of any stride
  expectRuns(strided({2, 2, 2, 2}, {16, 2, 8, 1}), 8);
}

/// A code point in so many bytes, which may be more than it needs.
std::string inUtf8(uint32_t code, int bytes) {
  if (bytes == 1)
    return {char(code)};
  std::string text(size_t(bytes), char(0));
  for (size_t i = text.size(); i-- > 1; code >>= 6)
    text[i] = char(0x80 | (code & 0x3f));
  text[0] = char(0xf00 >> bytes | code);
  return text;
}

TEST(Utf8, CodePointsAreLegalInTheFewestBytes) {
  auto check = [](uint32_t code) {
    bool isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
    bool isSurrogate = code >= 0xd800 && code < 0xe000;
    bool isLegal = !isControl && !isSurrogate && code < 0x110000;
    int fewest = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int bytes = fewest; bytes <= 4; ++bytes)
      ASSERT_EQ(isPrintableUtf8(inUtf8(code, bytes)),
                isLegal && bytes == fewest)
          << code << " in " << bytes << " bytes";
  };
  for (uint32_t code = 0; code < 0x10000; ++code)
    check(code);
  for (uint32_t code = 0x10000; code < 0x200000; code += 0x100) {
    check(code);
    check(code + 0xff);
  }
}

/// What stands behind the text does not count.
TEST(Utf8, CutCharactersAreIllegal) {
  for (std::string_view text :
       {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    EXPECT_TRUE(isPrintableUtf8(text));
    for (size_t n = 1; n < text.size(); ++n)
      EXPECT_FALSE(isPrintableUtf8(text.substr(0, n))) << text << " " << n;
  }
}

} // namespace
