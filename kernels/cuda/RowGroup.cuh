//===- RowGroup.cuh - the threads that share a row --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CUDA_ROWGROUP_CUH
#define AICF_KERNELS_CUDA_ROWGROUP_CUH

#include "kernels/cuda/Common.cuh"

namespace aicf::cuda {

/// A row is a warp's work, a whole block's where it is long, or a thread's where it
/// is short: `size` threads that start at a multiple of `size`.
struct RowGroup {
  int size, lane;
  void *scratch; ///< 32 values of a block, where the group is one

  template <typename C> __device__ C sum(C x) const {
    if (size == 1)
      return x;
    return size == 32 ? warpSum(x) : blockSum(x, static_cast<C *>(scratch));
  }
  template <typename C> __device__ C max(C x) const {
    if (size == 1)
      return x;
    for (int offset = 16; offset > 0; offset /= 2) {
      C other = __shfl_xor_sync(0xffffffffu, x, offset);
      x = other > x ? other : x;
    }
    if (size == 32)
      return x;
    C *warps = static_cast<C *>(scratch);
    __syncthreads(); // the last use of scratch is over
    if (threadIdx.x % 32 == 0)
      warps[threadIdx.x / 32] = x;
    __syncthreads();
    for (int w = 0; w < size / 32; ++w)
      x = warps[w] > x ? warps[w] : x;
    return x;
  }
};

/// Rows longer than this are a block's work.
constexpr int64_t kLongRow = 1024;

} // namespace aicf::cuda

#endif // AICF_KERNELS_CUDA_ROWGROUP_CUH
