//===- LayerNormBwd.cuh - what gradients of layer norm share ----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Blocks write their sums of dgamma and dbeta to the workspace, and a second launch adds
// them. Without one, a block does all the work.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_NORM_LAYERNORMBWD_CUH
#define AICF_KERNELS_NORM_LAYERNORMBWD_CUH

#include "kernels/cuda/Common.cuh"
#include "kernels/norm/ChunkSum.cuh"
#include "lib/Base/Walk.h"

namespace aicf::cuda {
namespace {

struct RowsParams {
  const void *dy, *x, *gamma, *mean, *rstd;
  void *dx, *dgamma, *dbeta;
  void *partials = nullptr; ///< [2, blocks, width]: dgamma, then dbeta; null: one block
  int64_t width, rows;
  Walk dyRows; ///< where they begin

  explicit RowsParams(const LayerNormBwdArgs &call)
      : dy(call.dy().start()), x(call.x().dense()), gamma(call.gamma().dense()),
        mean(call.mean().dense()), rstd(call.rstd().dense()), dx(call.dx().dense()),
        dgamma(call.dgamma().dense()), dbeta(call.dbeta().dense()),
        width(call.gamma().elements()), rows(call.x().elements() / width),
        dyRows(rowsOf(call.dy().desc)) {}
};

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

/// The launches of a kernel whose blocks have `threads` threads: up to `most` of them,
/// and fewer where less memory than it asked for is there.
template <typename T>
LaunchPlan launchesOf(RowsParams p, const LayerNormBwdArgs &call,
                      void (*kernel)(RowsParams), int threads, int64_t most) {
  const TensorView &workspace = call->workspace;
  const int64_t fits =
      workspace.dense() ? int64_t(workspace.desc.spanBytes() /
                                  (2 * uint64_t(p.width) * sizeof(Compute<T>)))
                        : 0;
  const int64_t blocks = std::min(most, fits);
  if (blocks < 2)
    return {plan(kernel, 1, threads, p)};
  p.partials = workspace.dense();
  SumsParams s{p.partials, call.dgamma().dense(), call.dbeta().dense(), blocks,
               p.width};
  PlannedLaunch sums =
      plan(layerNormSumsKernel<T>, (p.width + 31) / 32, 32, s);
  sums.block[1] = 32;
  sums.grid[1] = 2;
  return {plan(kernel, blocks, threads, p), sums};
}

} // namespace
} // namespace aicf::cuda

#endif // AICF_KERNELS_NORM_LAYERNORMBWD_CUH
