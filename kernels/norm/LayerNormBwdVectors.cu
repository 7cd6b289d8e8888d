//===- LayerNormBwdVectors.cu - gradients of layer norm by vectors --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// 1 to 8 warps a row, whose lanes have vectors of 16 bytes: dy and x are read once for dx
// and for the sums of dgamma and dbeta, which stay in registers over the rows of a group.
// The gradient of a residual connection may be added to dx, and rows of that be summed.
// The shape alone decides the order. Rows whose vectors do not fill lanes have kernels of
// their own in LayerNormBwd.cu.
//===----------------------------------------------------------------------===//

#include "kernels/norm/Family.h"
#include "kernels/norm/LayerNormBwd.cuh"

namespace aicf::cuda {
namespace {

using families::kLayerNormWarps;
constexpr int kThreads = 32 * kLayerNormWarps;

/// Waits for the warps that have a row, and for no other row's.
template <int kWarps> __device__ void waitForRow() {
  if constexpr (kWarps == kLayerNormWarps)
    __syncthreads();
  else
    asm volatile("bar.sync %0, %1;" ::"r"(1 + int(threadIdx.x) / (32 * kWarps)),
                 "n"(32 * kWarps)
                 : "memory");
}

/// The sums of two numbers over the kWarps warps that have a row, in order.
template <int kWarps, typename C>
__device__ void sumOverRow(C &a, C &b, C (&shared)[2][kLayerNormWarps]) {
  a = warpSum(a);
  b = warpSum(b);
  if constexpr (kWarps > 1) {
    const int warp = int(threadIdx.x) / 32, first = warp / kWarps * kWarps;
    if (threadIdx.x % 32 == 0) {
      shared[0][warp] = a;
      shared[1][warp] = b;
    }
    waitForRow<kWarps>();
    a = b = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      a += shared[0][first + w];
      b += shared[1][first + w];
    }
  }
}

/// What a lane has of a row: vectors l, l + 32 · kWarps, ... of lane l.
template <typename T, int kWarps> struct LaneOfRow {
  static constexpr int V = 16 / sizeof(T), kVectors = families::kLayerNormLane / V;
  Vec<T, V> dy[kVectors], x[kVectors];
  Compute<T> mean = 0, rstd = 0;

  __device__ void load(const RowsParams &p, int64_t row, int lane, int vectors) {
    if (row >= p.rows)
      return;
    const T *slopes = static_cast<const T *>(p.dy) + p.dyRows.at(row);
    const T *own = static_cast<const T *>(p.x) + row * p.width;
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      if (lane + 32 * kWarps * k < vectors) {
        dy[k] = loadVec<T, V>(slopes, lane + 32 * kWarps * k);
        x[k] = loadVec<T, V>(own, lane + 32 * kWarps * k);
      }
    mean = widen(static_cast<const T *>(p.mean)[row]);
    rstd = widen(static_cast<const T *>(p.rstd)[row]);
  }
};

/// kWarps warps have a row. They ask for the next one before they compute.
template <typename T, int kWarps, bool kAdds>
__global__ void __launch_bounds__(kThreads, 2)
    layerNormVectorsKernel(const __grid_constant__ RowsParams p) {
  using C = Compute<T>;
  using Lane = LaneOfRow<T, kWarps>;
  constexpr int V = Lane::V, kVectors = Lane::kVectors, kLanes = 32 * kWarps;
  constexpr int kGroups = kLayerNormWarps / kWarps, kSums = kAdds ? 3 : 2;
  // Turns use one after the other: who is fast does not overwrite what others read.
  __shared__ C shared[2][2][kLayerNormWarps];
  const int lane = int(threadIdx.x) % kLanes, group = int(threadIdx.x) / kLanes;
  const int vectors = int(p.width / V);
  Vec<T, V> weight[kVectors];
  C totals[kSums][kVectors][V] = {}; // dgamma, dbeta, and of what is written
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    if (lane + kLanes * k < vectors)
      weight[k] = loadVec<T, V>(static_cast<const T *>(p.gamma), lane + kLanes * k);
  int turn = 0;
  const int64_t step = int64_t(gridDim.x) * kGroups;
  Lane next;
  next.load(p, int64_t(blockIdx.x) * kGroups + group, lane, vectors);
  for (int64_t first = int64_t(blockIdx.x) * kGroups; first < p.rows;
       first += step, turn ^= 1) {
    const int64_t row = first + group;
    const bool isRow = row < p.rows;
    Lane own = next;
    next.load(p, row + step, lane, vectors);
    const C mean = own.mean, rstd = own.rstd;
    C sumG = 0, sumGH = 0;
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      if (isRow && lane + kLanes * k < vectors)
#pragma unroll
        for (int v = 0; v < V; ++v) {
          const C slope = widen(own.dy[k].at[v]);
          const C h = (widen(own.x[k].at[v]) - mean) * rstd;
          totals[0][k][v] = fma(slope, h, totals[0][k][v]);
          totals[1][k][v] += slope;
          const C g = slope * widen(weight[k].at[v]);
          sumG += g;
          sumGH = fma(g, h, sumGH);
        }
    sumOverRow<kWarps>(sumG, sumGH, shared[turn]);
    const C meanG = sumG / C(p.width), meanGH = sumGH / C(p.width);
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      if (isRow && lane + kLanes * k < vectors) {
#pragma unroll
        for (int v = 0; v < V; ++v) {
          const C h = (widen(own.x[k].at[v]) - mean) * rstd;
          const C g = widen(own.dy[k].at[v]) * widen(weight[k].at[v]);
          own.x[k].at[v] = narrow<T>(rstd * (g - meanG - h * meanGH));
        }
        if constexpr (kAdds) {
          const Vec<T, V> residual =
              loadVec<T, V>(static_cast<const T *>(p.residual) + row * p.width,
                            lane + kLanes * k);
#pragma unroll
          for (int v = 0; v < V; ++v) {
            own.x[k].at[v] =
                narrow<T>(widen(residual.at[v]) + widen(own.x[k].at[v]));
            totals[2][k][v] += widen(own.x[k].at[v]);
          }
        }
        storeVec<T, V>(static_cast<T *>(p.dx) + row * p.width, lane + kLanes * k,
                       own.x[k]);
      }
  }
  // The sums of the block's groups, a vector of each lane at a time.
  __shared__ C sums[kSums][kGroups][kLanes * V];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    __syncthreads(); // the last use of sums is over
#pragma unroll
    for (int v = 0; v < V; ++v)
#pragma unroll
      for (int which = 0; which < kSums; ++which)
        sums[which][group][lane * V + v] = totals[which][k][v];
    __syncthreads();
    for (int at = int(threadIdx.x); at < kSums * kLanes * V; at += kThreads) {
      const int which = at / (kLanes * V), column = at % (kLanes * V);
      const int64_t j = int64_t(kLanes * k) * V + column;
      if (j >= p.width || !p.sums[which])
        continue;
      C total = 0;
      for (int g = 0; g < kGroups; ++g)
        total += sums[which][g][column];
      if (p.partials)
        static_cast<C *>(
            p.partials)[(which * int64_t(gridDim.x) + blockIdx.x) * p.width + j] = total;
      else
        static_cast<T *>(p.sums[which])[j] = narrow<T>(total);
    }
  }
}

template <typename T, bool kAdds>
LaunchPlan vectorLaunchesOf(const RowsParams &p, const TensorView &workspace) {
  const int64_t warps = (p.width + 32 * families::kLayerNormLane - 1) /
                        (32 * families::kLayerNormLane);
  return launchesOf<T>(p, workspace,
                       warps <= 1   ? layerNormVectorsKernel<T, 1, kAdds>
                       : warps <= 2 ? layerNormVectorsKernel<T, 2, kAdds>
                       : warps <= 4 ? layerNormVectorsKernel<T, 4, kAdds>
                                    : layerNormVectorsKernel<T, 8, kAdds>,
                       kThreads, families::layerNormVectorBlocks(p.rows));
}

template <typename T>
LaunchPlan layerNormBwdOfVectors(LayerNormBwdArgs call, const DeviceLimits &) {
  return vectorLaunchesOf<T, false>(RowsParams(call), call->workspace);
}

template <typename T>
LaunchPlan layerNormBwdAddOfVectors(LayerNormBwdAddArgs call, const DeviceLimits &) {
  RowsParams p(call.bwd(), call.add().c());
  p.residual = call.add().a().dense();
  if (call.sum())
    p.sums[2] = call.sum()->y().dense();
  return vectorLaunchesOf<T, true>(p, call->workspace);
}

} // namespace

#define AICF_KERNELS_OF_layer_norm_bwd_vectors_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
