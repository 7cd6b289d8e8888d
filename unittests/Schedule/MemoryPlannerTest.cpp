//===- MemoryPlannerTest.cpp - packings are legal and tight ---------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/MemoryPlanner.h"
#include "aicf/Types.h"
#include "lib/Schedule/Overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace aicf;

namespace {

uint64_t rounded(uint64_t bytes) {
  return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

/// A program of `numCalls` calls on one stream: value i is written by call i
/// and read by up to three later calls, most of them near, some far.
struct RandomDag {
  HappensBefore order;
  std::vector<PlannedBuffer> buffers;

  RandomDag(uint32_t seed, uint32_t numValues) {
    std::mt19937 random(seed);
    std::vector<CallOrder> calls(numValues + 1);
    order = std::move(*HappensBefore::create(calls));
    for (uint32_t i = 0; i < numValues; ++i) {
      PlannedBuffer buffer;
      buffer.bytes = 1 + random() % 4096 * (random() % 4 == 0 ? 16 : 1);
      buffer.accesses.add(order, i);
      for (uint32_t use = 0; use < 1 + random() % 3; ++use) {
        uint32_t reach = random() % 5 == 0 ? numValues : 6;
        buffer.accesses.add(
            order, std::min(numValues, uint32_t(i + 1 + random() % reach)));
      }
      buffers.push_back(std::move(buffer));
    }
  }
};

/// No overlap of live buffers, aligned, inside the arena, bound respected.
void expectLegal(const MemoryPlan &plan,
                 const std::vector<PlannedBuffer> &buffers,
                 const HappensBefore &order) {
  ASSERT_EQ(plan.offsets.size(), buffers.size());
  std::vector<PlacedRange> ranges;
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % kTensorAlignment, 0u);
    EXPECT_LE(plan.offsets[i] + buffers[i].bytes, plan.bytes);
    ranges.push_back({plan.offsets[i], plan.offsets[i] + buffers[i].bytes,
                      &buffers[i].accesses});
  }
  EXPECT_FALSE(findConflict(ranges, order).has_value());
  EXPECT_GE(plan.bytes, plan.lowerBound);
}

/// Two streams side by side, of `perStream` calls each: in the list stream 1
/// comes first, and the last call of all waits for it.
StatusOr<HappensBefore> makeTwoStreams(uint32_t perStream) {
  std::vector<int64_t> none, event = {1};
  std::vector<CallOrder> calls;
  for (uint32_t stream : {1u, 0u})
    for (uint32_t i = 0; i < perStream; ++i) {
      bool isLast = i + 1 == perStream;
      calls.push_back({stream, isLast && stream == 0 ? event : none,
                       isLast && stream == 1 ? event : none});
    }
  return HappensBefore::create(calls);
}

/// Two streams side by side, each with a workspace that all its calls use: the
/// calls stand one stream after the other in the list, and nothing of one may
/// share bytes with anything of the other. The bound must know that; one that
/// looks at the list alone is never reached, and the search for it costs all
/// its time.
TEST(MemoryPlanner, TheBoundKnowsStreams) {
  constexpr uint32_t kCalls = 20;
  auto order = makeTwoStreams(kCalls);
  ASSERT_TRUE(order.ok()) << order.status().toString();
  std::vector<PlannedBuffer> buffers;
  for (uint32_t first : {0u, kCalls}) {
    PlannedBuffer workspace;
    workspace.bytes = 8192;
    for (uint32_t i = 0; i + 1 < kCalls; ++i) {
      workspace.accesses.add(*order, first + i);
      PlannedBuffer value;
      value.bytes = 1024;
      value.accesses.add(*order, first + i);
      value.accesses.add(*order, first + i + 1);
      buffers.push_back(std::move(value));
    }
    buffers.push_back(std::move(workspace));
  }
  MemoryPlan plan = planMemory(buffers, *order);
  expectLegal(plan, buffers, *order);
  EXPECT_EQ(plan.lowerBound, 2u * (8192 + 2 * 1024));
  EXPECT_EQ(plan.bytes, plan.lowerBound);
}

TEST(MemoryPlanner, RandomDagsAreTight) {
  std::vector<double> gaps;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    RandomDag dag(seed, 5 + seed % 196);
    MemoryPlan plan = planMemory(dag.buffers, dag.order);
    expectLegal(plan, dag.buffers, dag.order);
    gaps.push_back(plan.gap());
  }
  std::sort(gaps.begin(), gaps.end());
  RecordProperty("median_gap_percent", std::to_string(gaps[100] * 100));
  RecordProperty("p95_gap_percent", std::to_string(gaps[190] * 100));
  std::printf("gap: median %.2f %%, p95 %.2f %%, worst %.2f %%\n",
              gaps[100] * 100, gaps[190] * 100, gaps[199] * 100);
  EXPECT_LE(gaps[100], 0.03);
  EXPECT_LE(gaps[190], 0.15);
}

/// Is there a packing into `capacity` units? By another way than the planner's:
/// every unit offset of every buffer, one buffer after the other.
struct Exhaustive {
  std::vector<uint64_t> units;
  std::vector<std::vector<bool>> conflict;
  std::vector<uint64_t> at;
  uint64_t capacity = 0;

  bool fits(size_t i = 0) {
    if (i == units.size())
      return true;
    for (uint64_t offset = 0; offset + units[i] <= capacity; ++offset) {
      bool isFree = true;
      for (size_t j = 0; j < i && isFree; ++j)
        isFree = !conflict[i][j] || offset >= at[j] + units[j] ||
                 at[j] >= offset + units[i];
      at[i] = offset;
      if (isFree && fits(i + 1))
        return true;
    }
    return false;
  }
};

/// Up to 12 buffers that fill an arena of `capacity` units at every call: the
/// bound is tight everywhere, which is when no packing may reach it.
std::vector<PlannedBuffer> makeDense(std::mt19937 &random,
                                     const HappensBefore &order) {
  struct Live {
    uint32_t units, first;
  };
  const uint32_t capacity = 4 + random() % 8;
  std::vector<PlannedBuffer> buffers;
  std::vector<Live> live;
  auto finish = [&](Live l, uint32_t last) {
    PlannedBuffer buffer;
    buffer.bytes = 256 * l.units;
    buffer.accesses.add(order, l.first);
    buffer.accesses.add(order, last);
    buffers.push_back(buffer);
  };
  for (uint32_t call = 0; call < order.size(); ++call) {
    uint32_t used = 0;
    for (size_t i = 0; i < live.size();)
      if (random() % 3 == 0) {
        finish(live[i], call - 1);
        live.erase(live.begin() + long(i));
      } else {
        used += live[i++].units;
      }
    while (used < capacity && buffers.size() + live.size() < kExactLimit) {
      uint32_t units = 1 + random() % std::min(capacity - used, 4u);
      live.push_back({units, call});
      used += units;
    }
  }
  for (Live l : live)
    finish(l, uint32_t(order.size()) - 1);
  return buffers;
}

TEST(MemoryPlanner, UpToTwelveValuesAreOptimal) {
  int open = 0;
  constexpr uint32_t kSeeds = 10000;
  auto order = HappensBefore::create(std::vector<CallOrder>(8));
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    std::vector<PlannedBuffer> buffers = makeDense(random, *order);
    const size_t n = buffers.size();
    MemoryPlan plan = planMemory(buffers, *order);
    if (seed % 50 == 0)
      expectLegal(plan, buffers, *order);
    if (plan.bytes == plan.lowerBound)
      continue; // optimal
    expectLegal(plan, buffers, *order);
    ++open;
    Exhaustive exhaustive;
    exhaustive.conflict.assign(n, std::vector<bool>(n));
    for (size_t i = 0; i < n; ++i) {
      exhaustive.units.push_back(rounded(buffers[i].bytes) / kTensorAlignment);
      for (size_t j = 0; j < n; ++j)
        exhaustive.conflict[i][j] =
            i != j &&
            !buffers[i].accesses.allBefore(*order, buffers[j].accesses) &&
            !buffers[j].accesses.allBefore(*order, buffers[i].accesses);
    }
    exhaustive.at.resize(n);
    exhaustive.capacity = plan.bytes / kTensorAlignment;
    EXPECT_TRUE(exhaustive.fits()) << "seed " << seed;
    --exhaustive.capacity;
    EXPECT_FALSE(exhaustive.fits()) << "seed " << seed;
  }
  std::printf("%d of %u stay above the bound\n", open, kSeeds);
  EXPECT_GT(open, 0); // else nothing was compared
}

TEST(MemoryPlanner, TwoStreamsShareOnlyWhatIsOrdered) {
  std::vector<int64_t> zero = {0}, one = {1}, none;
  std::vector<CallOrder> calls = {
      {0, none, zero}, {1, zero, one}, {0, none, none}, {0, one, none}};
  auto order = HappensBefore::create(calls);
  ASSERT_TRUE(order.ok());
  std::vector<PlannedBuffer> buffers(3);
  for (auto &b : buffers)
    b.bytes = 256;
  buffers[0].accesses.add(*order, 1); // on stream 1
  buffers[0].accesses.add(*order, 3);
  buffers[1].accesses.add(*order, 2); // beside it, on stream 0
  buffers[2].accesses.add(*order, 3);
  MemoryPlan plan = planMemory(buffers, *order);
  expectLegal(plan, buffers, *order);
  EXPECT_EQ(plan.bytes, 512u);
}

TEST(MemoryPlanner, BuffersComeInAnyOrder) {
  auto order = HappensBefore::create(std::vector<CallOrder>(4));
  std::vector<PlannedBuffer> buffers(2);
  for (uint32_t i : {0u, 1u}) {
    buffers[i].bytes = 256;
    buffers[i].accesses.add(*order, 2 - 2 * i); // the second one is used first
    buffers[i].accesses.add(*order, 3 - 2 * i);
  }
  EXPECT_EQ(planMemory(buffers, *order).bytes, 256u);
}

/// Three calls that nothing orders, and beside each of them a heavier one that
/// comes before or after the two others: whoever goes from a call to the
/// heaviest beside it misses the three.
TEST(MemoryPlanner, TheBoundOfAFewBuffersIsExact) {
  std::vector<int64_t> none, x = {0}, besideX = {1}, besideY = {2},
                                besideZ = {3}, all = {2, 3};
  std::vector<CallOrder> calls = {{0, none, besideX}, // beside x, before y, z
                                  {3, none, x},       // x
                                  {1, besideX, none}, // y
                                  {2, besideX, none}, // z
                                  {1, x, besideZ},    // after x and y
                                  {2, x, besideY},    // after x and z
                                  {0, all, none}};
  auto order = HappensBefore::create(calls);
  ASSERT_TRUE(order.ok()) << order.status().toString();
  std::vector<PlannedBuffer> buffers(6);
  for (uint32_t call = 0; call < buffers.size(); ++call) {
    bool isOneOfThree = call >= 1 && call <= 3;
    buffers[call].bytes = isOneOfThree ? 4 * 256 : 5 * 256;
    buffers[call].accesses.add(*order, call);
  }
  MemoryPlan plan = planMemory(buffers, *order);
  expectLegal(plan, buffers, *order);
  EXPECT_EQ(plan.lowerBound, 3u * 4 * 256);
}

/// There the planner does not compare all pairs: the bound is that of the list.
TEST(MemoryPlanner, TheBoundOfManyBuffersIsOfListOrder) {
  const uint32_t perStream = kPairwiseLimit / 2 + 1;
  std::vector<PlannedBuffer> buffers(2 * perStream);
  auto order = makeTwoStreams(perStream);
  ASSERT_TRUE(order.ok()) << order.status().toString();
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    buffers[i].bytes = 256;
    buffers[i].accesses.add(*order, i);
  }
  MemoryPlan plan = planMemory(buffers, *order);
  expectLegal(plan, buffers, *order);
  EXPECT_EQ(plan.lowerBound, 256u);
}

TEST(MemoryPlanner, ManyValues) {
  RandomDag dag(7, 5000);
  MemoryPlan plan = planMemory(dag.buffers, dag.order);
  expectLegal(plan, dag.buffers, dag.order);
}

TEST(MemoryPlanner, Deterministic) {
  RandomDag dag(3, 150);
  EXPECT_EQ(planMemory(dag.buffers, dag.order).offsets,
            planMemory(dag.buffers, dag.order).offsets);
  EXPECT_EQ(planMemory({}, dag.order).bytes, 0u);
}

} // namespace
