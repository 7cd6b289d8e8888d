//===- Schedule.h - how losses are partitioned ------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// It decides bits: see kernels/Schedule.h.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_LOSS_SCHEDULE_H
#define AICF_KERNELS_LOSS_SCHEDULE_H

#include "kernels/Schedule.h"

#include <algorithm>
#include <cstddef>

namespace aicf::families {

/// Threads of a block that does all rows: f64 has registers for no more.
inline constexpr int64_t kOnlyBlock = 512;
/// Rows up to this are a thread's work, in the loss.
inline constexpr int64_t kShortRow = 32;

/// The threads of a row's block, and how many blocks run at once. They decide
/// the order of sums, so an H200's shared memory decides about them, whatever
/// the card has.
struct RowBlocks {
  uint32_t stagedBytes; ///< of a row, or more than any block has
  int threads;
  int64_t blocks;
};
inline RowBlocks rowBlocks(int64_t width, size_t elementBytes,
                           bool isStaged) {
  constexpr int64_t kKiB = 1024, kOfMultiprocessor = 224 * kKiB;
  // Up to a vector in front of the row.
  const int64_t bytes = width * int64_t(elementBytes) + 16;
  const int threads = bytes <= 16 * kKiB    ? 128
                      : bytes <= 48 * kKiB  ? 256
                      : bytes <= 111 * kKiB ? 512
                                            : 1024;
  const int64_t most = 1024 / threads; // of 64 registers for each thread
  const int64_t fit = isStaged ? kOfMultiprocessor / (bytes + kKiB) : most;
  return {uint32_t(std::min<int64_t>(bytes, UINT32_MAX)), threads,
          std::clamp<int64_t>(fit, 1, most) * kMultiprocessors};
}

} // namespace aicf::families

#endif // AICF_KERNELS_LOSS_SCHEDULE_H
