//===- ThreadPool.cpp - helpers that may be late --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/ThreadPool.h"

#include <algorithm>
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
/// A caller that waits this long, and longer than a block of its own takes, for
/// a helper in the middle of a block meets other work on the machine.
constexpr microseconds kPatience(200);
/// After that regions run alone for so many times what was lost, each time
/// twice as many, until helpers have earned so many times what was lost.
constexpr int kFirstPause = 16, kLongestPause = 1024, kEarned = 8;
/// A longer wait is counted as this: the process was stopped (Ctrl-Z, a machine
/// that slept), which says nothing about other work.
constexpr microseconds kLongestWait(10000);

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

class Pool {
public:
  void run(int64_t numBlocks, int numThreads, BlockFunction body) {
    std::unique_lock<std::mutex> ours(callers, std::try_to_lock);
    auto begin = Clock::now();
    if (!ours.owns_lock() || begin < pausedUntil) {
      for (int64_t block = 0; block < numBlocks; ++block)
        body.function(body.context, block);
      return;
    }
    start(numThreads - 1);
    job = body;
    lastBlock = numBlocks;
    helpersWanted = numThreads - 1;
    next.store(0);
    isOpen.store(true);
    wake();
    int64_t mine = std::max<int64_t>(work(), 1);
    isOpen.store(false);
    auto end = Clock::now();
    auto block = (end - begin) / mine;
    learn(block, (numBlocks - mine) * block, waitForHelpers(end));
  }

private:
  /// The claiming of blocks, by caller and helpers alike. How many it did.
  int64_t work() {
    int64_t done = 0;
    for (int64_t block; (block = next.fetch_add(1)) < lastBlock; ++done)
      job.function(job.context, block);
    return done;
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

  /// Helpers that are inside may still be in a block. How long that took.
  Clock::duration waitForHelpers(Clock::time_point since) {
    if (numInside.load() == 0)
      return Clock::duration::zero();
    for (uint32_t i = 0; numInside.load() != 0; ++i) {
      relax();
      if (i % 64 == 63 && Clock::now() - since > kPatience)
        sched_yield(); // the helper may need this very core
    }
    return Clock::now() - since;
  }

  /// Do helpers pay? In a region whose blocks took the caller `block` each,
  /// they saved it `saved`, and made it wait.
  void learn(Clock::duration block, Clock::duration saved,
             Clock::duration waited) {
    if (waited <= std::max<Clock::duration>(kPatience, 2 * block)) {
      earned += saved;
      if (earned >= debt)
        nextPause = kFirstPause;
      return;
    }
    waited = std::min<Clock::duration>(waited, kLongestWait);
    earned = Clock::duration::zero();
    debt = kEarned * waited;
    pausedUntil = Clock::now() + nextPause * waited;
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
  int nextPause = kFirstPause;
  Clock::time_point pausedUntil;
  Clock::duration earned{}, debt{};
  // Written while closed and nobody is inside.
  BlockFunction job{};
  int64_t lastBlock = 0;
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
