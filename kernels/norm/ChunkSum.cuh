//===- ChunkSum.cuh - sums of what blocks have summed, on CUDA --*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_NORM_CHUNKSUM_CUH
#define AICF_KERNELS_NORM_CHUNKSUM_CUH

#include <cstdint>

namespace aicf::cuda {

/// The sum over c of partials[c * n + column], in an order that `chunks` alone
/// decides. A block of 32 x 32 threads has 32 columns; its first row of threads
/// gets the sums, of columns below n.
template <typename C>
__device__ C chunkSum(const C *partials, int64_t chunks, int64_t n,
                      int64_t column) {
  __shared__ C sums[32][32];
  C mine = 0;
  if (column < n)
    for (int64_t c = threadIdx.y; c < chunks; c += 32)
      mine += partials[c * n + column];
  sums[threadIdx.y][threadIdx.x] = mine;
  __syncthreads();
  C total = 0;
  if (threadIdx.y == 0)
    for (int row = 0; row < 32; ++row)
      total += sums[row][threadIdx.x];
  return total;
}

} // namespace aicf::cuda

#endif // AICF_KERNELS_NORM_CHUNKSUM_CUH
