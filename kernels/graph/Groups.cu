//===- Groups.cu - what threads of a group reduce together ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Functions for graphs with reductions inside, as Scalars.cu has those of single
// elements. A group is `Across` threads over columns by `Along` over what is
// summed: thread t is at column t % Across. Up to kSumsOfGroup sums go together:
//
//   every thread: put(number of the sum, what it has)
//   barrier
//   every thread: gather(how many sums)
//   barrier
//   every thread: the sum of its column = get(number of the sum)
//
// A group of one warp or less needs no more than put(), which returns the sum.
// Each sum is added in one order, whichever thread looks.
//===----------------------------------------------------------------------===//

#include "kernels/graph/SumsParams.h"

namespace aicf::cuda {

/// What is reduced, two numbers at a time.
struct Sum {
  template <typename C> static __device__ C merge(C a, C b) { return a + b; }
};
/// The larger one; NaN, if one of them is.
struct Max {
  template <typename C> static __device__ C merge(C a, C b) {
    return a != a || a > b ? a : b;
  }
};

/// A group of one size: what warps have, and what groups have.
template <typename R, typename C, int Across, int Along> struct Group {
  static constexpr int kThreads = Across * Along, kWarps = kThreads / 32;
  static constexpr int kBlock = kThreads > 256 ? kThreads : 256;
  static constexpr int kBlockWarps = kBlock / 32;
  struct Memory {
    C ofWarp[kSumsOfGroup][kBlockWarps][Across];
    C ofGroup[kSumsOfGroup][kBlock / kThreads][Across];
  };
  static_assert(sizeof(Memory) == sizeof(C) * groupNumbers(Across, Along));
  static __device__ Memory &memory() {
    __shared__ Memory shared;
    return shared;
  }

  static __device__ __forceinline__ C put(int32_t number, C x) {
#pragma unroll
    for (int offset = Across; offset < 32 && offset < kThreads; offset *= 2)
      x = R::merge(x, __shfl_xor_sync(0xffffffffu, x, offset));
    if constexpr (kWarps > 1) {
      const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
      if (lane < Across)
        memory().ofWarp[number][warp][lane] = x;
    }
    return x;
  }
  /// A part of a warp has the sums of all warps of a group, of one column.
  static __device__ __forceinline__ void gather(int32_t count) {
    const uint32_t all = count * Across * kBlockWarps;
    // Threads of one warp take as many turns: they shuffle.
    for (uint32_t at = threadIdx.x; at - threadIdx.x % 32 < all; at += kBlock) {
      const uint32_t from = at < all ? at : 0;
      const uint32_t warp = from % kBlockWarps;
      const uint32_t column = from / kBlockWarps % Across;
      const uint32_t number = from / kBlockWarps / Across;
      C x = memory().ofWarp[number][warp][column];
#pragma unroll
      for (int offset = 1; offset < kWarps; offset *= 2)
        x = R::merge(x, __shfl_xor_sync(0xffffffffu, x, offset));
      if (at < all && warp % kWarps == 0)
        memory().ofGroup[number][warp / kWarps][column] = x;
    }
  }
  static __device__ __forceinline__ C get(int32_t number) {
    const int warp = threadIdx.x / 32;
    return memory().ofGroup[number][warp / kWarps][threadIdx.x % Across];
  }
};

} // namespace aicf::cuda

#define AICF_GROUP_OF_WARP(NAME, R, C, ACROSS, ALONG)                          \
  extern "C" __device__ C aicf_group_put_##NAME##_##ACROSS##_##ALONG(          \
      int32_t number, C x) {                                                   \
    return aicf::cuda::Group<aicf::cuda::R, C, ACROSS, ALONG>::put(number, x); \
  }
#define AICF_GROUP(NAME, R, C, ACROSS, ALONG)                                  \
  AICF_GROUP_OF_WARP(NAME, R, C, ACROSS, ALONG)                                \
  extern "C" __device__ int32_t aicf_group_gather_##NAME##_##ACROSS##_##ALONG( \
      int32_t count) {                                                         \
    aicf::cuda::Group<aicf::cuda::R, C, ACROSS, ALONG>::gather(count);         \
    return 0;                                                                  \
  }                                                                            \
  extern "C" __device__ C aicf_group_get_##NAME##_##ACROSS##_##ALONG(          \
      int32_t number) {                                                        \
    return aicf::cuda::Group<aicf::cuda::R, C, ACROSS, ALONG>::get(number);    \
  }
// Those that groupPlanOf() in Family.h asks for.
#define AICF_ROWS(NAME, R, C)                                                  \
  AICF_GROUP_OF_WARP(NAME, R, C, 1, 8)                                         \
  AICF_GROUP_OF_WARP(NAME, R, C, 1, 32)                                        \
  AICF_GROUP(NAME, R, C, 1, 256)                                               \
  AICF_GROUP(NAME, R, C, 1, 512)
#define AICF_COLUMNS(NAME, R, C)                                               \
  AICF_GROUP(NAME, R, C, 2, 128)                                               \
  AICF_GROUP(NAME, R, C, 2, 256)                                               \
  AICF_GROUP(NAME, R, C, 8, 32)                                                \
  AICF_GROUP(NAME, R, C, 8, 64)
AICF_ROWS(sum_f32, Sum, float)
AICF_ROWS(sum_f64, Sum, double)
AICF_ROWS(max_f32, Max, float)
AICF_ROWS(max_f64, Max, double)
AICF_COLUMNS(sum_f32, Sum, float)
AICF_COLUMNS(sum_f64, Sum, double)
