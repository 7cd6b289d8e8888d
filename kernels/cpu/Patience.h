//===- Patience.h - do helpers pay on this machine now? ---------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A caller waits for a helper in the middle of a block. Where other work takes
// the helper's processor, that costs more than helpers save, so regions run
// alone for a while. Whoever owns one tells it the times and asks; it reads no
// clock. Where a virtual machine's processors are taken away unseen, that
// counts as work.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CPU_PATIENCE_H
#define AICF_KERNELS_CPU_PATIENCE_H

#include <algorithm>
#include <chrono>

namespace aicf::cpu {

/// What a region was like for its caller.
struct RegionTimes {
  using Duration = std::chrono::steady_clock::duration;
  /// Of a block that the caller did, on average; where blocks had blocks, of
  /// those.
  Duration block{};
  /// By the blocks that others did, were they like the caller's.
  Duration saved{};
  /// For the last helper with nothing else to do, where that was long.
  Duration waited{};
  /// Of that the helper had a processor, as the system counts it.
  Duration worked{};
};

class Patience {
public:
  using Clock = std::chrono::steady_clock;
  /// A wait is long, and measured, after this. A helper that has no processor
  /// for as long again, and longer than two of the caller's blocks take, meets
  /// other work on the machine. (Blocks of one region need not be alike, so a
  /// wait alone says nothing.)
  static constexpr std::chrono::microseconds kLimit{200};
  /// After that regions run alone for so many times what was lost, each time
  /// twice as many, until helpers have earned so many times what was lost.
  static constexpr int kFirstPause = 16, kLongestPause = 1024, kEarned = 8;
  /// More is counted as this: the process was stopped (Ctrl-Z, a machine that
  /// slept), which says nothing about other work.
  static constexpr std::chrono::microseconds kMostLost{10000};

  bool isPaused(Clock::time_point now) const { return now < pausedUntil; }

  void learn(Clock::time_point now, const RegionTimes &region) {
    Clock::duration lost = region.waited - region.worked;
    if (lost <= std::max<Clock::duration>(kLimit, 2 * region.block)) {
      earned += region.saved;
      if (earned >= debt)
        nextPause = kFirstPause;
      return;
    }
    lost = std::min<Clock::duration>(lost, kMostLost);
    earned = Clock::duration::zero();
    debt = kEarned * lost;
    pausedUntil = now + nextPause * lost;
    nextPause = std::min(2 * nextPause, kLongestPause);
  }

private:
  int nextPause = kFirstPause;
  Clock::time_point pausedUntil;
  Clock::duration earned{}, debt{};
};

} // namespace aicf::cpu

#endif // AICF_KERNELS_CPU_PATIENCE_H
