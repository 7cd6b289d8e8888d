//===- Cuda.cu - softmax and argmax on CUDA -------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A row is a warp's work, or a block's where it is long.
//===----------------------------------------------------------------------===//

#include "kernels/cuda/RowGroup.cuh"

namespace aicf::cuda {
namespace {

struct RowsParams {
  const void *x, *other; ///< other: softmax_bwd's y
  void *result;
  int64_t rows, width;
};

/// Calls body(group, first element of the row) for the rows of a block.
template <int kGroup, typename Body>
__device__ void forRows(const RowsParams &p, void *scratch, Body body) {
  int groups = blockDim.x / kGroup;
  RowGroup g{kGroup, int(threadIdx.x % kGroup), scratch};
  for (int64_t row = int64_t(blockIdx.x) * groups + threadIdx.x / kGroup;
       row < p.rows; row += int64_t(gridDim.x) * groups)
    body(g, row);
}

template <typename T, int kGroup>
__global__ void softmaxKernel(const __grid_constant__ RowsParams p) {
  using C = Compute<T>;
  __shared__ double scratch[32];
  forRows<kGroup>(p, scratch, [&](const RowGroup &g, int64_t row) {
    const T *x = static_cast<const T *>(p.x) + row * p.width;
    T *y = static_cast<T *>(p.result) + row * p.width;
    C most = widen(x[0]), sum = 0;
    for (int64_t j = g.lane; j < p.width; j += g.size) {
      C value = widen(x[j]);
      most = value > most ? value : most;
    }
    most = g.max(most); // before y is written, which may be x
    for (int64_t j = g.lane; j < p.width; j += g.size)
      sum += exp(widen(x[j]) - most);
    C inverse = 1 / g.sum(sum);
    for (int64_t j = g.lane; j < p.width; j += g.size)
      y[j] = narrow<T>(exp(widen(x[j]) - most) * inverse);
  });
}

template <typename T, int kGroup>
__global__ void softmaxBwdKernel(const __grid_constant__ RowsParams p) {
  using C = Compute<T>;
  __shared__ double scratch[32];
  forRows<kGroup>(p, scratch, [&](const RowGroup &g, int64_t row) {
    const T *dy = static_cast<const T *>(p.x) + row * p.width;
    const T *y = static_cast<const T *>(p.other) + row * p.width;
    T *dx = static_cast<T *>(p.result) + row * p.width;
    C sum = 0;
    for (int64_t j = g.lane; j < p.width; j += g.size)
      sum = fma(C(widen(dy[j])), C(widen(y[j])), sum);
    sum = g.sum(sum);
    for (int64_t j = g.lane; j < p.width; j += g.size)
      dx[j] = narrow<T>(C(widen(y[j])) * (C(widen(dy[j])) - sum));
  });
}

/// An element and where it stands.
template <typename C> struct Place {
  C value;
  int32_t index;
  /// Larger, or as large and before; NaN is the largest.
  __device__ bool isBefore(const Place &other) const {
    bool mine = isnan(value), theirs = isnan(other.value);
    if (mine != theirs)
      return mine;
    if (mine || value == other.value)
      return index < other.index;
    return value > other.value;
  }
};

template <typename C> __device__ Place<C> firstOfWarp(Place<C> best) {
  for (int offset = 16; offset > 0; offset /= 2) {
    Place<C> other{__shfl_xor_sync(0xffffffffu, best.value, offset),
                   __shfl_xor_sync(0xffffffffu, best.index, offset)};
    if (other.isBefore(best))
      best = other;
  }
  return best;
}

/// A warp a row.
template <typename T>
__global__ void argmaxKernel(const __grid_constant__ RowsParams p) {
  using C = Compute<T>;
  forRows<32>(p, nullptr, [&](const RowGroup &g, int64_t row) {
    const T *x = static_cast<const T *>(p.x) + row * p.width;
    Place<C> best{widen(x[0]), 0};
    for (int64_t j = g.lane; j < p.width; j += g.size) {
      Place<C> other{widen(x[j]), int32_t(j)};
      if (other.isBefore(best))
        best = other;
    }
    best = firstOfWarp(best);
    if (g.lane == 0)
      static_cast<int32_t *>(p.result)[row] = best.index;
  });
}

template <typename Kernel>
LaunchPlan planRows(Kernel kernel, const RowsParams &p, int64_t perBlock,
                    const DeviceLimits &limits) {
  int64_t blocks = std::min((p.rows + perBlock - 1) / perBlock,
                            int64_t(limits.numMultiprocessors) * 8);
  return {plan(kernel, blocks, kBlock, p)};
}

template <typename T>
LaunchPlan softmax(SoftmaxArgs call, const DeviceLimits &limits) {
  const TensorDesc &desc = call.x().desc;
  RowsParams p{call.x().data, nullptr, call.y().data, desc.rows(),
               desc.width()};
  if (p.width > kLongRow)
    return planRows(softmaxKernel<T, kBlock>, p, 1, limits);
  return planRows(softmaxKernel<T, 32>, p, kBlock / 32, limits);
}

template <typename T>
LaunchPlan softmaxBwd(SoftmaxBwdArgs call, const DeviceLimits &limits) {
  const TensorDesc &desc = call.dy().desc;
  RowsParams p{call.dy().data, call.y().data, call.dx().data, desc.rows(),
               desc.width()};
  if (p.width > kLongRow)
    return planRows(softmaxBwdKernel<T, kBlock>, p, 1, limits);
  return planRows(softmaxBwdKernel<T, 32>, p, kBlock / 32, limits);
}

template <typename T>
LaunchPlan argmax(ArgmaxArgs call, const DeviceLimits &limits) {
  const TensorDesc &desc = call.x().desc;
  RowsParams p{call.x().data, nullptr, call.index().data, desc.rows(),
               desc.width()};
  return planRows(argmaxKernel<T>, p, kBlock / 32, limits);
}

} // namespace

#define AICF_KERNELS_OF_softmax_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
