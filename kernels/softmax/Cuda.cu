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
  bool isAligned = false; ///< rows begin at multiples of 16 bytes
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

/// Calls body(j, V elements of the row from j on) for this thread's share.
template <typename T, int V, typename Body>
__device__ void forVectors(const RowsParams &p, const RowGroup &g, const T *row,
                           Body body) {
  for (int64_t i = g.lane; i < p.width / V; i += g.size)
    body(i * V, loadVec<T, V>(row, i, p.isAligned));
}

/// A row's largest element and the sum of exp(x - most) in one pass: what came
/// before a larger element is scaled down to it (Milakov & Gimelshein 2018,
/// "Online normalizer calculation for softmax"). softmax, or its logarithm.
template <typename T, int kGroup, int V, bool kLog>
__global__ void softmaxKernel(const __grid_constant__ RowsParams p) {
  using C = Compute<T>;
  __shared__ double scratch[32];
  forRows<kGroup>(p, scratch, [&](const RowGroup &g, int64_t row) {
    const T *x = static_cast<const T *>(p.x) + row * p.width;
    T *y = static_cast<T *>(p.result) + row * p.width;
    C mine = widen(x[0]), sum = 0;
    forVectors<T, V>(p, g, x, [&](int64_t, const Vec<T, V> &v) {
#pragma unroll
      for (int k = 0; k < V; ++k) {
        C value = widen(v.at[k]);
        if (value > mine) {
          sum *= exp(mine - value);
          mine = value;
        }
        // Not exp(0) of two infinities.
        sum += value == mine ? C(1) : exp(value - mine);
      }
    });
    C most = g.max(mine); // before y is written, which may be x
    C total = g.sum(sum * exp(mine - most));
    C rest = kLog ? log(total) : 1 / total;
    forVectors<T, V>(p, g, x, [&](int64_t j, Vec<T, V> v) {
#pragma unroll
      for (int k = 0; k < V; ++k) {
        C less = widen(v.at[k]) - most;
        v.at[k] = narrow<T>(kLog ? less - rest : exp(less) * rest);
      }
      storeVec<T, V>(y, j / V, v, p.isAligned);
    });
  });
}

/// The gradient of softmax, or of its logarithm.
template <typename T, int kGroup, int V, bool kLog>
__global__ void softmaxBwdKernel(const __grid_constant__ RowsParams p) {
  using C = Compute<T>;
  __shared__ double scratch[32];
  forRows<kGroup>(p, scratch, [&](const RowGroup &g, int64_t row) {
    const T *dy = static_cast<const T *>(p.x) + row * p.width;
    const T *y = static_cast<const T *>(p.other) + row * p.width;
    T *dx = static_cast<T *>(p.result) + row * p.width;
    C sum = 0;
    forVectors<T, V>(p, g, dy, [&](int64_t j, const Vec<T, V> &d) {
      Vec<T, V> v{};
      if constexpr (!kLog)
        v = loadVec<T, V>(y, j / V, p.isAligned);
#pragma unroll
      for (int k = 0; k < V; ++k)
        sum = kLog ? sum + C(widen(d.at[k]))
                   : fma(C(widen(d.at[k])), C(widen(v.at[k])), sum);
    });
    sum = g.sum(sum);
    forVectors<T, V>(p, g, dy, [&](int64_t j, Vec<T, V> d) {
      Vec<T, V> v = loadVec<T, V>(y, j / V, p.isAligned);
#pragma unroll
      for (int k = 0; k < V; ++k) {
        C out = widen(v.at[k]), slope = widen(d.at[k]);
        d.at[k] =
            narrow<T>(kLog ? slope - exp(out) * sum : out * (slope - sum));
      }
      storeVec<T, V>(dx, j / V, d, p.isAligned);
    });
  });
}

/// An element and where it stands.
template <typename C> struct Candidate {
  C value;
  int32_t index;
  /// Larger, or as large and before; NaN is the largest.
  __device__ bool isBefore(const Candidate &other) const {
    bool mine = isnan(value), theirs = isnan(other.value);
    if (mine != theirs)
      return mine;
    if (mine || value == other.value)
      return index < other.index;
    return value > other.value;
  }
};

template <typename C> __device__ Candidate<C> firstOfWarp(Candidate<C> best) {
  for (int offset = 16; offset > 0; offset /= 2) {
    Candidate<C> other{__shfl_xor_sync(0xffffffffu, best.value, offset),
                       __shfl_xor_sync(0xffffffffu, best.index, offset)};
    if (other.isBefore(best))
      best = other;
  }
  return best;
}

/// A warp a row.
template <typename T, int V>
__global__ void argmaxKernel(const __grid_constant__ RowsParams p) {
  using C = Compute<T>;
  forRows<32>(p, nullptr, [&](const RowGroup &g, int64_t row) {
    const T *x = static_cast<const T *>(p.x) + row * p.width;
    Candidate<C> best{widen(x[0]), 0};
    forVectors<T, V>(p, g, x, [&](int64_t j, const Vec<T, V> &v) {
#pragma unroll
      for (int k = 0; k < V; ++k) {
        // A thread sees its elements in order: the first of equals stays.
        C value = widen(v.at[k]);
        if (value > best.value || (isnan(value) && !isnan(best.value)))
          best = {value, int32_t(j + k)};
      }
    });
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

/// Calls launch(width) with how many elements a thread takes at a time: 16
/// bytes of them where they fill the row, else one.
template <typename T, typename Launch>
LaunchPlan withVectors(RowsParams &p, bool resultIsRows, Launch launch) {
  constexpr int kWidth = 16 / sizeof(T);
  uintptr_t bits =
      reinterpret_cast<uintptr_t>(p.x) | reinterpret_cast<uintptr_t>(p.other);
  if (resultIsRows)
    bits |= reinterpret_cast<uintptr_t>(p.result);
  p.isAligned = bits % 16 == 0;
  if (p.width % kWidth == 0)
    return launch(std::integral_constant<int, kWidth>());
  return launch(std::integral_constant<int, 1>());
}

template <typename T, bool kLog>
LaunchPlan planSoftmax(const TensorView &x, const TensorView &y,
                       const DeviceLimits &limits) {
  RowsParams p{x.dense(), nullptr, y.dense(), x.desc.rows(), x.desc.width()};
  return withVectors<T>(p, true, [&](auto width) {
    constexpr int V = decltype(width)::value;
    if (p.width > kLongRow)
      return planRows(softmaxKernel<T, kBlock, V, kLog>, p, 1, limits);
    return planRows(softmaxKernel<T, 32, V, kLog>, p, kBlock / 32, limits);
  });
}
template <typename T>
LaunchPlan softmax(SoftmaxArgs call, const DeviceLimits &limits) {
  return planSoftmax<T, false>(call.x(), call.y(), limits);
}
template <typename T>
LaunchPlan logSoftmax(LogSoftmaxArgs call, const DeviceLimits &limits) {
  return planSoftmax<T, true>(call.x(), call.y(), limits);
}

template <typename T, bool kLog, typename Args>
LaunchPlan planSoftmaxBwd(Args call, const DeviceLimits &limits) {
  const TensorDesc &desc = call.dy().desc;
  RowsParams p{call.dy().dense(), call.y().dense(), call.dx().dense(),
               desc.rows(), desc.width()};
  return withVectors<T>(p, true, [&](auto width) {
    constexpr int V = decltype(width)::value;
    if (p.width > kLongRow)
      return planRows(softmaxBwdKernel<T, kBlock, V, kLog>, p, 1, limits);
    return planRows(softmaxBwdKernel<T, 32, V, kLog>, p, kBlock / 32, limits);
  });
}
template <typename T>
LaunchPlan softmaxBwd(SoftmaxBwdArgs call, const DeviceLimits &limits) {
  return planSoftmaxBwd<T, false>(call, limits);
}
template <typename T>
LaunchPlan logSoftmaxBwd(LogSoftmaxBwdArgs call, const DeviceLimits &limits) {
  return planSoftmaxBwd<T, true>(call, limits);
}

template <typename T>
LaunchPlan argmax(ArgmaxArgs call, const DeviceLimits &limits) {
  const TensorDesc &desc = call.x().desc;
  RowsParams p{call.x().dense(), nullptr, call.index().dense(), desc.rows(),
               desc.width()};
  return withVectors<T>(p, false, [&](auto width) {
    return planRows(argmaxKernel<T, decltype(width)::value>, p, kBlock / 32,
                    limits);
  });
}

} // namespace

#define AICF_KERNELS_OF_softmax_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
