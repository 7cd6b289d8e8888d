//===- RowLanes.cuh - rows of vectors that warps share ----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A row lies in the registers of 1 to 8 warps, whose lanes have vectors of 16 bytes, and a
// block has several rows at once. The width alone decides how many.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_NORM_ROWLANES_CUH
#define AICF_KERNELS_NORM_ROWLANES_CUH

#include "kernels/cuda/Common.cuh"
#include "kernels/norm/Family.h"

namespace aicf::cuda {
namespace {

using families::kRowWarps;

/// Where a thread is. Lane l has the vectors l, l + lanes(), ... of its group's row.
struct RowLanes {
  int warps, lane, group, groups;

  __device__ explicit RowLanes(int warps)
      : warps(warps), lane(int(threadIdx.x) % (32 * warps)),
        group(int(threadIdx.x) / (32 * warps)), groups(int(blockDim.x) / (32 * warps)) {}
  __device__ int lanes() const { return 32 * warps; }

  /// Makes numbers the sums of them over a row's warps, added in their order. Uses that
  /// follow on each other have two `shared`: who is fast does not overwrite what is read.
  template <int kCount, typename C>
  __device__ void sum(C (&x)[kCount], C (&shared)[kCount][kRowWarps]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      x[i] = warpSum(x[i]);
    if (warps == 1)
      return;
    const int warp = int(threadIdx.x) / 32;
    if (threadIdx.x % 32 == 0)
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        shared[i][warp] = x[i];
    // Waits for the warps of this row, and for no other row's.
    asm volatile("bar.sync %0, %1;" ::"r"(1 + group), "r"(lanes()) : "memory");
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      x[i] = 0;
    for (int w = group * warps; w < (group + 1) * warps; ++w)
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        x[i] += shared[i][w];
  }
};

/// Calls use(elements, warps) with how many elements a lane has of rows of `width`.
template <typename Use> auto withRowElements(int64_t width, Use use) {
  constexpr int few = families::kRowElements;
  if (width <= 32 * families::kMostRowWarps * few)
    return use(std::integral_constant<int, few>(), int((width + 32 * few - 1) / (32 * few)));
  return use(std::integral_constant<int, 2 * few>(),
             int((width + 64 * few - 1) / (64 * few)));
}

} // namespace
} // namespace aicf::cuda

#endif // AICF_KERNELS_NORM_ROWLANES_CUH
