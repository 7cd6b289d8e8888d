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

/// Columns of a block, and parts of each that are added up side by side.
constexpr int kColumns = 32, kParts = 32;

/// A thread for each part of a column: the sum of its part first, then, from the sum
/// of the parts before, the running one. Parts have the same elements always, so the
/// bits do not change.
template <typename T>
__global__ void columnsKernel(const __grid_constant__ ScanParams p) {
  const ScanRows &r = p.rows;
  __shared__ SumOf<T> sums[kParts][kColumns];
  int part = threadIdx.x / kColumns, lane = threadIdx.x % kColumns;
  int64_t perOuter = (r.inner + kColumns - 1) / kColumns;
  int64_t length = (r.n + kParts - 1) / kParts;
  int64_t begin = part * length, end = min(r.n, begin + length);
  for (int64_t block = blockIdx.x; block < r.outer * perOuter;
       block += gridDim.x) {
    int64_t column = block % perOuter * kColumns + lane;
    int64_t first = block / perOuter * r.n * r.inner + column;
    bool isThere = column < r.inner;
    auto at = [&](int64_t k) {
      return first + (r.isReversed ? r.n - 1 - k : k) * r.inner;
    };
    SumOf<T> mine = 0;
    if (isThere)
#pragma unroll 8
      for (int64_t k = begin; k < end; ++k)
        mine = scalar::add(mine, load<T>(p, at(k)));
    __syncthreads(); // the last block's sums are read
    sums[part][lane] = mine;
    __syncthreads();
    SumOf<T> sum = 0;
    for (int before = 0; before < part; ++before)
      sum = scalar::add(sum, sums[before][lane]);
    if (isThere)
#pragma unroll 8
      for (int64_t k = begin; k < end; ++k) {
        sum = scalar::add(sum, load<T>(p, at(k)));
        store<T>(p, at(k), sum);
      }
  }
}

/// Neighbours that a thread adds up by itself.
constexpr int kEach = 4;

/// A warp a row of neighbours: 128 of them at a time, and the sum of those before.
template <typename T>
__global__ void rowsKernel(const __grid_constant__ ScanParams p) {
  const ScanRows &r = p.rows;
  int lane = threadIdx.x % 32;
  for (int64_t row = (int64_t(blockIdx.x) * kBlock + threadIdx.x) / 32;
       row < r.outer; row += int64_t(gridDim.x) * kBlock / 32) {
    SumOf<T> before = 0;
    for (int64_t k = 0; k < r.n; k += 32 * kEach) {
      int64_t first = k + lane * kEach;
      auto at = [&](int64_t i) {
        return row * r.n + (r.isReversed ? r.n - 1 - i : i);
      };
      SumOf<T> each[kEach], mine = 0;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        if (first + i < r.n)
          mine = scalar::add(mine, load<T>(p, at(first + i)));
        each[i] = mine;
      }
      SumOf<T> sum = mine;
      for (int offset = 1; offset < 32; offset *= 2) {
        SumOf<T> other = __shfl_up_sync(0xffffffffu, sum, offset);
        if (lane >= offset)
          sum = scalar::add(other, sum);
      }
      SumOf<T> ahead = __shfl_up_sync(0xffffffffu, sum, 1);
      ahead = scalar::add(before, lane ? ahead : SumOf<T>(0));
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        if (first + i < r.n)
          store<T>(p, at(first + i), scalar::add(ahead, each[i]));
      before = scalar::add(before, __shfl_sync(0xffffffffu, sum, 31));
    }
  }
}

template <typename T>
LaunchPlan cumsum(CumsumArgs call, const DeviceLimits &limits) {
  ScanParams p{call.x().dense(), call.y().dense(),
               ScanRows(call.x().desc, call.attrs().axis,
                        call.attrs().reversed)};
  if (p.rows.inner > 1) {
    int64_t blocks = p.rows.outer * ((p.rows.inner + kColumns - 1) / kColumns);
    return {plan(columnsKernel<T>, std::min<int64_t>(blocks, 1 << 20),
                 kColumns * kParts, p)};
  }
  return {plan(rowsKernel<T>, gridFor(p.rows.outer * 32, limits), kBlock, p)};
}

} // namespace

#define AICF_KERNELS_OF_scan_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
