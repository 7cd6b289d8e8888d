//===- Sums.cu - sums over a dimension on CUDA ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// No atomics: every sum is taken in an order that the shape alone decides. A
// large reduction writes partial sums to the call's workspace and a second
// launch adds them; without workspace one launch does all the work.
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "kernels/norm/ChunkSum.cuh"
#include "kernels/norm/Family.h"
#include "kernels/norm/StridedSum.h"

namespace aicf::cuda {
namespace {

/// Columns: sums over `size` of x[o, i, j] for each (o, j). A block is X
/// columns of V wide and kColumnThreads / X rows high; `chunks` blocks share a
/// column.
using families::kColumnThreads;

struct ColumnParams {
  const void *x, *saved; ///< saved: relu_bwd's mask, or null
  void *dx;              ///< relu_bwd's result
  void *out;             ///< y, or partial sums [chunks, outer, inner]
  int64_t outer, size, inner;
  int64_t rowsPerChunk;
  double divisor; ///< of the sums; 1 changes no bit
};

template <typename T, int V, int X, bool kMask, bool kPartial>
__global__ void __launch_bounds__(kColumnThreads)
    columnKernel(const __grid_constant__ ColumnParams p) {
  using C = Compute<T>;
  constexpr int kRows = kColumnThreads / X;
  __shared__ C sums[kRows][X * V + 1];
  int64_t column = (int64_t(blockIdx.x) * X + threadIdx.x) * V;
  int64_t first = blockIdx.y * p.rowsPerChunk;
  int64_t last = min(p.size, first + p.rowsPerChunk);
  for (int64_t outer = blockIdx.z; outer < p.outer; outer += gridDim.z) {
    int64_t base = outer * p.size * p.inner + column;
    C mine[V] = {};
    __syncthreads(); // the last use of sums is over
    if (column < p.inner)
#pragma unroll 4
      for (int64_t i = first + threadIdx.y; i < last; i += kRows) {
        int64_t vector = (base + i * p.inner) / V;
        Vec<T, V> x = loadVec<T, V>(static_cast<const T *>(p.x), vector);
        if constexpr (kMask) {
          Vec<T, V> s = loadVec<T, V>(static_cast<const T *>(p.saved), vector);
#pragma unroll
          for (int k = 0; k < V; ++k)
            if (!(widen(s.at[k]) > 0))
              x.at[k] = narrow<T>(C(0));
          storeVec<T, V>(static_cast<T *>(p.dx), vector, x);
        }
#pragma unroll
        for (int k = 0; k < V; ++k)
          mine[k] += widen(x.at[k]);
      }
#pragma unroll
    for (int k = 0; k < V; ++k)
      sums[threadIdx.y][threadIdx.x * V + k] = mine[k];
    // Halving in a fixed order.
    for (int half = kRows / 2; half > 0; half /= 2) {
      __syncthreads();
      if (int(threadIdx.y) < half)
#pragma unroll
        for (int k = 0; k < V; ++k)
          sums[threadIdx.y][threadIdx.x * V + k] +=
              sums[threadIdx.y + half][threadIdx.x * V + k];
    }
    if (threadIdx.y != 0 || column >= p.inner)
      continue;
#pragma unroll
    for (int k = 0; k < V; ++k) {
      C total = sums[0][threadIdx.x * V + k];
      int64_t at = outer * p.inner + column + k;
      if constexpr (kPartial)
        static_cast<C *>(p.out)[int64_t(blockIdx.y) * p.outer * p.inner + at] =
            total;
      else
        static_cast<T *>(p.out)[at] = narrow<T>(total / C(p.divisor));
    }
  }
}

struct CombineParams {
  const void *partials; ///< [chunks, n]
  void *out;            ///< [n]
  int64_t chunks, n;
  double divisor;
};

template <typename T>
__global__ void combineKernel(const __grid_constant__ CombineParams p) {
  using C = Compute<T>;
  gridStride(p.n, [&](int64_t j) {
    C total = 0;
    for (int64_t c = 0; c < p.chunks; ++c)
      total += static_cast<const C *>(p.partials)[c * p.n + j];
    static_cast<T *>(p.out)[j] = narrow<T>(total / C(p.divisor));
  });
}

/// 32 sums a block, each by 32 threads: for few sums of many chunks.
template <typename T>
__global__ void combineSharedKernel(const __grid_constant__ CombineParams p) {
  using C = Compute<T>;
  const int64_t j = int64_t(blockIdx.x) * 32 + threadIdx.x;
  const C total =
      chunkSum(static_cast<const C *>(p.partials), p.chunks, p.n, j);
  if (threadIdx.y == 0 && j < p.n)
    static_cast<T *>(p.out)[j] = narrow<T>(total / C(p.divisor));
}

/// The launches of a column sum; `p` comes with its pointers but out. kNarrow:
/// chunks are added by many threads.
template <typename T, int V, int X, bool kMask, bool kNarrow>
LaunchPlan planColumns(const TensorView &workspace, const DeviceLimits &limits,
                       ColumnParams p, int64_t outer, void *result) {
  using C = Compute<T>;
  constexpr int64_t kRows = kColumnThreads / X;
  p.outer = outer;
  int64_t strips = (p.inner + X * V - 1) / (X * V);
  int64_t fits =
      workspace.dense()
          ? int64_t(workspace.desc.spanBytes() / sizeof(C)) / (outer * p.inner)
          : 0;
  int64_t chunks = std::min<int64_t>(
      families::columnChunks(strips * outer, p.size, kRows), fits);
  auto launch = [&](auto kernel, int64_t numChunks) {
    p.rowsPerChunk = (p.size + numChunks - 1) / numChunks;
    PlannedLaunch l = plan(kernel, strips, X, p);
    l.block[1] = kRows;
    l.grid[1] = uint32_t(numChunks);
    l.grid[2] = uint32_t(std::min<int64_t>(outer, 65535));
    return l;
  };
  if (chunks < 2) {
    p.out = result;
    return {launch(columnKernel<T, V, X, kMask, false>, 1)};
  }
  p.out = workspace.dense();
  CombineParams c{p.out, result, chunks, outer * p.inner, p.divisor};
  PlannedLaunch combine;
  if constexpr (kNarrow) {
    combine = plan(combineSharedKernel<T>, (c.n + 31) / 32, 32, c);
    combine.block[1] = 32;
  } else {
    combine = plan(combineKernel<T>, gridFor(c.n, limits), kBlock, c);
  }
  return {launch(columnKernel<T, V, X, kMask, true>, chunks), combine};
}

/// Large tensors: 16 bytes a thread. Small ones: narrow blocks, of which there
/// are more; 4 bytes a thread where the width allows it.
template <typename T, bool kMask, bool kNarrow = false>
LaunchPlan planColumnsOfAnyWidth(const TensorView &workspace,
                                 const DeviceLimits &limits, ColumnParams p,
                                 int64_t outer, void *result) {
  uintptr_t bits = 0;
  for (const void *at : {p.x, p.saved, static_cast<const void *>(p.dx)})
    bits |= reinterpret_cast<uintptr_t>(at);
  constexpr int kWide = 16 / sizeof(T), kPair = sizeof(T) == 2 ? 2 : 1;
  bool isLarge = p.size * p.inner * outer >= families::kLargeColumns;
  if (isLarge && p.inner % kWide == 0 && bits % 16 == 0) {
    if constexpr (kNarrow)
      if (p.inner <= 16 * kWide) // no thread without a column
        return p.inner <= 8 * kWide
                   ? planColumns<T, kWide, 8, kMask, true>(workspace, limits, p,
                                                           outer, result)
                   : planColumns<T, kWide, 16, kMask, true>(workspace, limits,
                                                            p, outer, result);
    return planColumns<T, kWide, 32, kMask, kNarrow>(workspace, limits, p,
                                                     outer, result);
  }
  if (p.inner % kPair == 0 && bits % 4 == 0)
    return planColumns<T, kPair, 8, kMask, kNarrow>(workspace, limits, p, outer,
                                                    result);
  return planColumns<T, 1, 8, kMask, kNarrow>(workspace, limits, p, outer,
                                              result);
}

struct RowParams {
  const void *x;
  void *y;
  int64_t size, rows;
  double divisor;
};

/// Rows: a block a row.
template <typename T>
__global__ void rowKernel(const __grid_constant__ RowParams p) {
  using C = Compute<T>;
  __shared__ C scratch[32];
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
    const T *x = static_cast<const T *>(p.x) + row * p.size;
    C sum = 0;
    for (int64_t i = threadIdx.x; i < p.size; i += blockDim.x)
      sum += widen(x[i]);
    sum = blockSum(sum, scratch);
    if (threadIdx.x == 0)
      static_cast<T *>(p.y)[row] = narrow<T>(sum / C(p.divisor));
  }
}

/// reduce_sum and reduce_mean.
template <typename T, typename Args>
LaunchPlan sumAndDivide(const Args &call, const DeviceLimits &limits,
                        double divisor) {
  families::SumExtents e(call.x().desc, call.y().desc, call.attrs().axis);
  if (e.inner == 1) {
    RowParams p{call.x().dense(), call.y().dense(), e.size, e.outer, divisor};
    return {plan(rowKernel<T>, rowGrid(e.outer), e.size > 512 ? 256 : 32, p)};
  }
  ColumnParams p{};
  p.x = call.x().dense();
  p.size = e.size;
  p.inner = e.inner;
  p.divisor = divisor;
  return planColumnsOfAnyWidth<T, false>(call->workspace, limits, p, e.outer,
                                         call.y().dense());
}

template <typename T>
LaunchPlan reduceSum(ReduceSumArgs call, const DeviceLimits &limits) {
  return sumAndDivide<T>(call, limits, 1);
}
template <typename T>
LaunchPlan reduceMean(ReduceMeanArgs call, const DeviceLimits &limits) {
  return sumAndDivide<T>(call, limits,
                         double(call.x().elements() / call.y().elements()));
}

struct StridedSumParams {
  const void *x;
  void *y;
  StridedSum sum;
  int32_t lanes; ///< neighbouring sums that a block computes at once
  double divisor;
};

/// Sums of an x that lies anywhere. Threads that lie side by side read what lies
/// side by side: of one sum, or of `lanes` sums.
template <typename T>
__global__ void __launch_bounds__(kBlock)
    stridedSumKernel(const __grid_constant__ StridedSumParams p) {
  using C = Compute<T>;
  __shared__ C sums[kBlock];
  const int groups = kBlock / p.lanes;
  const int lane = int(threadIdx.x) % p.lanes, group = int(threadIdx.x) / p.lanes;
  for (int64_t first = int64_t(blockIdx.x) * p.lanes; first < p.sum.outputs;
       first += int64_t(gridDim.x) * p.lanes) {
    const int64_t output = first + lane;
    C mine = 0;
    if (output < p.sum.outputs) {
      const T *from = static_cast<const T *>(p.x) + p.sum.kept.at(output);
      for (int64_t i = group; i < p.sum.size; i += groups)
        mine += widen(from[p.sum.summed.at(i)]);
    }
    __syncthreads(); // the last use of sums is over
    sums[threadIdx.x] = mine;
    for (int half = groups / 2; half > 0; half /= 2) { // in a fixed order
      __syncthreads();
      if (group < half)
        sums[threadIdx.x] += sums[threadIdx.x + half * p.lanes];
    }
    if (group == 0 && output < p.sum.outputs)
      static_cast<T *>(p.y)[output] =
          narrow<T>(sums[threadIdx.x] / C(p.divisor));
  }
}

template <typename T, typename Args>
LaunchPlan sumAnywhere(const Args &call, const DeviceLimits &limits,
                       double divisor) {
  StridedSumParams p{call.x().start(), call.y().dense(),
                     StridedSum(call.x().desc, call.y().desc,
                                call.attrs().axis),
                     1, divisor};
  p.lanes = p.sum.liesAlongSums() ? 32 : 1;
  int64_t blocks = (p.sum.outputs + p.lanes - 1) / p.lanes;
  return {plan(stridedSumKernel<T>, gridFor(blocks * kBlock, limits), kBlock,
               p)};
}
template <typename T>
LaunchPlan reduceSumStrided(ReduceSumArgs call, const DeviceLimits &limits) {
  return sumAnywhere<T>(call, limits, 1);
}
template <typename T>
LaunchPlan reduceMeanStrided(ReduceMeanArgs call, const DeviceLimits &limits) {
  return sumAnywhere<T>(call, limits,
                        double(call.x().elements() / call.y().elements()));
}

struct ExpandParams {
  const void *x;
  void *y;
  int64_t size, inner, elements;
};

/// y[o,i,k] = x[o,k].
template <typename T>
__global__ void expandKernel(const __grid_constant__ ExpandParams p) {
  gridStride(p.elements, [&](int64_t at) {
    int64_t row = at / p.inner, k = at - row * p.inner;
    static_cast<T *>(p.y)[at] =
        static_cast<const T *>(p.x)[row / p.size * p.inner + k];
  });
}

template <typename T>
LaunchPlan expand(ExpandArgs call, const DeviceLimits &limits) {
  families::SumExtents e(call.y().desc, call.x().desc, call.attrs().axis);
  ExpandParams p{call.x().dense(), call.y().dense(), e.size, e.inner,
                 call.y().elements()};
  return {plan(expandKernel<T>, gridFor(p.elements, limits), kBlock, p)};
}

template <typename T, bool kNarrow>
LaunchPlan reluBwdReduce(ReluBwdReduceArgs call, const DeviceLimits &limits) {
  ColumnParams p{};
  ReluBwdArgs bwd = call.bwd();
  p.x = bwd.dy().dense();
  p.saved = bwd.saved().dense();
  p.dx = bwd.dx().dense();
  p.divisor = 1;
  p.size = bwd.dy().desc.rows();
  p.inner = bwd.dy().desc.width();
  return planColumnsOfAnyWidth<T, true, kNarrow>(call->workspace, limits, p, 1,
                                                 call.sum().y().dense());
}

} // namespace

#define AICF_KERNELS_OF_sums_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
