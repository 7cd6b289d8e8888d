//===- OrderTest.cpp - order, overlap and levels, against brute force -----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/AccessTracker.h"
#include "lib/Schedule/HappensBefore.h"
#include "lib/Schedule/Levels.h"
#include "lib/Schedule/Overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

using namespace aicf;

namespace {

/// Calls on random streams; events go from a call to a later one. The last call
/// joins every stream.
struct RandomOrder {
  std::vector<std::vector<int64_t>> waits, signals;
  std::vector<CallOrder> calls;

  RandomOrder(std::mt19937 &random, uint32_t numCalls, uint32_t numStreams) {
    waits.resize(numCalls);
    signals.resize(numCalls);
    std::vector<uint32_t> streams(numCalls, 0);
    std::vector<int64_t> last(numStreams, -1);
    int64_t event = 0;
    auto connect = [&](uint32_t from, uint32_t to) {
      signals[from].push_back(event);
      waits[to].push_back(event++);
    };
    for (uint32_t i = 0; i + 1 < numCalls; ++i) {
      streams[i] = random() % numStreams;
      last[streams[i]] = i;
      if (i > 0 && random() % 3 == 0)
        connect(random() % i, i);
    }
    for (uint32_t s = 1; s < numStreams; ++s)
      if (last[s] >= 0)
        connect(uint32_t(last[s]), numCalls - 1);
    for (uint32_t i = 0; i < numCalls; ++i)
      calls.push_back({streams[i], waits[i], signals[i]});
  }

  /// Reachability by brute force.
  std::vector<std::vector<bool>> closure() const {
    size_t n = calls.size();
    std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
    for (size_t a = 0; a < n; ++a)
      for (size_t b = a + 1; b < n; ++b) {
        before[a][b] = calls[a].stream == calls[b].stream;
        for (int64_t s : calls[a].signals)
          for (int64_t w : calls[b].waits)
            if (s == w)
              before[a][b] = true;
      }
    for (size_t k = 0; k < n; ++k)
      for (size_t a = 0; a < n; ++a)
        for (size_t b = 0; b < n; ++b)
          if (before[a][k] && before[k][b])
            before[a][b] = true;
    return before;
  }
};

TEST(HappensBefore, EqualsTransitiveClosure) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    RandomOrder order(random, 2 + random() % 20, 1 + random() % 4);
    auto made = HappensBefore::create(order.calls);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    auto closure = order.closure();
    for (size_t a = 0; a < order.calls.size(); ++a)
      for (size_t b = 0; b < order.calls.size(); ++b)
        ASSERT_EQ(made->before(a, b), bool(closure[a][b]))
            << "seed " << seed << ", calls " << a << " and " << b;
  }
}

TEST(HappensBefore, AccessSetsEqualComparingAllPairs) {
  int holds = 0, later = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    RandomOrder calls(random, 3 + random() % 12, 1 + random() % 3);
    auto order = HappensBefore::create(calls.calls);
    ASSERT_TRUE(order.ok());
    auto closure = calls.closure();
    uint32_t n = uint32_t(calls.calls.size());
    std::vector<uint32_t> a, b;
    AccessSet first, second;
    for (int i = 0; i < 3; ++i) {
      a.push_back(random() % n);
      b.push_back(random() % n);
      first.add(*order, a.back());
      second.add(*order, b.back());
    }
    bool expected = true, sameIsOrdered = true;
    for (uint32_t x : a)
      for (uint32_t y : b) {
        expected &= bool(closure[x][y]);
        sameIsOrdered &= closure[x][y] || x == y;
      }
    EXPECT_EQ(first.allBefore(*order, second), expected) << seed;
    EXPECT_EQ(first.allBefore(*order, second, true), sameIsOrdered) << seed;
    for (uint32_t call = 0; call < n; ++call) {
      bool before = true;
      for (uint32_t x : a)
        before &= x == call || closure[x][call];
      EXPECT_EQ(first.allBeforeCall(*order, call), before)
          << seed << " " << call;
      holds += before;
    }
    uint32_t end = n;
    while (end > *std::max_element(a.begin(), a.end()) + 1 &&
           std::all_of(a.begin(), a.end(),
                       [&](uint32_t x) { return closure[x][end - 1]; }))
      --end;
    EXPECT_EQ(first.safeEnd(*order), end) << seed;
    later += end > first.lastCall() + 1;
    EXPECT_FALSE(order->before(a[0], a[0]));
  }
  EXPECT_GT(holds, 100);
  EXPECT_GT(later, 20);
}

TEST(HappensBefore, RefusesMalformedOrders) {
  std::vector<int64_t> one = {1}, none;
  auto code = [](std::vector<CallOrder> calls) {
    return HappensBefore::create(calls).status().message();
  };
  EXPECT_NE(code({{0, one, none}, {0, none, one}}).find("no earlier call"),
            std::string::npos);
  EXPECT_NE(code({{0, none, one}, {0, none, one}}).find("signals too"),
            std::string::npos);
  EXPECT_NE(code({{0, none, none}, {1, none, none}}).find("not joined"),
            std::string::npos);
  EXPECT_EQ(code({{1, none, none}, {2, none, none}}),
            "stream 1: its last call, 0, is not joined into stream 0, whose "
            "last call is -1");
  EXPECT_NE(code({{64, none, none}}).find("the limit is 63"),
            std::string::npos);
  EXPECT_TRUE(HappensBefore::create({}).ok());
}

TEST(HappensBefore, PartsFollowEachOther) {
  std::vector<int64_t> one = {1}, two = {2}, none;
  auto order = HappensBefore::create(std::vector<CallOrder>{
      {1, none, one, 0}, {0, one, none, 0}, {1, none, two, 1}, {0, two, none, 1}});
  ASSERT_TRUE(order.ok()) << order.status().toString();
  EXPECT_TRUE(order->before(0, 2) && order->before(1, 2) &&
              order->before(0, 3));
  EXPECT_FALSE(order->before(2, 1));
  auto message = [](std::vector<CallOrder> calls) {
    return HappensBefore::create(calls).status().message();
  };
  EXPECT_NE(message({{0, none, one, 0}, {0, one, none, 1}})
                .find("no earlier call"),
            std::string::npos);
  EXPECT_NE(message({{1, none, none, 0}, {0, none, none, 1}})
                .find("not joined"),
            std::string::npos);
}

TEST(HappensBefore, NoAccessesAreBeforeAndAfterAll) {
  auto order = HappensBefore::create(std::vector<CallOrder>(3));
  ASSERT_TRUE(order.ok());
  AccessSet none, some;
  some.add(*order, 1);
  some.merge(none);
  EXPECT_EQ(some.firstCall(), 1u);
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(none.allBefore(*order, some));
  EXPECT_TRUE(some.allBefore(*order, none));
}

/// An access of the bytes from `begin` to `end`.
struct CallAccess {
  uint32_t call;
  uint64_t begin, end;
  bool writes;
};

/// The calls that an access races with, by brute force.
std::set<uint32_t> racesOf(const CallAccess &access,
                           const std::vector<CallAccess> &earlier,
                           const std::vector<std::vector<bool>> &before) {
  std::set<uint32_t> calls;
  for (const CallAccess &other : earlier)
    if (other.call != access.call && other.begin < access.end &&
        access.begin < other.end && (other.writes || access.writes) &&
        !before[other.call][access.call])
      calls.insert(other.call);
  return calls;
}

TEST(AccessTracker, EqualsComparingAllPairs) {
  int races = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    RandomOrder calls(random, 3 + random() % 12, 1 + random() % 3);
    auto order = HappensBefore::create(calls.calls);
    ASSERT_TRUE(order.ok());
    auto before = calls.closure();
    std::vector<CallAccess> accesses;
    std::vector<RegionMap::Entry> entries;
    for (uint32_t call = 0; call < order->size(); ++call)
      for (size_t n = random() % 4; n > 0; --n) {
        uint64_t begin = random() % 20, size = 1 + random() % 3;
        accesses.push_back({call, begin, begin + size, random() % 3 == 0});
        TensorDesc bytes(DType::I1, {int64_t(size)});
        entries.push_back({0, Region(begin, bytes)});
      }
    auto regions = RegionMap::create(entries);
    ASSERT_TRUE(regions.ok());
    AccessTracker tracker(*regions, *order);
    for (size_t i = 0; i < accesses.size(); ++i) {
      const CallAccess &access = accesses[i];
      auto found = access.writes
                       ? tracker.write(regions->regionOf(i), access.call)
                       : tracker.read(regions->regionOf(i), access.call);
      auto expected = racesOf(
          access, {accesses.begin(), accesses.begin() + long(i)}, before);
      ASSERT_EQ(found.has_value(), !expected.empty()) << seed << " " << i;
      if (!found)
        continue;
      EXPECT_TRUE(expected.count(*found)) << seed << " " << i;
      ++races;
      break;
    }
  }
  EXPECT_GT(races, 100);
  EXPECT_LT(races, 350);
}

TEST(Overlap, EqualsComparingAllPairs) {
  int conflicts = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    RandomOrder calls(random, 3 + random() % 12, 1 + random() % 3);
    auto order = HappensBefore::create(calls.calls);
    ASSERT_TRUE(order.ok());
    std::vector<AccessSet> accesses(1 + random() % 8);
    std::vector<PlacedRange> ranges;
    for (AccessSet &set : accesses) {
      for (size_t i = 0; i < 1 + random() % 2; ++i)
        set.add(*order, random() % calls.calls.size());
      uint64_t begin = random() % 24;
      ranges.push_back({begin, begin + 1 + random() % 6, &set});
    }
    bool expected = false;
    for (size_t a = 0; a < ranges.size(); ++a)
      for (size_t b = a + 1; b < ranges.size(); ++b)
        expected |= ranges[a].begin < ranges[b].end &&
                    ranges[b].begin < ranges[a].end &&
                    !accesses[a].allBefore(*order, accesses[b]) &&
                    !accesses[b].allBefore(*order, accesses[a]);
    conflicts += expected;
    ASSERT_EQ(findConflict(ranges, *order).has_value(), expected)
        << "seed " << seed;
  }
  EXPECT_GT(conflicts, 50);
  EXPECT_LT(conflicts, 350);
}

/// Two calls whose order matters.
bool conflict(const std::vector<ByteAccess> &a,
              const std::vector<ByteAccess> &b) {
  for (const ByteAccess &x : a)
    for (const ByteAccess &y : b)
      if (x.begin < y.end && y.begin < x.end && (x.writes || y.writes))
        return true;
  return false;
}

/// Conflicting calls keep their order, and nobody waits for longer than that
/// asks.
TEST(Levels, AreThoseOfTheLongestChain) {
  std::mt19937 random(3);
  for (int run = 0; run < 300; ++run) {
    std::vector<std::vector<ByteAccess>> calls(random() % 40);
    for (auto &accesses : calls)
      for (size_t n = random() % 5; n > 0; --n) {
        uint64_t begin = random() % 100;
        accesses.push_back(
            {begin, begin + 1 + random() % 30, random() % 3 == 0});
      }
    std::vector<uint32_t> levels = levelsOf(calls), expected;
    for (size_t b = 0; b < calls.size(); ++b) {
      uint32_t level = 0;
      for (size_t a = 0; a < b; ++a)
        if (conflict(calls[a], calls[b]))
          level = std::max(level, expected[a] + 1);
      expected.push_back(level);
    }
    ASSERT_EQ(levels, expected) << "run " << run;
  }
}

TEST(Levels, NoCallsHaveNone) { EXPECT_TRUE(levelsOf({}).empty()); }

} // namespace
