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

template <typename T> __device__ inline SumOf<T> widened(T x) {
  return SumOf<T>(widen(x));
}
template <typename T> __device__ inline T narrowed(SumOf<T> sum) {
  return narrow<T>(Compute<T>(sum));
}

/// The sum of x over this lane and those before it.
template <typename S> __device__ inline S warpScan(S x) {
  int lane = threadIdx.x % 32;
  for (int offset = 1; offset < 32; offset *= 2) {
    S other = __shfl_up_sync(0xffffffffu, x, offset);
    if (lane >= offset)
      x = scalar::add(other, x);
  }
  return x;
}

/// Columns of a block, and threads that share each: as many as a warp has.
constexpr int kColumns = 32, kParts = 32;
/// Neighbours in a column that a thread takes in one step.
template <typename T> constexpr int kPerPart = sizeof(T) == 8 ? 4 : 8;

/// What a thread takes of its column from `from` on, where `left` elements are.
template <typename T> struct ColumnPart {
  T at[kPerPart<T>];
  __device__ void load(const T *from, int64_t hop, int64_t left) {
    if (left >= kPerPart<T>) {
#pragma unroll
      for (int i = 0; i < kPerPart<T>; ++i, from += hop)
        at[i] = *from;
    } else {
#pragma unroll
      for (int i = 0; i < kPerPart<T>; ++i, from += hop)
        at[i] = i < left ? *from : narrow<T>(Compute<T>(0));
    }
  }
};

/// Steps of 32 threads for each column: each adds up its neighbours, a warp adds the
/// sums of a column's threads, and each writes its own behind those before. The next
/// step's elements are on their way meanwhile.
template <typename T>
__global__ void __launch_bounds__(kColumns *kParts)
    columnsKernel(const __grid_constant__ ScanParams p) {
  const ScanRows &r = p.rows;
  // One more column: neighbours of a column lie in different banks.
  __shared__ SumOf<T> sums[kParts][kColumns + 1];
  const int part = threadIdx.x / kColumns, lane = threadIdx.x % kColumns;
  const int64_t perOuter = (r.inner + kColumns - 1) / kColumns;
  for (int64_t block = blockIdx.x; block < r.outer * perOuter;
       block += gridDim.x) {
    // Columns that are not there are read as the last one, and not written.
    const int64_t inner = block % perOuter * kColumns + lane;
    const bool isThere = inner < r.inner;
    const int64_t first =
        block / perOuter * r.n * r.inner + (isThere ? inner : r.inner - 1);
    const int64_t hop = r.isReversed ? -r.inner : r.inner;
    constexpr int kStep = kParts * kPerPart<T>;
    int64_t left = r.n - part * kPerPart<T>; // may be negative
    const int64_t at = first + r.at(part * kPerPart<T>) * r.inner;
    const T *x = static_cast<const T *>(p.x) + at;
    T *y = static_cast<T *>(p.y) + at;
    SumOf<T> before = 0;
    ColumnPart<T> next;
    next.load(x, hop, left);
    for (int64_t step = 0; step < r.n; step += kStep) {
      const ColumnPart<T> mine = next;
      x += kStep * hop;
      next.load(x, hop, left - kStep);
      SumOf<T> sum = 0;
#pragma unroll
      for (int i = 0; i < kPerPart<T>; ++i)
        sum = scalar::add(sum, widened(mine.at[i]));
      __syncthreads(); // the last step's sums are read
      sums[part][lane] = sum;
      __syncthreads();
      sums[lane][part] = warpScan(sums[lane][part]);
      __syncthreads();
      sum = part ? scalar::add(before, sums[part - 1][lane]) : before;
      before = scalar::add(before, sums[kParts - 1][lane]);
      T *to = y;
      if (isThere && left >= kPerPart<T>) {
#pragma unroll
        for (int i = 0; i < kPerPart<T>; ++i, to += hop) {
          sum = scalar::add(sum, widened(mine.at[i]));
          *to = narrowed<T>(sum);
        }
      } else if (isThere) {
#pragma unroll
        for (int i = 0; i < kPerPart<T>; ++i, to += hop) {
          sum = scalar::add(sum, widened(mine.at[i]));
          if (i < left)
            *to = narrowed<T>(sum);
        }
      }
      y += kStep * hop;
      left -= kStep;
    }
  }
}

/// From the order in memory to that in which elements are added, and back.
template <typename T, int V>
__device__ inline void order(Vec<T, V> &v, const ScanRows &r) {
  if (r.isReversed)
#pragma unroll
    for (int i = 0; i < V / 2; ++i) {
      T other = v.at[i];
      v.at[i] = v.at[V - 1 - i];
      v.at[V - 1 - i] = other;
    }
}

/// V neighbours of a row from position k on, which is a multiple of V. V divides the
/// row, so that all of them are there or none.
template <typename T, int V>
__device__ inline Vec<T, V> loadPart(const T *row, const ScanRows &r, int64_t k) {
  Vec<T, V> v{};
  if (k < r.n)
    v = loadVec<T, V>(row, (r.isReversed ? r.n - V - k : k) / V);
  return v;
}

/// Vectors that a thread loads at once.
constexpr int kVectors = 2;

/// A warp for each row: in each step a part of it, and the sum of those before. The
/// next part is on its way meanwhile.
template <typename T, int V>
__global__ void rowsKernel(const __grid_constant__ ScanParams p) {
  const ScanRows &r = p.rows;
  const int lane = threadIdx.x % 32;
  constexpr int64_t kStep = 32 * V;
  for (int64_t row = (int64_t(blockIdx.x) * kBlock + threadIdx.x) / 32;
       row < r.outer; row += int64_t(gridDim.x) * kBlock / 32) {
    const T *x = static_cast<const T *>(p.x) + row * r.n;
    T *y = static_cast<T *>(p.y) + row * r.n;
    SumOf<T> before = 0;
    Vec<T, V> next[kVectors];
#pragma unroll
    for (int u = 0; u < kVectors; ++u)
      next[u] = loadPart<T, V>(x, r, u * kStep + lane * V);
    for (int64_t k = lane * V; k - lane * V < r.n; k += kVectors * kStep) {
      Vec<T, V> part[kVectors];
#pragma unroll
      for (int u = 0; u < kVectors; ++u) {
        part[u] = next[u];
        next[u] = loadPart<T, V>(x, r, k + (kVectors + u) * kStep);
      }
#pragma unroll
      for (int u = 0; u < kVectors; ++u) {
        SumOf<T> mine = 0;
        order(part[u], r);
#pragma unroll
        for (int i = 0; i < V; ++i)
          mine = scalar::add(mine, widened(part[u].at[i]));
        SumOf<T> upTo = warpScan(mine);
        SumOf<T> sum = __shfl_up_sync(0xffffffffu, upTo, 1);
        sum = lane ? scalar::add(before, sum) : before;
        before = scalar::add(before, __shfl_sync(0xffffffffu, upTo, 31));
#pragma unroll
        for (int i = 0; i < V; ++i) {
          sum = scalar::add(sum, widened(part[u].at[i]));
          part[u].at[i] = narrowed<T>(sum);
        }
        order(part[u], r);
        const int64_t at = k + u * kStep;
        if (at < r.n)
          storeVec<T, V>(y, (r.isReversed ? r.n - V - at : at) / V, part[u]);
      }
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
  constexpr int kWidth = 16 / sizeof(T);
  bool fits = p.rows.n % kWidth == 0 &&
              (reinterpret_cast<uintptr_t>(p.x) |
               reinterpret_cast<uintptr_t>(p.y)) % 16 == 0;
  auto kernel = fits ? rowsKernel<T, kWidth> : rowsKernel<T, 1>;
  return {plan(kernel, gridFor(p.rows.outer * 32, limits), kBlock, p)};
}

} // namespace

#define AICF_KERNELS_OF_scan_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
