//===- Kernels.h - the CUDA kernels by KID ----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A kernel family plans a call once: which functions, with which grid and
// parameters. Launching is the device's business, so that every launch goes
// through its one table of CUDA calls. No CUDA headers here.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CUDA_KERNELS_H
#define AICF_KERNELS_CUDA_KERNELS_H

#include "lib/Ops/Launch.h"

#include <algorithm>
#include <string_view>

namespace aicf::cuda {

/// One kernel launch, ready to go. Every kernel takes one struct by value.
struct PlannedLaunch {
  const void *function = nullptr; ///< the __global__ function's host symbol
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t sharedBytes = 0;     ///< dynamic shared memory, up to the limit
  std::vector<uint64_t> params; ///< the struct's bytes
};

/// The launches of a call, in order. The first is the KID's function; a second
/// one combines its partial results.
using LaunchPlan = std::vector<PlannedLaunch>;

/// What a kernel may assume of the card.
struct DeviceLimits {
  int numMultiprocessors;
  int threadsPerMultiprocessor;
  /// The most that a block may ask for, beside up to 1 KiB that its kernel
  /// declares.
  uint32_t sharedBytesOfBlock = 0;
};

/// Threads of a block, where nothing asks for others.
inline constexpr int kBlock = 256;

/// Blocks for `items` independent items, capped at `waves` full waves.
inline int64_t gridFor(int64_t items, const DeviceLimits &limits,
                       int block = kBlock, int waves = 4) {
  int64_t blocksPerSm = limits.threadsPerMultiprocessor / block;
  int64_t cap = int64_t(limits.numMultiprocessors) * blocksPerSm * waves;
  return std::max<int64_t>(1, std::min((items + block - 1) / block, cap));
}

/// Cannot fail: the call was checked against its row.
using Planner = LaunchPlan (*)(const LaunchArgs &, const DeviceLimits &);

/// The planner of a CUDA row with a kernel of our own, or nullptr.
Planner findPlanner(std::string_view kid);

} // namespace aicf::cuda

#endif // AICF_KERNELS_CUDA_KERNELS_H
