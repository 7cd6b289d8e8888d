//===- MemoryPlanner.h - offsets for buffers with lifetimes -----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Dynamic storage allocation, offline. Plain C++: knows buffers and the order
// of calls, not MLIR. Several heuristics run and the best packing is kept:
//   - greedy by size, by lifetime, by size x lifetime and by start, first fit
//     and best fit (Pisarchyk & Lee 2020, "Efficient memory management for deep
//     neural net inference");
//   - for up to kSearchLimit buffers, random exchanges in the best order while
//     the gap is open (seeded: the same input gives the same plan);
//   - for up to kExactLimit buffers, branch and bound: optimal;
//   - above kPairwiseLimit, time-ordered first fit over intervals only.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_SCHEDULE_MEMORYPLANNER_H
#define AICF_LIB_SCHEDULE_MEMORYPLANNER_H

#include "lib/Schedule/HappensBefore.h"

#include <vector>

namespace aicf {

struct PlannedBuffer {
  uint64_t bytes = 0; ///< unrounded
  AccessSet accesses; ///< not empty
};

struct MemoryPlan {
  std::vector<uint64_t> offsets; ///< multiples of kTensorAlignment
  uint64_t bytes = 0;            ///< size of the arena
  /// Largest sum of rounded sizes that are live at one call in list order: no
  /// plan can be smaller, on any number of streams (two buffers that are live
  /// at one point of a legal order may not share). Up to kPairwiseLimit
  /// buffers, at least a heavy set of buffers that may not share with each
  /// other; up to kExactLimit, the heaviest one.
  uint64_t lowerBound = 0;
  /// bytes / lowerBound - 1.
  double gap() const {
    return lowerBound ? double(bytes) / double(lowerBound) - 1 : 0;
  }
};

inline constexpr size_t kExactLimit = 12;
inline constexpr size_t kSearchLimit = 512;
inline constexpr size_t kPairwiseLimit = 1024;

/// Two buffers overlap in bytes only if every access to one happens before
/// every access to the other.
MemoryPlan planMemory(const std::vector<PlannedBuffer> &buffers,
                      const HappensBefore &order);

} // namespace aicf

#endif // AICF_LIB_SCHEDULE_MEMORYPLANNER_H
