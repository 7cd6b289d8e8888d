//===- AllocationTest.cpp - what is done often takes no memory ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/AccessTracker.h"
#include "unittests/Common/Allocations.h"

#include <gtest/gtest.h>

using namespace aicf;
using namespace aicf::test;

namespace {

/// 100 calls, in turns on streams 0 and 1.
HappensBefore makeTurns() {
  std::vector<int64_t> none, event = {1};
  std::vector<CallOrder> calls;
  for (uint32_t i = 0; i < 99; ++i)
    calls.push_back({i % 2, none, i == 97 ? event : none});
  calls.push_back({0, event, none});
  return std::move(*HappensBefore::create(calls));
}

TEST(Allocations, AnAccessSetGrowsWithTheStreams) {
  const HappensBefore order = makeTurns();
  AccessSet accesses;
  uint64_t before = allocationCount();
  for (uint32_t call = 0; call < 98; call += 2)
    accesses.add(order, call);
  EXPECT_EQ(allocationCount(), before);
  accesses.add(order, 1);
  before = allocationCount();
  for (uint32_t call = 0; call < order.size(); ++call)
    accesses.add(order, call);
  EXPECT_EQ(allocationCount(), before);
}

TEST(Allocations, ATrackerRemembersTheLastReadOfAStream) {
  const HappensBefore order = makeTurns();
  auto regions = RegionMap::create(
      std::vector<RegionMap::Entry>{{0, Region(uint64_t(64))}});
  ASSERT_TRUE(regions.ok());
  AccessTracker tracker(*regions, order);
  EXPECT_FALSE(tracker.read(0, 0));
  EXPECT_FALSE(tracker.read(0, 1));
  uint64_t before = allocationCount();
  for (uint32_t call = 2; call < order.size(); ++call)
    EXPECT_FALSE(tracker.read(0, call));
  EXPECT_EQ(allocationCount(), before);
}

TEST(Allocations, RunsAreComparedByTheirEnds) {
  const Region run(uint64_t(64)), row(32, TensorDesc(DType::F32, {4}));
  uint64_t before = allocationCount();
  EXPECT_TRUE(run.overlaps(row));
  EXPECT_EQ(allocationCount(), before);
}

} // namespace
