//===- RegionTest.cpp - overlap and cover, against sets of bytes ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Region.h"
#include "lib/Base/Runs.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace aicf;

namespace {

/// A value, and its bytes one by one.
struct Value {
  Region region;
  std::set<uint64_t> bytes;

  Value(uint64_t byteOffset, const TensorDesc &desc)
      : region(byteOffset, desc) {
    TensorDesc whole = desc.layout == Layout::Padded ? desc.stored() : desc;
    forEachRun(whole, [&](int64_t, int64_t start, int64_t count) {
      for (int64_t b = 0; b < count * int64_t(sizeOf(desc.dtype)); ++b)
        bytes.insert(byteOffset + uint64_t(start) * sizeOf(desc.dtype) +
                     uint64_t(b));
    });
  }
  bool overlaps(const Value &o) const {
    for (uint64_t byte : bytes)
      if (o.bytes.count(byte))
        return true;
    return false;
  }
};

bool isCovered(const Value &value, const std::vector<Value> &parts) {
  for (uint64_t byte : value.bytes) {
    bool found = false;
    for (const Value &part : parts)
      found |= part.bytes.count(byte) > 0;
    if (!found)
      return false;
  }
  return true;
}

std::vector<Region> regionsOf(const std::vector<Value> &values) {
  std::vector<Region> regions;
  for (const Value &value : values)
    regions.push_back(value.region);
  return regions;
}

/// A range of indices of each dimension of a dense array of `shape`.
Value randomBox(std::mt19937 &random, Span<const int64_t> shape, DType dtype) {
  std::vector<int64_t> extents, strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  int64_t offset = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t begin = int64_t(random()) % shape[i];
    // Whole dimensions are merged with their neighbours.
    bool isWhole = random() % 3 == 0;
    begin = isWhole ? 0 : begin;
    extents.push_back(isWhole ? shape[i]
                              : 1 + int64_t(random()) % (shape[i] - begin));
    offset += begin * strides[i];
  }
  return {uint64_t(offset) * sizeOf(dtype),
          TensorDesc::strided(dtype, extents, strides)};
}

TEST(Region, BoxesOfOneArrayAreExact) {
  std::mt19937 random(7);
  const std::vector<std::vector<int64_t>> shapes = {
      {24}, {4, 6}, {3, 4, 5}, {2, 3, 2, 4}, {5, 1, 3}};
  auto randomRun = [&](int64_t elements) -> Value { // in the middle of rows
    auto begin = int64_t(random()) % elements;
    auto end = begin + 1 + int64_t(random()) % (elements - begin);
    return {4 * uint64_t(begin), TensorDesc(DType::F32, {end - begin})};
  };
  size_t numApart = 0, numCovered = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto &shape = shapes[random() % shapes.size()];
    Value a = randomBox(random, shape, DType::F32),
          b = randomBox(random, shape, DType::F32);
    ASSERT_EQ(a.region.overlaps(b.region), a.overlaps(b)) << round;
    ASSERT_EQ(a.region == b.region, a.bytes == b.bytes) << round;
    bool isSpanShared =
        a.region.begin() < b.region.end() && b.region.begin() < a.region.end();
    numApart += isSpanShared && !a.overlaps(b);
    std::vector<Value> parts;
    for (size_t n = random() % 12; n > 0; --n)
      parts.push_back(randomBox(random, shape, DType::F32));
    Value run = randomRun(TensorDesc(DType::F32, shape).elements());
    ASSERT_EQ(a.region.overlaps(run.region), a.overlaps(run)) << round;
    parts.push_back(run);
    ASSERT_EQ(Region::isCovered(a.region, regionsOf(parts)),
              isCovered(a, parts))
        << round;
    numCovered += parts.size() > 1 && isCovered(a, parts);
  }
  EXPECT_GT(numApart, 100u);
  EXPECT_GT(numCovered, 100u);
}

/// Slices in steps that no row is a multiple of, of what was written as a whole.
TEST(Region, ARunCoversEveryViewOfItself) {
  std::mt19937 random(10);
  const Value run{0, TensorDesc(DType::F32, {60})};
  for (int round = 0; round < 500; ++round) {
    std::vector<int64_t> extents, strides;
    int64_t last = 0;
    for (size_t i = 1 + random() % 3; i > 0; --i) {
      extents.push_back(1 + int64_t(random() % 4));
      strides.push_back(int64_t(random() % 9));
      last += (extents.back() - 1) * strides.back();
    }
    if (last >= 60)
      continue;
    TensorDesc desc = TensorDesc::strided(DType::F32, extents, strides);
    const Value view{4 * (random() % uint64_t(60 - last)), desc};
    EXPECT_TRUE(Region::isCovered(view.region, {&run.region, 1})) << round;
    const Value half{0, TensorDesc(DType::F32, {30})};
    EXPECT_EQ(Region::isCovered(view.region, {&half.region, 1}),
              isCovered(view, {half}))
        << round;
  }
}

/// A slice of a box of an array, in steps that need not divide a row or the
/// number of rows, as a view of a part that is written in its place.
TEST(Region, ABoxCoversEverySliceOfItself) {
  std::mt19937 random(11);
  const std::vector<std::vector<int64_t>> shapes = {
      {4, 4}, {7, 5}, {5, 4, 3}, {3, 4, 3, 5}};
  for (int round = 0; round < 3000; ++round) {
    const auto &shape = shapes[random() % shapes.size()];
    std::vector<int64_t> strides(shape.size(), 1), box, slice, steps;
    for (size_t i = shape.size(); i-- > 1;)
      strides[i - 1] = strides[i] * shape[i];
    int64_t offset = 0, start = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t begin = int64_t(random()) % shape[i],
              step = 1 + int64_t(random()) % 4;
      box.push_back(1 + int64_t(random()) % (shape[i] - begin));
      int64_t first = int64_t(random()) % box[i];
      slice.push_back((box[i] - first - 1) / step + 1);
      steps.push_back(slice[i] > 1 ? step * strides[i] : 0);
      offset += begin * strides[i];
      start += (begin + first) * strides[i];
    }
    const Value part{4 * uint64_t(offset),
                     TensorDesc::strided(DType::F32, box, strides)};
    const Value view{4 * uint64_t(start),
                     TensorDesc::strided(DType::F32, slice, steps)};
    ASSERT_TRUE(isCovered(view, {part}));
    EXPECT_TRUE(Region::isCovered(view.region, {&part.region, 1}))
        << testing::PrintToString(box) << testing::PrintToString(slice)
        << testing::PrintToString(steps) << offset << " " << start;
    EXPECT_TRUE(view.region.overlaps(part.region)) << round;
  }
}

TEST(Region, NothingIsMissed) {
  std::mt19937 random(8);
  auto any = [&]() -> Value {
    std::vector<int64_t> extents, strides;
    const int64_t nested[] = {1, 2, 4, 12,
                              24}; // each is a multiple of the last
    bool isNested = random() % 2 == 0;
    for (size_t i = random() % 4; i > 0; --i) {
      extents.push_back(1 + int64_t(random() % 7));
      strides.push_back(isNested ? nested[random() % 5]
                                 : int64_t(random() % 12));
    }
    DType dtype = random() % 2 ? DType::F32 : DType::F16;
    return {2 * (random() % 40), TensorDesc::strided(dtype, extents, strides)};
  };
  size_t numOverlaps = 0;
  for (int round = 0; round < 20000; ++round) {
    Value a = any(), b = any();
    if (a.overlaps(b)) {
      ASSERT_TRUE(a.region.overlaps(b.region)) << round;
      ++numOverlaps;
    }
    std::vector<Value> parts{any(), any(), any(), b};
    if (Region::isCovered(a.region, regionsOf(parts))) {
      ASSERT_TRUE(isCovered(a, parts)) << round;
    }
  }
  EXPECT_GT(numOverlaps, 500u);
}

TEST(Region, OfAPaddedTensorHoldsItsPads) {
  TensorDesc padded(DType::BF16, {5, 3});
  padded.layout = Layout::Padded;
  EXPECT_EQ(Region(256, padded), Region(256, TensorDesc(DType::BF16, {8, 8})));
}

TEST(Region, OfAnyOrderOfDimensionsIsExact) {
  const Region dense(0, TensorDesc(DType::F32, {12}));
  auto strided = [](Span<const int64_t> shape, Span<const int64_t> strides) {
    return Region(0, TensorDesc::strided(DType::F32, shape, strides));
  };
  EXPECT_EQ(Region(0, TensorDesc(DType::F32, {4, 1, 3})), dense);
  EXPECT_EQ(strided({3, 4}, {1, 3}), dense);       // transposed
  EXPECT_EQ(strided({3, 5, 4}, {4, 0, 1}), dense); // repeated
  EXPECT_EQ(strided({2, 1, 6}, {1, 12, 2}), dense);
  // Columns of wider rows.
  EXPECT_FALSE(strided({3, 2}, {4, 1}) == strided({3, 2}, {5, 1}));
}

TEST(RegionMap, NamesTheRegionsThatShareBytes) {
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    std::vector<Value> values;
    std::vector<RegionMap::Entry> entries;
    for (size_t n = 1 + random() % 12; n > 0; --n) {
      values.push_back(randomBox(random, {4, 6}, DType::F16));
      entries.push_back({uint32_t(random() % 2), values.back().region});
    }
    auto map = RegionMap::create(entries);
    ASSERT_TRUE(map.ok());
    for (size_t i = 0; i < values.size(); ++i)
      for (size_t j = 0; j < values.size(); ++j) {
        bool sameBuffer = entries[i].buffer == entries[j].buffer;
        uint32_t a = map->regionOf(i), b = map->regionOf(j);
        ASSERT_EQ(a == b, sameBuffer && values[i].bytes == values[j].bytes);
        ASSERT_EQ(map->overlap(a, b),
                  sameBuffer && values[i].overlaps(values[j]));
        auto others = map->overlapping(a);
        bool isListed =
            std::find(others.begin(), others.end(), b) != others.end();
        ASSERT_EQ(isListed, a != b && map->overlap(a, b));
      }
  }
}

TEST(RegionMap, CoverIsOfMarkedRegionsOfTheBuffer) {
  auto row = [](uint64_t i, int64_t n) {
    return Region(i * 16, TensorDesc(DType::F32, {n, 4}));
  };
  std::vector<RegionMap::Entry> entries = {
      {0, row(0, 3)}, {0, row(0, 1)}, {0, row(1, 2)}, {1, row(0, 3)}};
  auto map = RegionMap::create(entries);
  ASSERT_TRUE(map.ok());
  auto covers = [&](const std::vector<size_t> &marked) {
    std::vector<bool> isMarked(map->numRegions());
    for (size_t value : marked)
      isMarked[map->regionOf(value)] = true;
    return map->isCovered(map->regionOf(0), isMarked);
  };
  EXPECT_TRUE(covers({0}));
  EXPECT_TRUE(covers({1, 2}));
  EXPECT_FALSE(covers({1}));
  EXPECT_FALSE(covers({2}));
  EXPECT_FALSE(covers({1, 3}));
  EXPECT_FALSE(covers({}));
}

TEST(RegionMap, TooManyOverlapsAreRefused) {
  std::vector<RegionMap::Entry> entries;
  for (int64_t n = 1; n <= 5000; ++n)
    entries.push_back({3, Region(0, TensorDesc(DType::F32, {n}))});
  Status status = RegionMap::create(entries).status();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(),
            "buffer 3: too many of its values share bytes, the limits are "
            "1048576 pairs and 4096 at one place");
  entries.erase(entries.begin() + 1500, entries.end());
  // Each shares bytes with each: over a million pairs
  EXPECT_FALSE(RegionMap::create(entries).ok());
}

TEST(RegionMap, WhatSharesNothingMayBeMany) {
  std::vector<RegionMap::Entry> rows, buffers;
  for (uint32_t i = 0; i < 5000; ++i) {
    TensorDesc one(DType::F32, {1});
    rows.push_back({0, Region(i * 4, one)});
    buffers.push_back({i, Region(0, one)});
  }
  EXPECT_TRUE(RegionMap::create(rows).ok());
  EXPECT_TRUE(RegionMap::create(buffers).ok());
}

/// Side by side in one array: apart, and too many to compare.
TEST(RegionMap, TooManyColumnsAreRefused) {
  const int64_t many = 4100;
  const TensorDesc column =
      TensorDesc::strided(DType::F32, {2, 1}, {many, 1});
  std::vector<RegionMap::Entry> columns;
  for (int64_t i = 0; i < many; ++i)
    columns.push_back({0, Region(uint64_t(i) * 4, column)});
  EXPECT_FALSE(RegionMap::create(columns).ok());
}

} // namespace
