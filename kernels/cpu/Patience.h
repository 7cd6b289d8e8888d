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

/// The times of one parallel region, as its caller measured them.
struct RegionTimes {
  using Duration = std::chrono::steady_clock::duration;
  /// The average time of the blocks that the caller ran. Of nested regions, the
  /// innermost blocks count.
  Duration block{};
  /// The time that helpers saved: the number of their blocks times `block`.
  Duration saved{};
  /// How long the caller waited for the last helper; zero for a short wait.
  Duration waited{};
  /// CPU time that this helper got during the wait, from the operating system.
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
  /// After a loss, regions run without helpers for kFirstPause times the time
  /// that was lost. Each further loss doubles the factor, up to kLongestPause.
  /// It starts again when helpers have saved kEarned times what was lost.
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
