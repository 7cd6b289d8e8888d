//===- ThreadPool.cpp - helpers that may be late --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/ThreadPool.h"
#include "kernels/cpu/FloatMode.h"
#include "kernels/cpu/Patience.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <system_error>
#include <thread>
#include <time.h>

namespace aicf::cpu {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

/// A helper looks for work this long before it sleeps: about what lies between
/// two parallel kernels of a step.
constexpr microseconds kSpin(100);

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Threads of a region. Member 0 is the caller, 1 and up are helpers.
constexpr int kMaxMembers = 256;
/// A region's blocks are dealt out in so many shares at most.
constexpr int kMaxShares = 16;

/// What this thread is doing: nothing of the pool's, a block of the caller's
/// region, or a block inside of such a block (or without the pool), whose
/// regions it runs alone.
enum class Depth { Outside, Block, Leaf };
thread_local Depth depth = Depth::Outside;
thread_local int member = 0;
/// The longest that blocks of a region inside of a block took, on average.
thread_local Clock::duration leafBlock{};

class DepthScope {
public:
  explicit DepthScope(Depth now) : before(depth) { depth = now; }
  ~DepthScope() { depth = before; }

private:
  Depth before;
};

void runAlone(int64_t numBlocks, BlockFunction body) {
  DepthScope scope(Depth::Leaf);
  for (int64_t block = 0; block < numBlocks; ++block)
    body.function(body.context, block);
}

class Job;

/// A thread of the pool, as others that wait for it see it.
struct alignas(64) Member {
  std::atomic<const Job *> at{nullptr}; ///< whose region it assists with
  // The caller's.
  clockid_t clock = CLOCK_MONOTONIC;
  Clock::duration before{};

  Clock::duration processorTime() const {
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::chrono::seconds(time.tv_sec) +
           std::chrono::nanoseconds(time.tv_nsec);
  }
};

/// A region whose blocks are claimed one by one. Each member begins with a
/// share of its own, so that in one region after the other it works on the same
/// part of each tensor, which lies in its cache.
class alignas(64) Job {
public:
  void open(int64_t numBlocks, int numThreads, BlockFunction function) {
    body = function;
    lastBlock = numBlocks;
    membersWanted = numThreads;
    numShares =
        int(std::min<int64_t>(std::min(numThreads, kMaxShares), numBlocks));
    for (int i = 0; i < numShares; ++i)
      next[i].store(i * numBlocks / numShares);
    state.store(kOpen);
  }
  /// Claims blocks until there are none: of our share, then of the others'. How
  /// many it did.
  int64_t work(Depth at) {
    DepthScope scope(at);
    int64_t done = 0;
    for (int i = 0; i < numShares; ++i) {
      int share = (member + i) % numShares;
      int64_t end = (share + 1) * lastBlock / numShares;
      for (int64_t block; (block = next[share].fetch_add(1)) < end; ++done)
        body.function(body.context, block);
    }
    return done;
  }
  /// The same, by who did not open it, if it is open.
  int64_t assist(Depth where, Member &self) {
    if (!enter())
      return 0;
    int64_t done = 0;
    if (member < membersWanted) {
      self.at.store(this);
      done = work(where);
      self.at.store(nullptr);
    }
    state.fetch_sub(1);
    return done;
  }
  void close() { state.fetch_sub(kOpen); }
  /// Whether, after close(), somebody may still be in a block.
  bool isOccupied() const { return state.load() != 0; }

private:
  // Returns whether it was open; we are inside then. That is one step: in
  // between, the owner could close it and open it for something else.
  bool enter() {
    int now = state.load();
    while (now >= kOpen && !state.compare_exchange_weak(now, now + 1)) {
    }
    return now >= kOpen;
  }

  // Written while closed and nobody is inside.
  BlockFunction body{};
  int64_t lastBlock = 0;
  int membersWanted = 0;
  int numShares = 1;
  // Shared.
  std::atomic<int64_t> next[kMaxShares]{};
  static constexpr int kOpen = 1 << 16;
  std::atomic<int> state{0}; ///< how many are inside, and kOpen while open
};

class Pool {
public:
  void run(int64_t numBlocks, int numThreads, BlockFunction body) {
    numThreads = std::clamp(numThreads, 1, kMaxMembers);
    if (depth == Depth::Leaf)
      return runAlone(numBlocks, body);
    if (depth == Depth::Block)
      return runInside(numBlocks, numThreads, body);
    std::unique_lock<std::mutex> ours(callers, std::try_to_lock);
    auto begin = Clock::now();
    if (!ours.owns_lock() || patience.isPaused(begin))
      return runAlone(numBlocks, body);
    start(numThreads);
    leafBlock = Clock::duration::zero();
    times = {};
    regionThreads = numThreads;
    region.open(numBlocks, numThreads, body);
    wake();
    int64_t mine = std::max<int64_t>(region.work(Depth::Block), 1);
    region.close();
    times.block = (Clock::now() - begin - times.waited) / mine;
    times.saved = (numBlocks - mine) * times.block;
    waitFor(region);
    if (leafBlock != Clock::duration::zero())
      times.block = leafBlock;
    patience.learn(Clock::now(), times);
  }

private:
  /// A region inside of a block: whoever has no block of the caller's left to
  /// claim assists.
  void runInside(int64_t numBlocks, int numThreads, BlockFunction body) {
    Job &job = inner[member];
    job.open(numBlocks, std::min(numThreads, regionThreads), body);
    wake();
    timed([&] { return job.work(Depth::Leaf); });
    job.close();
    waitFor(job);
  }

  /// Blocks of regions inside of others' blocks.
  int64_t assistInside() {
    int64_t done = 0;
    int count = numMembers.load();
    for (int owner = 0; owner < count; ++owner) // ours is closed now
      done += inner[owner].assist(Depth::Leaf, members[member]);
    return done;
  }

  /// Does `work`, which says how many blocks it did.
  template <typename Work> void timed(Work work) {
    auto begin = Clock::now();
    if (int64_t done = work())
      leafBlock = std::max(leafBlock, (Clock::now() - begin) / done);
  }

  void start(int numThreads) {
    try {
      for (int number = numMembers.load(); number < numThreads; ++number) {
        std::thread helper(&Pool::help, this, number);
        ::pthread_getcpuclockid(helper.native_handle(), &members[number].clock);
        helper.detach();
        numMembers.store(number + 1);
      }
    } catch (const std::exception &) { // no thread, or no memory for one
      // Fewer, then: nothing waits for them.
    }
  }

  void wake() {
    epoch.fetch_add(1);
    std::lock_guard<std::mutex> lock(sleepers);
    bell.notify_all();
  }

  /// Until nobody is in a block of our closed job. At the end of its region the
  /// caller assists with what helpers have opened inside of their blocks. Its
  /// waits are measured once they are long: for how much of one the last helper
  /// had a processor. (A helper that itself waits for another one has.)
  void waitFor(const Job &job) {
    auto since = Clock::now();
    int last = 0;
    while (job.isOccupied()) {
      if (&job == &region)
        timed([&] { return assistInside(); });
      relax();
      if (Clock::now() - since <= Patience::kLimit)
        continue;
      if (member == 0) {
        if (last == 0)
          since = startLongWait();
        for (int m = 1; m < numMembers.load(); ++m)
          if (members[m].at.load() == &job)
            last = m;
      }
      sched_yield(); // the helper may need this very core
    }
    if (last != 0) {
      times.waited += Clock::now() - since;
      times.worked += members[last].processorTime() - members[last].before;
    }
  }

  Clock::time_point startLongWait() {
    for (int m = 1; m < numMembers.load(); ++m)
      members[m].before = members[m].processorTime();
    return Clock::now();
  }

  void help(int number) {
    FloatMode mode; // not that of whoever started this thread
    member = number;
    uint64_t seen = 0;
    for (;;) {
      await(seen);
      seen = epoch.load();
      region.assist(Depth::Block, members[number]);
      assistInside();
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
    bell.wait(lock, [&] { return epoch.load() != seen; });
  }

  // Of the caller that holds `callers`.
  std::mutex callers;
  Patience patience;
  RegionTimes times; ///< of its region and those inside
  int regionThreads = 1;
  // Shared.
  Job region;             ///< of the caller
  Job inner[kMaxMembers]; ///< of each member, inside of its block
  Member members[kMaxMembers];
  std::atomic<int> numMembers{1};
  std::atomic<uint64_t> epoch{0};
  std::mutex sleepers;
  std::condition_variable bell;
};

/// Where the pool is. It is never destroyed: helpers sleep in it until the
/// process ends. A forked child has none of them, so that its pool begins anew,
/// in the same place: allocators may be locked while a process forks.
alignas(Pool) std::byte thePool[sizeof(Pool)];

Pool &pool() {
  static constexpr auto make = [] { new (thePool) Pool; };
  static const int registered =
      (make(), ::pthread_atfork(nullptr, nullptr, make));
  static_cast<void>(registered);
  return *std::launder(reinterpret_cast<Pool *>(thePool));
}

} // namespace

void runBlocks(int64_t numBlocks, int numThreads, BlockFunction body) {
  pool().run(numBlocks, numThreads, body);
}

void runInOrder(int64_t numBlocks, BlockFunction body) {
  for (int64_t block = 0; block < numBlocks; ++block)
    body.function(body.context, block);
}

} // namespace aicf::cpu
