//===- LayerNorm.cu - layer norm and its gradients on CUDA ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A block a row; sums in an order that the shape alone decides.
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "lib/Base/Walk.h"

namespace aicf::cuda {
namespace {

struct LayerNormParams {
  const void *x, *gamma, *beta;
  void *y, *mean, *rstd;
  int64_t width, rows;
  double eps;
  const void *residual; ///< added to x; only where the kernel adds
  void *sum;            ///< x + residual, or null
};

struct LayerNormBwdParams {
  const void *dy, *x, *gamma, *mean, *rstd;
  void *dx, *dgamma, *dbeta;
  int64_t width, rows;
  Walk dyRows; ///< where they begin
};

/// Mean, then variance around it, then the row. A thread reads and writes the
/// same elements in each pass, and writes in the last: results may take the
/// storage of x and of what is added to it.
template <typename T, bool kAdds>
__device__ void layerNormRow(const LayerNormParams &p, int64_t row,
                             Compute<T> *scratch) {
  using C = Compute<T>;
  int64_t base = row * p.width;
  auto element = [&](int64_t j) {
    C x = widen(static_cast<const T *>(p.x)[base + j]);
    if constexpr (kAdds)
      x += widen(static_cast<const T *>(p.residual)[base + j]);
    return x;
  };
  C sum = 0, squares = 0;
  for (int64_t j = threadIdx.x; j < p.width; j += blockDim.x)
    sum += element(j);
  C mean = blockSum(sum, scratch) / C(p.width);
  for (int64_t j = threadIdx.x; j < p.width; j += blockDim.x) {
    C d = element(j) - mean;
    squares = fma(d, d, squares);
  }
  C variance = blockSum(squares, scratch) / C(p.width);
  C rstd = C(1) / sqrt(variance + C(p.eps));
  for (int64_t j = threadIdx.x; j < p.width; j += blockDim.x) {
    C x = element(j);
    if (kAdds && p.sum)
      static_cast<T *>(p.sum)[base + j] = narrow<T>(x);
    static_cast<T *>(p.y)[base + j] = narrow<T>(
        (x - mean) * rstd * widen(static_cast<const T *>(p.gamma)[j]) +
        widen(static_cast<const T *>(p.beta)[j]));
  }
  if (threadIdx.x == 0) {
    static_cast<T *>(p.mean)[row] = narrow<T>(mean);
    static_cast<T *>(p.rstd)[row] = narrow<T>(rstd);
  }
}

template <typename T, bool kAdds>
__global__ void layerNormKernel(const __grid_constant__ LayerNormParams p) {
  __shared__ Compute<T> scratch[32];
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x)
    layerNormRow<T, kAdds>(p, row, scratch);
}

/// The norm of `x`, or of x + `residual`.
template <typename T, bool kAdds>
LaunchPlan planLayerNorm(const LayerNormArgs &call, const TensorView &x,
                         const void *residual, void *sum) {
  int64_t width = call.gamma().elements();
  LayerNormParams p{x.dense(),
                    call.gamma().dense(),
                    call.beta().dense(),
                    call.y().dense(),
                    call.mean().dense(),
                    call.rstd().dense(),
                    width,
                    x.elements() / width,
                    call.attrs().eps,
                    residual,
                    sum};
  return {plan(layerNormKernel<T, kAdds>, rowGrid(p.rows),
               width > 512 ? 256 : 64, p)};
}

template <typename T>
LaunchPlan layerNorm(LayerNormArgs call, const DeviceLimits &) {
  return planLayerNorm<T, false>(call, call.x(), nullptr, nullptr);
}

template <typename T>
LaunchPlan addLayerNorm(AddLayerNormArgs call, const DeviceLimits &) {
  return planLayerNorm<T, true>(call.norm(), call.add().a(),
                                call.add().b().dense(), call.add().c().dense());
}

/// dx = rstd·(g - mean(g) - h·mean(g·h)) of one row.
template <typename T>
__device__ void layerNormDxRow(const LayerNormBwdParams &p, int64_t row,
                               Compute<T> *scratch) {
  using C = Compute<T>;
  int64_t base = row * p.width;
  const T *dy = static_cast<const T *>(p.dy) + p.dyRows.at(row);
  const T *x = static_cast<const T *>(p.x) + base;
  const T *gamma = static_cast<const T *>(p.gamma);
  C mean = widen(static_cast<const T *>(p.mean)[row]);
  C rstd = widen(static_cast<const T *>(p.rstd)[row]);
  C sumG = 0, sumGH = 0;
  for (int64_t j = threadIdx.x; j < p.width; j += blockDim.x) {
    C g = widen(dy[j]) * widen(gamma[j]);
    sumG += g;
    sumGH = fma(g * (widen(x[j]) - mean), rstd, sumGH);
  }
  C meanG = blockSum(sumG, scratch) / C(p.width);
  C meanGH = blockSum(sumGH, scratch) / C(p.width);
  for (int64_t j = threadIdx.x; j < p.width; j += blockDim.x) {
    C g = widen(dy[j]) * widen(gamma[j]), h = (widen(x[j]) - mean) * rstd;
    static_cast<T *>(p.dx)[base + j] =
        narrow<T>(rstd * (g - meanG - h * meanGH));
  }
}

template <typename T>
__global__ void
layerNormDxKernel(const __grid_constant__ LayerNormBwdParams p) {
  __shared__ Compute<T> scratch[32];
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x)
    layerNormDxRow<T>(p, row, scratch);
}

/// dgamma = Σ dy·h and dbeta = Σ dy: 32 columns a block.
template <typename T>
__global__ void
layerNormParamsKernel(const __grid_constant__ LayerNormBwdParams p) {
  using C = Compute<T>;
  __shared__ C sums[2][32][33];
  int64_t column = int64_t(blockIdx.x) * 32 + threadIdx.x;
  C gamma = 0, beta = 0;
  if (column < p.width)
    for (int64_t r = threadIdx.y; r < p.rows; r += 32) {
      int64_t at = r * p.width + column;
      C dy = widen(static_cast<const T *>(p.dy)[p.dyRows.at(r) + column]);
      C h = (widen(static_cast<const T *>(p.x)[at]) -
             widen(static_cast<const T *>(p.mean)[r])) *
            widen(static_cast<const T *>(p.rstd)[r]);
      gamma = fma(dy, h, gamma);
      beta += dy;
    }
  sums[0][threadIdx.y][threadIdx.x] = gamma;
  sums[1][threadIdx.y][threadIdx.x] = beta;
  __syncthreads();
  if (threadIdx.y > 1 || column >= p.width)
    return;
  C total = 0;
  for (int r = 0; r < 32; ++r)
    total += sums[threadIdx.y][r][threadIdx.x];
  static_cast<T *>(threadIdx.y ? p.dbeta : p.dgamma)[column] = narrow<T>(total);
}

template <typename T>
LaunchPlan layerNormBwd(LayerNormBwdArgs call, const DeviceLimits &) {
  LayerNormBwdParams p{call.dy().start(),
                       call.x().dense(),
                       call.gamma().dense(),
                       call.mean().dense(),
                       call.rstd().dense(),
                       call.dx().dense(),
                       call.dgamma().dense(),
                       call.dbeta().dense(),
                       0,
                       0,
                       rowsOf(call.dy().desc)};
  p.width = call.gamma().elements();
  p.rows = call.x().elements() / p.width;
  PlannedLaunch columns =
      plan(layerNormParamsKernel<T>, (p.width + 31) / 32, 32, p);
  columns.block[1] = 32;
  return {
      plan(layerNormDxKernel<T>, rowGrid(p.rows), p.width > 512 ? 256 : 64, p),
      columns};
}

} // namespace

#define AICF_KERNELS_OF_layer_norm_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
