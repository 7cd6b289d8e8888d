//===- ThreadPoolTest.cpp - every block once, whoever runs it -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/Patience.h"
#include "kernels/cpu/RowSum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

using namespace aicf::cpu;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

/// Counts how often each element of [0, n) is visited.
void expectEachOnce(int64_t n, int64_t blockSize, int numThreads) {
  std::vector<std::atomic<int>> visits(size_t(n) + 1);
  parallelFor(n, blockSize, numThreads, kParallelElements,
              [&](int64_t begin, int64_t end) {
                ASSERT_LT(begin, end);
                ASSERT_LE(end - begin, blockSize);
                for (int64_t i = begin; i < end; ++i)
                  ++visits[size_t(i)];
              });
  for (int64_t i = 0; i < n; ++i)
    ASSERT_EQ(visits[size_t(i)], 1) << i << " of " << n;
  ASSERT_EQ(visits[size_t(n)], 0);
}

TEST(ThreadPool, EveryBlockRunsOnce) {
  std::mt19937 random(1);
  for (int run = 0; run < 3000; ++run)
    expectEachOnce(random() % 200, 1 + random() % 9, 1 + int(random() % 5));
}

TEST(ThreadPool, MoreThreadsThanCores) { expectEachOnce(1000, 1, 16); }

/// Executors on several threads share the pool; whoever comes second works
/// alone.
TEST(ThreadPool, SeveralCallersAtOnce) {
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([] {
      for (int run = 0; run < 500; ++run)
        expectEachOnce(64, 1, 2);
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST(ThreadPool, BlocksMayHaveBlocks) {
  std::atomic<int> inner{0};
  parallelFor(8, 1, 2, kParallelElements, [&](int64_t, int64_t) {
    parallelFor(8, 1, 2, kParallelElements, [&](int64_t, int64_t) { ++inner; });
  });
  EXPECT_EQ(inner, 64);
}

void sleepFor(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// How many of four blocks of 2 ms each another thread than ours did.
int blocksOfHelpers() {
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> others{0};
  auto body = [&](int64_t) {
    sleepFor(2);
    others += std::this_thread::get_id() != caller;
  };
  runBlocks(4, 2, BlockFunction::of(body));
  return others;
}

/// Until a helper comes again: the longest pause is over by then.
bool helpersCome() {
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() + std::chrono::seconds(30);
  while (Clock::now() < end)
    if (blocksOfHelpers() > 0)
      return true;
  return false;
}

/// Waits until `isSo`, for half a second at most.
template <typename Condition> void await(Condition isSo) {
  for (int waited = 0; !isSo() && waited < 500; ++waited)
    sleepFor(1);
}

/// A region of one block for us and one for a helper, which are what `ours` and
/// `theirs` do; false if no helper came in time.
template <typename Ours, typename Theirs>
bool runBoth(Ours ours, Theirs theirs) {
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> callerBlocks{0}, helperBlocks{0};
  auto body = [&](int64_t) {
    if (std::this_thread::get_id() == caller) {
      ++callerBlocks;
      await([&] { return helperBlocks != 0; });
      ours();
    } else {
      ++helperBlocks;
      await([&] { return callerBlocks != 0; });
      theirs();
    }
  };
  runBlocks(2, 2, BlockFunction::of(body));
  return callerBlocks == 1;
}

/// A helper that loses its processor in the middle of a block: the next regions
/// run alone, and later ones do not.
TEST(ThreadPool, WhoWasKeptWaitingRunsAloneForAWhile) {
  ASSERT_TRUE(helpersCome());
  bool ranAlone = false;
  // A pause is at least 16 times the wait; a machine that stops us for longer
  // than that has us try again.
  for (int tries = 0; tries < 20 && !ranAlone; ++tries)
    ranAlone = runBoth([] {}, [] { sleepFor(8); }) && blocksOfHelpers() == 0;
  EXPECT_TRUE(ranAlone);
  EXPECT_TRUE(helpersCome());
}

/// How much a helper may lose, depends on the innermost blocks.
TEST(ThreadPool, LossesAreComparedWithTheInnermostBlocks) {
  // Ten blocks of 1 ms inside of our block, which takes 10 ms.
  auto ours = [] {
    auto body = [](int64_t) { sleepFor(1); };
    runBlocks(10, 1, BlockFunction::of(body));
  };
  bool ranAlone = false;
  for (int tries = 0; tries < 20 && !ranAlone; ++tries) {
    ASSERT_TRUE(helpersCome());
    ranAlone = runBoth(ours, [] { sleepFor(18); }) && blocksOfHelpers() == 0;
  }
  EXPECT_TRUE(ranAlone) << "8 ms are more than two blocks inside";
}

TEST(ThreadPool, WhoWaitsForLessThanTwoBlocksGoesOnWithHelpers) {
  bool goesOn = false;
  for (int tries = 0; tries < 8 && !goesOn; ++tries) {
    ASSERT_TRUE(helpersCome());
    goesOn = runBoth([] { sleepFor(10); }, [] { sleepFor(16); }) &&
             blocksOfHelpers() > 0;
  }
  EXPECT_TRUE(goesOn);
}

/// A thread that found the pool taken runs its blocks alone, also what is
/// inside of them when the pool is free again.
TEST(ThreadPool, BlocksOfASecondCallerStayOnItsThread) {
  int helped = 0;
  for (int run = 0; run < 5; ++run) {
    ASSERT_TRUE(helpersCome());
    std::atomic<bool> isTaken{false}, isSecondInside{false};
    std::thread first([&] {
      auto body = [&](int64_t) {
        isTaken = true;
        while (!isSecondInside)
          sleepFor(1);
      };
      runBlocks(2, 2, BlockFunction::of(body));
    });
    while (!isTaken)
      sleepFor(1);
    auto body = [&](int64_t) {
      isSecondInside = true;
      first.join();
      helped += blocksOfHelpers();
    };
    runBlocks(1, 2, BlockFunction::of(body));
  }
  EXPECT_EQ(helped, 0);
}

/// Who has nothing left to claim assists with blocks inside of others' blocks,
/// whoever that is.
TEST(ThreadPool, BlocksInsideOfBlocksAreShared) {
  auto sharedInside = [](bool byCaller) {
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> shared{0};
    auto outer = [&](int64_t) {
      std::thread::id owner = std::this_thread::get_id();
      if ((owner == caller) != byCaller)
        return;
      auto inner = [&](int64_t) {
        sleepFor(2);
        shared += std::this_thread::get_id() != owner;
      };
      runBlocks(4, 2, BlockFunction::of(inner));
    };
    return runBoth([&] { outer(0); }, [&] { outer(1); }) ? shared.load() : 0;
  };
  for (bool byCaller : {true, false}) {
    bool shared = false;
    for (int tries = 0; tries < 20 && !shared; ++tries) {
      ASSERT_TRUE(helpersCome());
      shared = sharedInside(byCaller) > 0;
    }
    EXPECT_TRUE(shared) << "by caller: " << byCaller;
  }
}

//===----------------------------------------------------------------------===//
// Who waits for whom
//===----------------------------------------------------------------------===//

/// Keeps a processor busy.
void computeFor(microseconds time) {
  using Clock = std::chrono::steady_clock;
  for (auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

/// What the helper that we wait for does counts, not what others do. A third of
/// a processor is enough for it: two blocks may be lost.
TEST(ThreadPool, WaitingForAHelperThatWorksIsNoLoss) {
  expectEachOnce(64, 1, 4); // three helpers from here on
  bool goesOn = false;
  for (int tries = 0; tries < 20 && !goesOn; ++tries) {
    ASSERT_TRUE(helpersCome());
    goesOn = runBoth([] { sleepFor(10); }, [] { computeFor(milliseconds(40)); }) &&
             blocksOfHelpers() > 0;
  }
  EXPECT_TRUE(goesOn);
}

/// A region of three threads. The first helper has a region inside of its
/// block, and waits there for the second one, which sleeps in its last block.
/// The caller does `meanwhile`. Returns the first helper; none if it was not so.
template <typename Meanwhile>
std::thread::id runWithAHelperThatWaits(Meanwhile meanwhile) {
  std::thread::id caller = std::this_thread::get_id();
  std::thread::id first;
  std::atomic<int> begun{0}, helpers{0}, inside{0};
  std::atomic<bool> isTaken{false}, isDone{false};
  auto outer = [&](int64_t) {
    ++begun;
    await([&] { return begun == 3; });
    if (std::this_thread::get_id() == caller) {
      await([&] { return inside == 2; });
      meanwhile();
      isDone = true;
    } else if (helpers++ == 0) {
      first = std::this_thread::get_id();
      auto inner = [&](int64_t) {
        ++inside;
        await([&] { return inside == 2; });
        if (std::this_thread::get_id() != first) {
          isTaken = true;
          await([&] { return isDone.load(); });
          sleepFor(25);
        }
      };
      runBlocks(2, 3, BlockFunction::of(inner));
    }
  };
  runBlocks(3, 3, BlockFunction::of(outer));
  return isTaken ? first : std::thread::id();
}

/// A helper that waits inside of its block has a processor, which is what the
/// caller measures. It measures nothing itself.
TEST(ThreadPool, AWaitInsideOfABlockIsNoLoss) {
  bool goesOn = false;
  for (int tries = 0; tries < 20 && !goesOn; ++tries) {
    ASSERT_TRUE(helpersCome());
    auto meanwhile = [] { sleepFor(10); }; // how long a block is
    goesOn = runWithAHelperThatWaits(meanwhile) != std::thread::id() &&
             blocksOfHelpers() > 0;
  }
  EXPECT_TRUE(goesOn);
}

/// It takes no blocks of others, either: its own block would end late.
TEST(ThreadPool, WhoWaitsInsideOfABlockTakesNoOther) {
  bool waited = false;
  for (int tries = 0; tries < 20 && !waited; ++tries) {
    ASSERT_TRUE(helpersCome());
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> others{0};
    auto meanwhile = [&] {
      sleepFor(2); // it waits by now
      auto inner = [&](int64_t) {
        others += std::this_thread::get_id() != caller;
        sleepFor(2);
      };
      runBlocks(4, 3, BlockFunction::of(inner));
    };
    waited = runWithAHelperThatWaits(meanwhile) != std::thread::id();
    if (waited) {
      EXPECT_EQ(others, 0);
    }
  }
  EXPECT_TRUE(waited);
}

/// A thread begins with its own share of the blocks, in every region.
TEST(ThreadPool, SharesStayWithTheirThread) {
  std::thread::id caller = std::this_thread::get_id();
  for (int run = 0, tries = 0; run < 3; ++tries) {
    ASSERT_LT(tries, 100);
    ASSERT_TRUE(helpersCome());
    std::atomic<int64_t> first[2] = {{-1}, {-1}};
    // On a busy machine a region may have kept somebody waiting, and the pool
    // then asks nobody for a while: such a run says nothing.
    std::atomic<bool> isAlone{false};
    auto body = [&](int64_t block) {
      int self = std::this_thread::get_id() != caller;
      int64_t none = -1;
      first[self].compare_exchange_strong(none, block);
      // Nobody goes on before both have begun.
      for (int waited = 0; first[1 - self] == -1 && !isAlone; ++waited) {
        sleepFor(1);
        if (waited == 200)
          isAlone = true;
      }
    };
    runBlocks(8, 2, BlockFunction::of(body));
    if (isAlone)
      continue;
    EXPECT_EQ(first[0], 0);
    EXPECT_EQ(first[1], 4);
    ++run;
  }
}

/// As many threads as were asked for, also where more helpers wait.
TEST(ThreadPool, NoMoreThreadsThanAsked) {
  ASSERT_TRUE(helpersCome());
  expectEachOnce(64, 1, 4); // three helpers from here on
  int mostOfAll = 0;
  for (int run = 0; run < 20; ++run) {
    std::atomic<int> now{0}, most{0};
    auto count = [&](int64_t) {
      int running = ++now;
      for (int seen = most; running > seen;)
        if (most.compare_exchange_weak(seen, running))
          break;
      sleepFor(1);
      --now;
    };
    auto outer = [&](int64_t) {
      // More than the region around it has.
      runBlocks(4, 4, BlockFunction::of(count));
    };
    runBlocks(4, 2, BlockFunction::of(outer));
    ASSERT_LE(most, 2);
    mostOfAll = std::max(mostOfAll, most.load());
  }
  EXPECT_EQ(mostOfAll, 2);
}

TEST(ThreadPool, NoThreadsAreOne) {
  std::atomic<int> done{0};
  auto body = [&](int64_t) { ++done; };
  runBlocks(3, 0, BlockFunction::of(body));
  EXPECT_EQ(done, 3);
  runBlocks(0, 2, BlockFunction::of(body));
  EXPECT_EQ(done, 3);
}

//===----------------------------------------------------------------------===//
// Patience, on a clock of its own
//===----------------------------------------------------------------------===//

/// How long a region of such times makes `patience` pause, in whole
/// milliseconds.
int64_t pauseAfter(Patience &patience, const RegionTimes &region) {
  static Patience::Clock::time_point now;
  now += std::chrono::hours(1);
  patience.learn(now, region);
  int64_t pause = 0;
  while (patience.isPaused(now + milliseconds(pause)))
    ++pause;
  return pause;
}

constexpr RegionTimes kLost5ms{microseconds(100), {}, milliseconds(5), {}};

TEST(Patience, ALostProcessorIsAPause) {
  Patience patience;
  EXPECT_EQ(pauseAfter(patience, {}), 0);
  EXPECT_EQ(pauseAfter(patience, kLost5ms), 80);
}

TEST(Patience, ShortWaitsAreNone) {
  Patience patience;
  EXPECT_EQ(pauseAfter(patience, {microseconds(1), {}, microseconds(200), {}}),
            0);
  EXPECT_EQ(pauseAfter(patience, {microseconds(1), {}, microseconds(250), {}}),
            4);
}

/// However long the helper's block takes.
TEST(Patience, WaitingForAHelperThatWorksIsNone) {
  Patience patience;
  EXPECT_EQ(
      pauseAfter(patience,
                 {microseconds(100), {}, milliseconds(50), milliseconds(50)}),
      0);
  EXPECT_EQ(
      pauseAfter(patience,
                 {microseconds(100), {}, milliseconds(50), milliseconds(45)}),
      80);
}

/// With half a processor a helper of large blocks still pays.
TEST(Patience, LosingLessThanTwoBlocksIsNone) {
  Patience patience;
  EXPECT_EQ(pauseAfter(patience, {milliseconds(4), {}, milliseconds(8), {}}),
            0);
  EXPECT_EQ(pauseAfter(patience, {milliseconds(4), {}, milliseconds(9), {}}),
            144);
}

TEST(Patience, PausesGrowAndHaveAnEnd) {
  Patience patience;
  for (int64_t expected : {80, 160, 320, 640, 1280, 2560, 5120, 5120})
    EXPECT_EQ(pauseAfter(patience, kLost5ms), expected);
}

TEST(Patience, AStoppedProcessIsNotLostForHours) {
  Patience patience;
  EXPECT_EQ(
      pauseAfter(patience, {microseconds(100), {}, milliseconds(9999), {}}),
      160);
}

/// Until helpers have saved 8 times what they lost.
TEST(Patience, EarnsShortPausesAgain) {
  Patience patience;
  RegionTimes saves{microseconds(100), milliseconds(39), {}, {}};
  EXPECT_EQ(pauseAfter(patience, kLost5ms), 80);
  EXPECT_EQ(pauseAfter(patience, saves), 0);
  EXPECT_EQ(pauseAfter(patience, kLost5ms), 160);
  saves.saved = milliseconds(40);
  EXPECT_EQ(pauseAfter(patience, saves), 0);
  EXPECT_EQ(pauseAfter(patience, kLost5ms), 80);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// What is written inside is seen outside, and the sums do not depend on who
/// ran.
TEST(ThreadPool, SumsAreTheSameForAnyNumberOfThreads) {
  std::vector<float> x(100000);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 1.0f / float(i + 1);
  auto sum = [&](int numThreads) {
    return parallelSum(int64_t(x.size()), numThreads, int64_t(x.size()),
                       [&](int64_t i) { return double(x[size_t(i)]); });
  };
  double expected = sum(1);
  for (int run = 0; run < 200; ++run)
    ASSERT_EQ(sum(2 + run % 3), expected);
}

/// Every term once, also where the partial sums are of different lengths.
TEST(ThreadPool, SumsHaveEveryTermOnce) {
  for (int64_t n : {0, 1, 7, 63, 64, 65, 100, 511, 513, 4095, 4096,
                    4097, 100000}) {
    double sum = parallelSum(n, 2, kParallelElements,
                             [](int64_t i) { return double(i + 1); });
    EXPECT_EQ(sum, double(n) * double(n + 1) / 2) << n;
  }
}

/// Bodies that may use wide vectors give the bits of those that may not, in
/// place too.
TEST(ThreadPool, EveryInstructionSetGivesTheSameBits) {
  std::vector<float> start(1003), plain;
  for (size_t i = 0; i < start.size(); ++i)
    start[i] = 1.0f / float(i + 3);
  auto body = [](float *y) {
    return [y](int64_t begin, int64_t end) {
      AICF_INDEPENDENT_LOOP
      for (int64_t i = begin; i < end; ++i)
        y[i] = y[i] * 1.7f + 0.3f / y[i] - y[i] * y[i];
    };
  };
  plain = start;
  body(plain.data())(0, 1003);
  for (InstructionSet set : {InstructionSet::Baseline, InstructionSet::AVX2,
                             InstructionSet::AVX512}) {
    if (set > bestInstructionSet())
      continue;
    std::vector<float> x = start;
    runWith(set, body(x.data()), 0, 1003);
    EXPECT_EQ(x, plain) << int(set);
  }
}

} // namespace
