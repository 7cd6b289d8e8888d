//===- ThreadPool.cpp - helpers that may be late --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/ThreadPool.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <sched.h>
#include <system_error>
#include <thread>

namespace aicf::cpu {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

/// A helper looks for work this long before it sleeps: about what lies between
/// two parallel kernels of a step.
constexpr microseconds kSpin(100);
/// A caller that waits this long for a helper in the middle of a block meets
/// other work on the machine.
constexpr microseconds kPatience(100);
/// After that so many parallel regions run alone, each time twice as many.
constexpr uint32_t kFirstPause = 64, kLongestPause = 8192;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

class Pool {
public:
  void run(int64_t numBlocks, int numThreads, BlockFunction body) {
    std::unique_lock<std::mutex> ours(callers, std::try_to_lock);
    if (!ours.owns_lock() || pause > 0) {
      if (ours.owns_lock()) // nothing of the pool is ours without the lock
        --pause;
      for (int64_t block = 0; block < numBlocks; ++block)
        body.function(body.context, block);
      return;
    }
    start(numThreads - 1);
    job = body;
    end = numBlocks;
    helpersWanted = numThreads - 1;
    next.store(0);
    isOpen.store(true);
    wake();
    work();
    isOpen.store(false);
    waitForHelpers();
  }

private:
  /// The claiming of blocks, by caller and helpers alike.
  void work() {
    for (int64_t block; (block = next.fetch_add(1)) < end;)
      job.function(job.context, block);
  }

  void start(int count) {
    try {
      for (; numHelpers < count; ++numHelpers)
        std::thread(&Pool::help, this, numHelpers).detach();
    } catch (const std::system_error &) {
      // Fewer, then: nothing waits for them.
    }
  }

  void wake() {
    epoch.fetch_add(1);
    if (numAsleep.load() == 0)
      return;
    std::lock_guard<std::mutex> lock(sleepers);
    bell.notify_all();
  }

  /// Helpers that are inside may still be in a block.
  void waitForHelpers() {
    if (numInside.load() == 0)
      return;
    auto since = Clock::now();
    for (uint32_t i = 0; numInside.load() != 0; ++i) {
      relax();
      if (i % 64 == 63 && Clock::now() - since > kPatience)
        sched_yield(); // the helper may need this very core
    }
    if (Clock::now() - since <= 2 * kPatience) {
      if (++goodRegions >= kFirstPause)
        nextPause = kFirstPause;
      return;
    }
    goodRegions = 0;
    pause = nextPause;
    nextPause = nextPause < kLongestPause ? 2 * nextPause : kLongestPause;
  }

  void help(int number) {
    uint64_t seen = 0;
    for (;;) {
      await(seen);
      seen = epoch.load();
      // Either the caller sees us inside, or we see that it has closed.
      numInside.fetch_add(1);
      if (isOpen.load() && number < helpersWanted)
        work();
      numInside.fetch_sub(1);
    }
  }

  /// Until the epoch is another one than `seen`.
  void await(uint64_t seen) {
    auto since = Clock::now();
    while (Clock::now() - since < kSpin)
      for (int i = 0; i < 64; ++i) {
        if (epoch.load() != seen)
          return;
        relax();
      }
    std::unique_lock<std::mutex> lock(sleepers);
    numAsleep.fetch_add(1);
    bell.wait(lock, [&] { return epoch.load() != seen; });
    numAsleep.fetch_sub(1);
  }

  // Of the caller that holds `callers`.
  std::mutex callers;
  int numHelpers = 0;
  uint32_t pause = 0, nextPause = kFirstPause, goodRegions = 0;
  // Written while closed and nobody is inside.
  BlockFunction job{};
  int64_t end = 0;
  int helpersWanted = 0;
  // Shared.
  std::atomic<int64_t> next{0};
  std::atomic<bool> isOpen{false};
  std::atomic<int> numInside{0}, numAsleep{0};
  std::atomic<uint64_t> epoch{0};
  std::mutex sleepers;
  std::condition_variable bell;
};

} // namespace

void runBlocks(int64_t numBlocks, int numThreads, BlockFunction body) {
  // Never destroyed: helpers sleep in it until the process ends.
  static Pool &pool = *new Pool;
  pool.run(numBlocks, numThreads, body);
}

} // namespace aicf::cpu
