//===- LayerNormBwd.cu - gradients of layer norm, many rows, on CUDA ------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A warp a row, whose elements stay in registers: dy and x are read once for dx
// and for the sums of dgamma and dbeta. Blocks write their sums to the
// workspace, and a second launch adds them. Without one, a block does all the
// work. The shape alone decides the order.
// LayerNorm.cu has the kernel for few rows, and for wide ones.
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "kernels/norm/ChunkSum.cuh"
#include "kernels/norm/Family.h"
#include "lib/Base/Walk.h"

namespace aicf::cuda {
namespace {

using families::kLayerNormWarps;
constexpr int kThreads = 32 * kLayerNormWarps;

struct RowsParams {
  const void *dy, *x, *gamma, *mean, *rstd;
  void *dx, *dgamma, *dbeta;
  void *partials; ///< [2, blocks, width]: dgamma, then dbeta; null: one block
  int64_t width, rows;
  Walk dyRows; ///< where they begin
};

/// A row as a lane sees it: elements lane, lane + 32, ...; `kColumns` of them.
template <typename T, int kColumns>
__global__ void __launch_bounds__(kThreads)
    layerNormRowsKernel(const __grid_constant__ RowsParams p) {
  using C = Compute<T>;
  __shared__ C sums[2][kLayerNormWarps][32];
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  C weight[kColumns], gamma[kColumns] = {}, beta[kColumns] = {};
#pragma unroll
  for (int k = 0; k < kColumns; ++k) {
    const int j = lane + 32 * k;
    weight[k] = j < p.width ? widen(static_cast<const T *>(p.gamma)[j]) : C(0);
  }
  for (int64_t row = int64_t(blockIdx.x) * kLayerNormWarps + warp;
       row < p.rows; row += int64_t(gridDim.x) * kLayerNormWarps) {
    const T *dy = static_cast<const T *>(p.dy) + p.dyRows.at(row);
    const T *x = static_cast<const T *>(p.x) + row * p.width;
    const C mean = widen(static_cast<const T *>(p.mean)[row]);
    const C rstd = widen(static_cast<const T *>(p.rstd)[row]);
    C g[kColumns], h[kColumns], sumG = 0, sumGH = 0;
#pragma unroll
    for (int k = 0; k < kColumns; ++k) { // all loads before the first use
      const int j = lane + 32 * k;
      g[k] = j < p.width ? widen(dy[j]) : C(0);
      h[k] = j < p.width ? widen(x[j]) : mean;
    }
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      h[k] = (h[k] - mean) * rstd;
      gamma[k] = fma(g[k], h[k], gamma[k]);
      beta[k] += g[k];
      g[k] *= weight[k];
      sumG += g[k];
      sumGH = fma(g[k], h[k], sumGH);
    }
    const C meanG = warpSum(sumG) / C(p.width);
    const C meanGH = warpSum(sumGH) / C(p.width);
    T *dx = static_cast<T *>(p.dx) + row * p.width;
#pragma unroll
    for (int k = 0; k < kColumns; ++k)
      if (const int j = lane + 32 * k; j < p.width)
        dx[j] = narrow<T>(rstd * (g[k] - meanG - h[k] * meanGH));
  }
  // The sums of the block's warps, 32 columns at a time.
#pragma unroll
  for (int k = 0; k < kColumns; ++k) {
    __syncthreads(); // the last use of sums is over
    sums[0][warp][lane] = gamma[k];
    sums[1][warp][lane] = beta[k];
    __syncthreads();
    const int j = lane + 32 * k;
    if (warp < 2 && j < p.width) {
      C total = 0;
      for (int w = 0; w < kLayerNormWarps; ++w)
        total += sums[warp][w][lane];
      if (p.partials)
        static_cast<C *>(
            p.partials)[(warp * int64_t(gridDim.x) + blockIdx.x) * p.width +
                        j] = total;
      else
        static_cast<T *>(warp ? p.dbeta : p.dgamma)[j] = narrow<T>(total);
    }
  }
}

struct SumsParams {
  const void *partials; ///< [2, blocks, width]
  void *dgamma, *dbeta;
  int64_t blocks, width;
};

/// dgamma in row 0 of the grid and dbeta in row 1: 32 columns a block.
template <typename T>
__global__ void layerNormSumsKernel(const __grid_constant__ SumsParams p) {
  using C = Compute<T>;
  const int64_t column = int64_t(blockIdx.x) * 32 + threadIdx.x;
  const C total = chunkSum(static_cast<const C *>(p.partials) +
                               blockIdx.y * p.blocks * p.width,
                           p.blocks, p.width, column);
  if (threadIdx.y == 0 && column < p.width)
    static_cast<T *>(blockIdx.y ? p.dbeta : p.dgamma)[column] =
        narrow<T>(total);
}

template <typename T> auto rowsKernelFor(int64_t width) {
  return width <= 64    ? layerNormRowsKernel<T, 2>
         : width <= 128 ? layerNormRowsKernel<T, 4>
         : width <= 256 ? layerNormRowsKernel<T, 8>
         : width <= 512 ? layerNormRowsKernel<T, 16>
                        : layerNormRowsKernel<T, 32>;
}

template <typename T>
LaunchPlan layerNormBwdOfRows(LayerNormBwdArgs call, const DeviceLimits &) {
  RowsParams p{call.dy().start(),
               call.x().dense(),
               call.gamma().dense(),
               call.mean().dense(),
               call.rstd().dense(),
               call.dx().dense(),
               call.dgamma().dense(),
               call.dbeta().dense(),
               call->workspace.dense(),
               call.gamma().elements(),
               0,
               rowsOf(call.dy().desc)};
  p.rows = call.x().elements() / p.width;
  // Less memory than it asked for makes fewer blocks.
  const int64_t fits =
      p.partials ? int64_t(call->workspace.desc.spanBytes() /
                           (2 * uint64_t(p.width) * sizeof(Compute<T>)))
                 : 0;
  const int64_t blocks = std::min(families::layerNormBlocks(p.rows), fits);
  if (blocks < 2) {
    p.partials = nullptr;
    return {plan(rowsKernelFor<T>(p.width), 1, kThreads, p)};
  }
  SumsParams s{p.partials, call.dgamma().dense(), call.dbeta().dense(), blocks,
               p.width};
  PlannedLaunch sums =
      plan(layerNormSumsKernel<T>, (p.width + 31) / 32, 32, s);
  sums.block[1] = 32;
  sums.grid[1] = 2;
  return {plan(rowsKernelFor<T>(p.width), blocks, kThreads, p), sums};
}

} // namespace

#define AICF_KERNELS_OF_layer_norm_bwd_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
