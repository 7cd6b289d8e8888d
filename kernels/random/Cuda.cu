//===- Cuda.cu - dropout and random numbers on CUDA -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "kernels/random/Philox.h"

namespace aicf::cuda {
namespace {

struct DropoutParams {
  const void *x, *step;
  void *y;
  int64_t n;
  uint64_t threshold, seed;
  double scale;
};

/// A thread draws once for four elements, which it moves together where that is
/// aligned (V = 4).
template <typename T, typename Int, int V>
__global__ void dropoutKernel(const __grid_constant__ DropoutParams p) {
  using C = Compute<T>;
  const T *x = static_cast<const T *>(p.x);
  T *y = static_cast<T *>(p.y);
  auto step = uint64_t(int64_t(*static_cast<const Int *>(p.step)));
  C scale = C(p.scale);
  gridStride((p.n + 3) / 4, [&](int64_t group) {
    PhiloxWords words = philox(p.seed, uint64_t(group), step);
    auto drop = [&](int k, T value) {
      return words.at[k] >= p.threshold ? narrow<T>(widen(value) * scale)
                                        : narrow<T>(C(0));
    };
    if constexpr (V == 4) {
      Vec<T, 4> v = loadVec<T, 4>(x, group);
#pragma unroll
      for (int k = 0; k < 4; ++k)
        v.at[k] = drop(k, v.at[k]);
      storeVec<T, 4>(y, group, v);
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (int64_t i = 4 * group + k; i < p.n)
          y[i] = drop(k, x[i]);
    }
  });
}

template <typename T, typename Int>
LaunchPlan planDropout(const DropoutParams &p, const DeviceLimits &limits) {
  int64_t blocks = gridFor((p.n + 3) / 4, limits);
  uintptr_t bits =
      reinterpret_cast<uintptr_t>(p.x) | reinterpret_cast<uintptr_t>(p.y);
  if (p.n % 4 == 0 && bits % 16 == 0)
    return {plan(dropoutKernel<T, Int, 4>, blocks, kBlock, p)};
  return {plan(dropoutKernel<T, Int, 1>, blocks, kBlock, p)};
}

template <typename T>
LaunchPlan dropout(DropoutArgs call, const DeviceLimits &limits) {
  DropoutAttrs attrs = call.attrs();
  DropoutParams p{call.x().dense(),       call.step().dense(),
                  call.y().dense(),       call.x().elements(),
                  dropThreshold(attrs.p), uint64_t(attrs.seed),
                  1 / (1 - attrs.p)};
  if (call.step().desc.dtype == DType::I32)
    return planDropout<T, int32_t>(p, limits);
  return planDropout<T, int64_t>(p, limits);
}

struct DrawParams {
  const void *step;
  void *y;
  int64_t n;
  uint64_t seed;
  double start, scale; ///< low and high - low, or mean and deviation
  double most;         ///< what a number is at most
  int bits;            ///< uniform
};

/// A thread draws once for four elements.
template <typename T, typename Int, bool kNormal>
__global__ void drawKernel(const __grid_constant__ DrawParams p) {
  using C = Compute<T>;
  auto step = uint64_t(int64_t(*static_cast<const Int *>(p.step)));
  C start = C(p.start), scale = C(p.scale), most = C(p.most);
  gridStride((p.n + 3) / 4, [&](int64_t group) {
    PhiloxWords words = philox(p.seed, uint64_t(group), step);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      C number;
      if constexpr (kNormal)
        number = normalOf<C>(words.at[k / 2 * 2], words.at[k / 2 * 2 + 1],
                             k % 2);
      else
        number = uniformOf<C>(words.at[k], p.bits);
      if (int64_t i = 4 * group + k; i < p.n)
        static_cast<T *>(p.y)[i] = narrow<T>(min(start + scale * number, most));
    }
  });
}

template <typename T, typename Int>
LaunchPlan uniform(UniformArgs call, const DeviceLimits &limits) {
  UniformAttrs attrs = call.attrs();
  DrawParams p{call.step().dense(),
               call.y().dense(),
               call.y().elements(),
               uint64_t(attrs.seed),
               attrs.low,
               attrs.high - attrs.low,
               greatestUniform(call.y().desc.dtype, attrs.low, attrs.high),
               uniformBits(call.y().desc.dtype)};
  return {plan(drawKernel<T, Int, false>, gridFor((p.n + 3) / 4, limits),
               kBlock, p)};
}

template <typename T, typename Int>
LaunchPlan normal(NormalArgs call, const DeviceLimits &limits) {
  NormalAttrs attrs = call.attrs();
  DrawParams p{call.step().dense(), call.y().dense(), call.y().elements(),
               uint64_t(attrs.seed), attrs.mean, attrs.std, INFINITY, 0};
  return {plan(drawKernel<T, Int, true>, gridFor((p.n + 3) / 4, limits), kBlock,
               p)};
}

} // namespace

#define AICF_KERNELS_OF_random_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
