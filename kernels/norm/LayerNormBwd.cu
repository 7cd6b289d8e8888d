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

#include "kernels/norm/Family.h"
#include "kernels/norm/LayerNormBwd.cuh"

namespace aicf::cuda {
namespace {

using families::kLayerNormWarps;
constexpr int kThreads = 32 * kLayerNormWarps;

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
        static_cast<T *>(p.sums[warp ? 1 : 0])[j] = narrow<T>(total);
    }
  }
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
  const RowsParams p(call);
  return launchesOf<T>(p, call->workspace, rowsKernelFor<T>(p.width), kThreads,
                       families::layerNormBlocks(p.rows));
}

} // namespace

#define AICF_KERNELS_OF_layer_norm_bwd_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
