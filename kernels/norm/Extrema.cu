//===- Extrema.cu - largest and smallest along a dimension on CUDA --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A warp for each result. Lanes look at elements in turns, then the warp
// compares value and position, so that the first of equal ones is found in any
// order.
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "kernels/norm/Family.h"
#include "lib/Base/Indices.h"

namespace aicf::cuda {
namespace {

struct ExtremumParams {
  const void *x;
  void *y;
  int32_t *index;
  int64_t size, inner, results;
};

/// Whether (a, i) comes before (b, k): NaN first, then the better one, then the
/// one in front.
template <bool isMax, typename C>
__device__ inline bool isBefore(C a, int64_t i, C b, int64_t k) {
  bool isNaNA = a != a, isNaNB = b != b;
  if (isNaNA != isNaNB)
    return isNaNA;
  if (!isNaNA && a != b)
    return isMax ? a > b : a < b;
  return i < k;
}

template <typename T, bool isMax>
__global__ void extremumKernel(const __grid_constant__ ExtremumParams p) {
  using C = Compute<T>;
  const T *x = static_cast<const T *>(p.x);
  int64_t warps = int64_t(gridDim.x) * (blockDim.x / 32);
  int lane = threadIdx.x % 32;
  for (int64_t at = int64_t(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
       at < p.results; at += warps) {
    const T *from = x + at / p.inner * p.size * p.inner + at % p.inner;
    int64_t best = lane < p.size ? lane : 0;
    C value = widen(from[best * p.inner]);
    for (int64_t i = lane + 32; i < p.size; i += 32) {
      C other = widen(from[i * p.inner]);
      if (isBefore<isMax>(other, i, value, best)) {
        value = other;
        best = i;
      }
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      C other = __shfl_xor_sync(0xffffffffu, value, offset);
      int64_t i = __shfl_xor_sync(0xffffffffu, best, offset);
      if (isBefore<isMax>(other, i, value, best)) {
        value = other;
        best = i;
      }
    }
    if (lane == 0) {
      static_cast<T *>(p.y)[at] = from[best * p.inner];
      p.index[at] = int32_t(best);
    }
  }
}

template <typename T, bool isMax, typename Args>
LaunchPlan reduceExtremum(Args call, const DeviceLimits &limits) {
  families::SumExtents e(call.x().desc, call.y().desc, call.attrs().axis);
  ExtremumParams p{call.x().dense(),
                   call.y().dense(),
                   call.index().template dense<int32_t>(),
                   e.size,
                   e.inner,
                   e.outer * e.inner};
  return {plan(extremumKernel<T, isMax>, gridFor(p.results * 32, limits),
               kBlock, p)};
}

struct ExtremumBwdParams {
  const void *dy;
  Indices index;
  void *dx;
  int64_t size, inner, elements;
};

template <typename T>
__global__ void extremumBwdKernel(const __grid_constant__ ExtremumBwdParams p) {
  gridStride(p.elements, [&](int64_t at) {
    int64_t row = at / p.inner;
    int64_t from = row / p.size * p.inner + at % p.inner;
    static_cast<T *>(p.dx)[at] = p.index[from] == row % p.size
                                     ? static_cast<const T *>(p.dy)[from]
                                     : narrow<T>(Compute<T>(0));
  });
}

template <typename T>
LaunchPlan extremumBwd(ExtremumBwdArgs call, const DeviceLimits &limits) {
  families::SumExtents e(call.dx().desc, call.dy().desc, call.attrs().axis);
  ExtremumBwdParams p{call.dy().dense(), Indices(call.index()),
                      call.dx().dense(), e.size,
                      e.inner,           call.dx().elements()};
  return {plan(extremumBwdKernel<T>, gridFor(p.elements, limits), kBlock, p)};
}

} // namespace

#define AICF_KERNELS_OF_extrema_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
