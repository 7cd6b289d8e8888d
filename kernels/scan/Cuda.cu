//===- Cuda.cu - cumsum on CUDA --------------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "kernels/pointwise/Scalars.h"
#include "kernels/scan/Scan.h"

namespace aicf::cuda {
namespace {

struct ScanParams {
  const void *x;
  void *y;
  ScanRows rows;
};

template <typename T>
using SumOf = std::conditional_t<std::is_integral_v<T>, T, double>;

template <typename T>
__device__ inline void store(const ScanParams &p, int64_t at, SumOf<T> sum) {
  static_cast<T *>(p.y)[at] = narrow<T>(Compute<T>(sum));
}
template <typename T>
__device__ inline SumOf<T> load(const ScanParams &p, int64_t at) {
  return SumOf<T>(widen(static_cast<const T *>(p.x)[at]));
}

/// A thread a row, whose neighbours' elements are its elements' neighbours.
template <typename T>
__global__ void columnsKernel(const __grid_constant__ ScanParams p) {
  const ScanRows &r = p.rows;
  gridStride(r.outer * r.inner, [&](int64_t row) {
    int64_t first = row / r.inner * r.n * r.inner + row % r.inner;
    SumOf<T> sum = 0;
    for (int64_t k = 0; k < r.n; ++k) {
      int64_t at = first + (r.isReversed ? r.n - 1 - k : k) * r.inner;
      sum = scalar::add(sum, load<T>(p, at));
      store<T>(p, at, sum);
    }
  });
}

/// A warp a row of neighbours: 32 of them at a time, and the sum of those before.
template <typename T>
__global__ void rowsKernel(const __grid_constant__ ScanParams p) {
  const ScanRows &r = p.rows;
  int lane = threadIdx.x % 32;
  for (int64_t row = (int64_t(blockIdx.x) * kBlock + threadIdx.x) / 32;
       row < r.outer; row += int64_t(gridDim.x) * kBlock / 32) {
    SumOf<T> before = 0;
    for (int64_t k = 0; k < r.n; k += 32) {
      int64_t along = r.isReversed ? r.n - 1 - k - lane : k + lane;
      bool isThere = k + lane < r.n;
      SumOf<T> sum = isThere ? load<T>(p, row * r.n + along) : SumOf<T>(0);
      for (int offset = 1; offset < 32; offset *= 2) {
        SumOf<T> other = __shfl_up_sync(0xffffffffu, sum, offset);
        if (lane >= offset)
          sum = scalar::add(other, sum);
      }
      sum = scalar::add(before, sum);
      if (isThere)
        store<T>(p, row * r.n + along, sum);
      before = __shfl_sync(0xffffffffu, sum, 31);
    }
  }
}

template <typename T>
LaunchPlan cumsum(CumsumArgs call, const DeviceLimits &limits) {
  ScanParams p{call.x().dense(), call.y().dense(),
               ScanRows(call.x().desc, call.attrs().axis,
                        call.attrs().reversed)};
  if (p.rows.inner > 1)
    return {plan(columnsKernel<T>, gridFor(p.rows.outer * p.rows.inner, limits),
                 kBlock, p)};
  return {plan(rowsKernel<T>, gridFor(p.rows.outer * 32, limits), kBlock, p)};
}

} // namespace

#define AICF_KERNELS_OF_scan_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
