//===- LayerNormBwd.cuh - what gradients of layer norm share ----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Blocks write their sums of columns to the workspace, and a second launch adds them.
// Without one, a block does all the work.
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
  const void *residual = nullptr; ///< what dx is added to, or null
  void *dx;                       ///< or the sum of both
  /// dgamma, dbeta, and the sums over the rows of dx, or null.
  void *sums[3];
  /// [2 or 3, blocks, width]; null: one block
  void *partials = nullptr;
  int64_t width, rows;
  Walk dyRows; ///< where they begin
  int warps = 1;  ///< of a row, where lanes have vectors
  int stages = 1; ///< rows that have room in shared memory

  RowsParams(const LayerNormBwdArgs &call, const TensorView &dx)
      : dy(call.dy().start()), x(call.x().dense()), gamma(call.gamma().dense()),
        mean(call.mean().dense()), rstd(call.rstd().dense()), dx(dx.dense()),
        sums{call.dgamma().dense(), call.dbeta().dense(), nullptr},
        width(call.gamma().elements()), rows(call.x().elements() / width),
        dyRows(rowsOf(call.dy().desc)) {}
  explicit RowsParams(const LayerNormBwdArgs &call) : RowsParams(call, call.dx()) {}
};

struct SumsParams {
  const void *partials; ///< [2 or 3, blocks, width]
  void *sums[3];
  int64_t blocks, width;
};

/// A result in each row of the grid: 32 columns a block.
template <typename T>
__global__ void layerNormSumsKernel(const __grid_constant__ SumsParams p) {
  using C = Compute<T>;
  const int64_t column = int64_t(blockIdx.x) * 32 + threadIdx.x;
  const C total = chunkSum(static_cast<const C *>(p.partials) +
                               blockIdx.y * p.blocks * p.width,
                           p.blocks, p.width, column);
  if (threadIdx.y == 0 && column < p.width)
    static_cast<T *>(p.sums[blockIdx.y])[column] = narrow<T>(total);
}

/// The launches of a kernel whose blocks have `threads` threads: up to `most` of them,
/// and fewer where less memory than it asked for is there.
template <typename T>
LaunchPlan launchesOf(RowsParams p, const TensorView &workspace,
                      void (*kernel)(RowsParams), int threads, int64_t most,
                      uint32_t sharedBytes = 0) {
  const uint32_t sums = p.sums[2] ? 3 : 2;
  const int64_t fits =
      workspace.dense() ? int64_t(workspace.desc.spanBytes() /
                                  (sums * uint64_t(p.width) * sizeof(Compute<T>)))
                        : 0;
  const int64_t blocks = std::min(most, fits);
  if (blocks < 2)
    return {plan(kernel, 1, threads, p, sharedBytes)};
  p.partials = workspace.dense();
  PlannedLaunch added =
      plan(layerNormSumsKernel<T>, (p.width + 31) / 32, 32,
           SumsParams{p.partials, {p.sums[0], p.sums[1], p.sums[2]}, blocks, p.width});
  added.block[1] = 32;
  added.grid[1] = sums;
  return {plan(kernel, blocks, threads, p, sharedBytes), added};
}

} // namespace
} // namespace aicf::cuda

#endif // AICF_KERNELS_NORM_LAYERNORMBWD_CUH
