//===- ThreadPoolTest.cpp - every block once, whoever runs it -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/Parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

using namespace aicf::cpu;

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
  for (int64_t n : {0, 1, 7, 63, 64, 65, 100, 511, 513, 100000}) {
    double sum = parallelSum(n, 2, kParallelElements,
                             [](int64_t i) { return double(i + 1); });
    EXPECT_EQ(sum, double(n) * double(n + 1) / 2) << n;
  }
}

/// Bodies that may use AVX2 give the bits of those that may not, in place too.
TEST(ThreadPool, EveryInstructionSetGivesTheSameBits) {
  std::vector<float> x(1003), plain(1003);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = plain[i] = 1.0f / float(i + 3);
  auto body = [](float *y) {
    return [y](int64_t begin, int64_t end) {
      AICF_INDEPENDENT_LOOP
      for (int64_t i = begin; i < end; ++i)
        y[i] = y[i] * 1.7f + 0.3f / y[i] - y[i] * y[i];
    };
  };
  runWithBestISA(body(x.data()), 0, 1003);
  body(plain.data())(0, 1003);
  EXPECT_EQ(x, plain);
}

} // namespace
