//===- Common.cuh - what CUDA kernels share ---------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Element types, 16-byte vectors, sums in a fixed order, and how a planner
// turns a __global__ function and its parameter struct into a PlannedLaunch.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CUDA_COMMON_CUH
#define AICF_KERNELS_CUDA_COMMON_CUH

#include "kernels/Schedule.h"
#include "kernels/cuda/KernelDecls.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace aicf::cuda {

using f32 = float;
using f64 = double;
using f16 = __half;
using bf16 = __nv_bfloat16;
using i32 = int32_t;
using i64 = int64_t;
using i1 = uint8_t;

/// What a kernel on T computes in.
template <typename T>
using Compute =
    std::conditional_t<std::is_same_v<T, double> || std::is_integral_v<T>, T,
                       float>;

template <typename T> __device__ inline Compute<T> widen(T x) {
  return static_cast<Compute<T>>(x);
}
template <> __device__ inline float widen(f16 x) { return __half2float(x); }
template <> __device__ inline float widen(bf16 x) {
  return __bfloat162float(x);
}

/// Rounds to nearest even.
template <typename T> __device__ inline T narrow(Compute<T> x) {
  return static_cast<T>(x);
}
template <> __device__ inline f16 narrow<f16>(float x) {
  return __float2half_rn(x);
}
template <> __device__ inline bf16 narrow<bf16>(float x) {
  return __float2bfloat16_rn(x);
}

/// V elements that one or two 16-byte instructions load or store.
template <typename T, int V>
struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) Vec {
  static constexpr int kSize = V;
  T at[V];
};
template <typename T, int V>
__device__ inline Vec<T, V> loadVec(const T *from, int64_t vector) {
  return reinterpret_cast<const Vec<T, V> *>(from)[vector];
}
template <typename T, int V>
__device__ inline void storeVec(T *to, int64_t vector, const Vec<T, V> &v) {
  reinterpret_cast<Vec<T, V> *>(to)[vector] = v;
}

/// The same where addresses may be no multiples of a vector's size: what a
/// thread adds up, and so the bits of a sum, does not depend on addresses.
template <typename T, int V>
__device__ inline Vec<T, V> loadVec(const T *from, int64_t vector,
                                    bool isAligned) {
  if (isAligned)
    return loadVec<T, V>(from, vector);
  Vec<T, V> v;
#pragma unroll
  for (int k = 0; k < V; ++k)
    v.at[k] = from[vector * V + k];
  return v;
}
template <typename T, int V>
__device__ inline void storeVec(T *to, int64_t vector, const Vec<T, V> &v,
                                bool isAligned) {
  if (isAligned)
    return storeVec<T, V>(to, vector, v);
#pragma unroll
  for (int k = 0; k < V; ++k)
    to[vector * V + k] = v.at[k];
}

/// Sum over a warp in a fixed order; every lane gets it.
template <typename C> __device__ inline C warpSum(C x) {
  for (int offset = 16; offset > 0; offset /= 2)
    x += __shfl_xor_sync(0xffffffffu, x, offset);
  return x;
}

/// Sum over a block of up to 1024 threads in a fixed order; every thread gets
/// it. `scratch` holds 32 values and may be reused after the next barrier.
template <typename C> __device__ inline C blockSum(C x, C *scratch) {
  x = warpSum(x);
  __syncthreads(); // the last use of scratch is over
  if (threadIdx.x % 32 == 0)
    scratch[threadIdx.x / 32] = x;
  __syncthreads();
  int warps = (blockDim.x + 31) / 32;
  C mine = int(threadIdx.x % 32) < warps ? scratch[threadIdx.x % 32] : C(0);
  return warpSum(mine);
}

/// Calls body(i) for this thread's share of [0, n).
template <typename Body>
__device__ inline void gridStride(int64_t n, Body body) {
  int64_t stride = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride)
    body(i);
}

/// The part that this block belongs to: the last of `count` whose first block
/// is not behind it.
__device__ inline int partOfBlock(const uint32_t *firstBlocks, int count) {
  int low = 0, high = count - 1;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (firstBlocks[middle] <= blockIdx.x)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// A launch of `function` over a one-dimensional grid.
template <typename Params>
PlannedLaunch plan(void (*function)(Params), int64_t grid, int block,
                   const Params &params, uint32_t sharedBytes = 0) {
  static_assert(std::is_trivially_copyable_v<Params>);
  PlannedLaunch launch;
  launch.function = reinterpret_cast<const void *>(function);
  launch.grid[0] = uint32_t(grid);
  launch.block[0] = uint32_t(block);
  launch.sharedBytes = sharedBytes;
  launch.params.resize((sizeof(Params) + 7) / 8);
  std::memcpy(launch.params.data(), &params, sizeof(Params));
  return launch;
}

/// Blocks for `rows`, which a block takes one after the other.
inline int64_t rowGrid(int64_t rows) {
  return std::min<int64_t>(rows, 1 << 20);
}

/// What orders of sums are laid out for: the same on every card.
using families::kMultiprocessors;
using families::kThreadsPerMultiprocessor;

} // namespace aicf::cuda

#endif // AICF_KERNELS_CUDA_COMMON_CUH
