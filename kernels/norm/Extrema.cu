//===- Extrema.cu - gradients of largest and smallest on CUDA -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The values themselves are in Reductions.cu.
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "kernels/norm/Family.h"
#include "lib/Base/Indices.h"

namespace aicf::cuda {
namespace {

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
