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
  int64_t rows, width, k = 0; ///< k: top_k's
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

/// softmax, or its logarithm. With kByVectors the sum is that of addAll(), which the
/// first plans with a softmax of even rows do not have.
template <typename T, int kGroup, int V, bool kLog, bool kByVectors>
__global__ void __launch_bounds__(blockOf(kGroup))
    softmaxKernel(const __grid_constant__ RowsParams p) {
  using C = Compute<T>;
  __shared__ double scratch[32];
  const T *x = static_cast<const T *>(p.x);
  forRows<kGroup>(p, scratch, [&](const RowGroup &g, int64_t row) {
    T *y = static_cast<T *>(p.result) + row * p.width;
    Normalizer<C> all{widen(x[row * p.width])};
    forRow<T, V>(g, x, row, p.width, p.isAligned, [&](int64_t, const auto &v) {
      if constexpr (kByVectors && V > 1) {
        all.addAll(v);
      } else {
#pragma unroll
        for (int k = 0; k < v.kSize; ++k)
          all.add(widen(v.at[k]));
      }
    });
    all.merge(g); // before y is written, which may be x
    C rest = kLog ? log(all.sum) : 1 / all.sum;
    forRow<T, V>(g, x, row, p.width, p.isAligned, [&](int64_t j, auto v) {
#pragma unroll
      for (int k = 0; k < v.kSize; ++k) {
        C less = widen(v.at[k]) - all.most;
        v.at[k] = narrow<T>(kLog ? less - rest : exp(less) * rest);
      }
      storeVec(y + j, 0, v, p.isAligned);
    });
  });
}

/// The gradient of softmax, or of its logarithm.
template <typename T, int kGroup, int V, bool kLog>
__global__ void __launch_bounds__(blockOf(kGroup))
    softmaxBwdKernel(const __grid_constant__ RowsParams p) {
  using C = Compute<T>;
  __shared__ double scratch[32];
  const T *dy = static_cast<const T *>(p.x);
  forRows<kGroup>(p, scratch, [&](const RowGroup &g, int64_t row) {
    const T *y = static_cast<const T *>(p.other) + row * p.width;
    T *dx = static_cast<T *>(p.result) + row * p.width;
    C sum = 0;
    forRow<T, V>(g, dy, row, p.width, p.isAligned, [&](int64_t j, const auto &d) {
      std::decay_t<decltype(d)> v{};
      if constexpr (!kLog)
        v = loadVec<T, v.kSize>(y + j, 0, p.isAligned);
#pragma unroll
      for (int k = 0; k < d.kSize; ++k)
        sum = kLog ? sum + C(widen(d.at[k]))
                   : fma(C(widen(d.at[k])), C(widen(v.at[k])), sum);
    });
    sum = g.sum(sum);
    forRow<T, V>(g, dy, row, p.width, p.isAligned, [&](int64_t j, auto d) {
      auto v = loadVec<T, d.kSize>(y + j, 0, p.isAligned);
#pragma unroll
      for (int k = 0; k < d.kSize; ++k) {
        C out = widen(v.at[k]), slope = widen(d.at[k]);
        d.at[k] =
            narrow<T>(kLog ? slope - exp(out) * sum : out * (slope - sum));
      }
      storeVec(dx + j, 0, d, p.isAligned);
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
    const T *x = static_cast<const T *>(p.x);
    Candidate<C> best{widen(x[row * p.width]), 0};
    forRow<T, V>(g, x, row, p.width, p.isAligned, [&](int64_t j, const auto &v) {
#pragma unroll
      for (int k = 0; k < v.kSize; ++k) {
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

/// A warp for each row, which is looked through k times: for the first behind the one
/// that was found last.
template <typename T, int V>
__global__ void topKKernel(const __grid_constant__ RowsParams p) {
  using C = Compute<T>;
  forRows<32>(p, nullptr, [&](const RowGroup &g, int64_t row) {
    Candidate<C> last{C(nan("")), -1}; // before all
    for (int64_t k = 0; k < p.k; ++k) {
      // Behind all: others of the row are before it.
      Candidate<C> best{-C(INFINITY), INT32_MAX};
      forRow<T, V>(g, static_cast<const T *>(p.x), row, p.width, p.isAligned,
                   [&](int64_t j, const auto &v) {
#pragma unroll
                     for (int i = 0; i < v.kSize; ++i) {
                       Candidate<C> mine{widen(v.at[i]), int32_t(j + i)};
                       if (last.isBefore(mine) && mine.isBefore(best))
                         best = mine;
                     }
                   });
      last = firstOfWarp(best);
      if (g.lane == 0)
        static_cast<int32_t *>(p.result)[row * p.k + k] = last.index;
    }
  });
}

/// `kernel` takes `group` threads for each row.
template <typename Kernel>
LaunchPlan planRows(Kernel kernel, const RowsParams &p, int group,
                    const DeviceLimits &limits) {
  int block = blockOf(group), perBlock = block / group;
  int64_t blocks = std::min((p.rows + perBlock - 1) / perBlock,
                            int64_t(limits.numMultiprocessors) * 8);
  return {plan(kernel, blocks, block, p)};
}

/// Calls launch(width) with how many elements a thread takes at a time: 16 bytes of
/// them where they fill the row, or with kUneven, else one.
template <typename T, bool kUneven, typename Launch>
LaunchPlan withVectors(RowsParams &p, bool resultIsRows, Launch launch) {
  constexpr int kWidth = 16 / sizeof(T);
  uintptr_t bits =
      reinterpret_cast<uintptr_t>(p.x) | reinterpret_cast<uintptr_t>(p.other);
  if (resultIsRows)
    bits |= reinterpret_cast<uintptr_t>(p.result);
  p.isAligned = bits % 16 == 0;
  if constexpr (!kUneven)
    if (p.width % kWidth != 0)
      return launch(std::integral_constant<int, 1>());
  return launch(std::integral_constant<int, kWidth>());
}

/// With kUneven rows are as isUnevenRow() says.
template <typename T, bool kLog, bool kUneven>
LaunchPlan planSoftmax(const TensorView &x, const TensorView &y,
                       const DeviceLimits &limits) {
  RowsParams p{x.dense(), nullptr, y.dense(), x.desc.rows(), x.desc.width()};
  return withVectors<T, kUneven>(p, true, [&](auto width) {
    constexpr int V = decltype(width)::value;
    if constexpr (kUneven) {
      if (p.width > kHugeRow)
        return planRows(softmaxKernel<T, kHugeBlock, V, kLog, true>, p, kHugeBlock,
                        limits);
    } else if (p.width <= kLongRow) {
      return planRows(softmaxKernel<T, 32, V, kLog, kLog>, p, 32, limits);
    }
    return planRows(softmaxKernel<T, kBlock, V, kLog, kLog || kUneven>, p, kBlock, limits);
  });
}
template <typename T, bool kUneven = false>
LaunchPlan softmax(SoftmaxArgs call, const DeviceLimits &limits) {
  return planSoftmax<T, false, kUneven>(call.x(), call.y(), limits);
}
template <typename T>
LaunchPlan logSoftmax(LogSoftmaxArgs call, const DeviceLimits &limits) {
  if (families::isUnevenRow(call.x().desc))
    return planSoftmax<T, true, true>(call.x(), call.y(), limits);
  return planSoftmax<T, true, false>(call.x(), call.y(), limits);
}

template <typename T, bool kLog, bool kUneven, typename Args>
LaunchPlan planSoftmaxBwd(Args call, const DeviceLimits &limits) {
  const TensorDesc &desc = call.dy().desc;
  RowsParams p{call.dy().dense(), call.y().dense(), call.dx().dense(),
               desc.rows(), desc.width()};
  return withVectors<T, kUneven>(p, true, [&](auto width) {
    constexpr int V = decltype(width)::value;
    if constexpr (kUneven) {
      if (p.width > kHugeRow)
        return planRows(softmaxBwdKernel<T, kHugeBlock, V, kLog>, p, kHugeBlock,
                        limits);
    } else if (p.width <= kLongRow) {
      return planRows(softmaxBwdKernel<T, 32, V, kLog>, p, 32, limits);
    }
    return planRows(softmaxBwdKernel<T, kBlock, V, kLog>, p, kBlock, limits);
  });
}
template <typename T, bool kUneven = false>
LaunchPlan softmaxBwd(SoftmaxBwdArgs call, const DeviceLimits &limits) {
  return planSoftmaxBwd<T, false, kUneven>(call, limits);
}
template <typename T>
LaunchPlan logSoftmaxBwd(LogSoftmaxBwdArgs call, const DeviceLimits &limits) {
  if (families::isUnevenRow(call.dy().desc))
    return planSoftmaxBwd<T, true, true>(call, limits);
  return planSoftmaxBwd<T, true, false>(call, limits);
}

/// A warp for each row, of any length.
template <typename T, typename Launch>
LaunchPlan planWarps(RowsParams p, Launch launch) {
  return p.width > kLongRow
             ? withVectors<T, true>(p, false, [&](auto width) { return launch(p, width); })
             : withVectors<T, false>(p, false, [&](auto width) { return launch(p, width); });
}

template <typename T>
LaunchPlan argmax(ArgmaxArgs call, const DeviceLimits &limits) {
  const TensorDesc &desc = call.x().desc;
  RowsParams p{call.x().dense(), nullptr, call.index().dense(), desc.rows(),
               desc.width()};
  return planWarps<T>(p, [&](const RowsParams &p, auto width) {
    return planRows(argmaxKernel<T, decltype(width)::value>, p, 32, limits);
  });
}

template <typename T>
LaunchPlan topK(TopKArgs call, const DeviceLimits &limits) {
  const TensorDesc &desc = call.x().desc;
  RowsParams p{call.x().dense(), nullptr, call.index().dense(), desc.rows(),
               desc.width(), call.attrs().k};
  return planWarps<T>(p, [&](const RowsParams &p, auto width) {
    return planRows(topKKernel<T, decltype(width)::value>, p, 32, limits);
  });
}

} // namespace

#define AICF_KERNELS_OF_softmax_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
