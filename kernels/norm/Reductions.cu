//===- Reductions.cu - sums and extrema of large tensors on CUDA ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What is reduced, and how it is read; Reductions.cuh says who reduces what.
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "kernels/norm/Family.h"
#include "kernels/norm/Reductions.cuh"

namespace aicf::cuda {
namespace {

//===----------------------------------------------------------------------===//
// What is reduced
//===----------------------------------------------------------------------===//

struct ReductionParams : ReductionExtents {
  const void *x;
  void *y;
  int32_t *index; ///< of an extremum
  void *states;   ///< [chunks, results], or null: results are final
  double divisor; ///< of a sum; 1 changes no bit
  bool isAligned; ///< x is at a multiple of 16 bytes
};

template <typename T> struct Sum {
  using Element = T;
  struct State {
    Compute<T> sum = 0;
  };
  static __device__ void add(State &s, T x, uint32_t) { s.sum += widen(x); }
  static __device__ void merge(State &s, const State &o) { s.sum += o.sum; }
  static __device__ State fromLane(const State &s, int offset) {
    return {__shfl_xor_sync(0xffffffffu, s.sum, offset)};
  }
  static __device__ void write(const ReductionParams &p, int64_t at,
                               const State &s) {
    static_cast<T *>(p.y)[at] =
        narrow<T>(s.sum / static_cast<Compute<T>>(p.divisor));
  }
};

/// NaN first, then the better one, then the one in front.
template <typename T, bool isMax> struct Extremum {
  using Element = T;
  using C = Compute<T>;
  /// Elements that are not better than the worst number leave no trace: where
  /// there are no others, the first one is as good as any.
  static constexpr int32_t kNone = INT32_MAX;
  struct State {
    C value = isMax ? -C(INFINITY) : C(INFINITY);
    int32_t at = kNone;
  };
  /// Indices rise.
  static __device__ void add(State &s, T x, uint32_t at) {
    C value = widen(x);
    bool isNoBetter = isMax ? value <= s.value : value >= s.value;
    if (!isNoBetter && s.value == s.value)
      s = {value, int32_t(at)};
  }
  static __device__ void merge(State &s, const State &o) {
    bool isNaN = s.value != s.value, otherIsNaN = o.value != o.value;
    bool isBetter = isNaN || otherIsNaN ? otherIsNaN && !isNaN
                    : isMax             ? o.value > s.value
                                        : o.value < s.value;
    bool isEqual = isNaN ? otherIsNaN : o.value == s.value;
    if (isBetter || (isEqual && o.at < s.at))
      s = o;
  }
  static __device__ State fromLane(const State &s, int offset) {
    return {__shfl_xor_sync(0xffffffffu, s.value, offset),
            __shfl_xor_sync(0xffffffffu, s.at, offset)};
  }
  static __device__ void write(const ReductionParams &p, int64_t at,
                               const State &s) {
    static_cast<T *>(p.y)[at] = narrow<T>(s.value);
    p.index[at] = s.at == kNone ? 0 : s.at;
  }
};

/// Result `at` of chunk `chunk`.
template <typename R>
__device__ void finish(const ReductionParams &p, int64_t chunk, int64_t at,
                       const typename R::State &state) {
  if (p.states)
    static_cast<typename R::State *>(p.states)[chunk * p.outer * p.inner + at] =
        state;
  else
    R::write(p, at, state);
}

template <typename R, int Lanes>
__global__ void combineKernel(const __grid_constant__ ReductionParams p) {
  combineChunks<R, Lanes>(p, static_cast<const typename R::State *>(p.states),
                          [&](int64_t at, const typename R::State &state) {
                            R::write(p, at, state);
                          });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// A question about addresses in a loop would keep loads from going side by
/// side: it is asked in front.
/// The share that lane `lane` of `lanes` has of the elements [first, last) of a
/// row that begins at element `begin` of x. Vectors lie at multiples of V from
/// x on; four are on their way at once.
template <typename R, int V, bool isAligned>
__device__ typename R::State
reduceShare(const ReductionParams &p, int64_t begin, uint32_t first,
            uint32_t last, uint32_t lane, uint32_t lanes) {
  using T = typename R::Element;
  typename R::State state;
  const T *x = static_cast<const T *>(p.x) + begin;
  const auto before = uint32_t((V - (begin + first) % V) % V);
  const uint32_t head = min(first + before, last);
  for (uint32_t i = first + lane; i < head; i += lanes)
    R::add(state, x[i], i);
  const uint32_t vectors = (last - head) / V;
  auto load = [&](uint32_t i) { return loadVec<T, V>(x + head, i, isAligned); };
  auto add = [&](const Vec<T, V> &v, uint32_t i) {
#pragma unroll
    for (int k = 0; k < V; ++k)
      R::add(state, v.at[k], head + i * V + k);
  };
  uint32_t i = lane;
  for (; i + 3 * lanes < vectors; i += 4 * lanes) {
    Vec<T, V> v[4];
#pragma unroll
    for (int n = 0; n < 4; ++n)
      v[n] = load(i + n * lanes);
#pragma unroll
    for (int n = 0; n < 4; ++n)
      add(v[n], i + n * lanes);
  }
  Vec<T, V> v[3];
#pragma unroll
  for (int n = 0; n < 3; ++n)
    if (i + n * lanes < vectors)
      v[n] = load(i + n * lanes);
#pragma unroll
  for (int n = 0; n < 3; ++n)
    if (i + n * lanes < vectors)
      add(v[n], i + n * lanes);
  for (uint32_t at = head + vectors * V + lane; at < last; at += lanes)
    R::add(state, x[at], at);
  return state;
}

/// `Lanes` threads share a row, or a chunk of one.
template <typename R, int Lanes>
__global__ void __launch_bounds__(kBlock, 4)
    rowsKernel(const __grid_constant__ ReductionParams p) {
  constexpr int V = 16 / sizeof(typename R::Element);
  reduceRows<R, Lanes>(
      p,
      [&](int64_t row, uint32_t first, uint32_t last, int lane) {
        return p.isAligned ? reduceShare<R, V, true>(p, row * p.size, first,
                                                     last, lane, Lanes)
                           : reduceShare<R, V, false>(p, row * p.size, first,
                                                      last, lane, Lanes);
      },
      [&](int64_t chunk, int64_t at, const typename R::State &state) {
        finish<R>(p, chunk, at, state);
      });
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// Reduces rows first, first + step, ... below `last` of V columns that begin
/// at x.
template <typename R, int V, bool isAligned>
__device__ void reduceColumns(const ReductionParams &p,
                              const typename R::Element *x, uint32_t first,
                              uint32_t last, uint32_t step,
                              typename R::State (&mine)[V]) {
  using T = typename R::Element;
  constexpr int kAtOnce = 4;
  auto load = [&](uint32_t row) {
    return loadVec<T, V>(x + row * p.inner, 0, isAligned);
  };
  auto add = [&](const Vec<T, V> &v, uint32_t row) {
#pragma unroll
    for (int k = 0; k < V; ++k)
      R::add(mine[k], v.at[k], row);
  };
  // Rows of so many are asked for before any is added. Rows that might not be
  // there would be asked for one after the other.
  uint32_t row = first;
  for (; row + (kAtOnce - 1) * step < last; row += kAtOnce * step) {
    Vec<T, V> v[kAtOnce];
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n)
      v[n] = load(row + n * step);
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n)
      add(v[n], row + n * step);
  }
  for (; row < last; row += step)
    add(load(row), row);
}

template <typename R, int V, int X, int Warps>
__global__ void __launch_bounds__(kBlock)
    columnsKernel(const __grid_constant__ ReductionParams p) {
  reduceStrips<R, V, X, Warps>(
      p,
      [&](int64_t begin, uint32_t first, uint32_t last, uint32_t step,
          typename R::State(&mine)[V]) {
        const auto *x = static_cast<const typename R::Element *>(p.x) + begin;
        if (V == 1 || p.isAligned)
          reduceColumns<R, V, true>(p, x, first, last, step, mine);
        else
          reduceColumns<R, V, false>(p, x, first, last, step, mine);
      },
      [&](int64_t chunk, int64_t at, const typename R::State &state) {
        finish<R>(p, chunk, at, state);
      });
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

template <typename R>
LaunchPlan planRows(const families::ReductionPlan &r, ReductionParams &p,
                    const DeviceLimits &limits) {
  auto launch = [&](auto kernel) {
    int64_t threads = p.outer * p.chunks * r.lanes;
    return plan(kernel, gridFor(threads, limits, kBlock, 8), kBlock, p);
  };
  if (r.lanes == 8)
    return {launch(rowsKernel<R, 8>)};
  if (r.lanes == 32)
    return {launch(rowsKernel<R, 32>)};
  return {launch(rowsKernel<R, 256>)};
}

template <typename R, int V, int X>
LaunchPlan planColumnsOf(const families::ReductionPlan &r, ReductionParams &p,
                         const DeviceLimits &limits) {
  int64_t groups = r.strips() * p.outer * p.chunks;
  if (r.warpsAlone)
    return {plan(columnsKernel<R, V, X, 1>,
                 gridFor(groups * 32, limits, kBlock, 8), kBlock, p)};
  return {plan(columnsKernel<R, V, X, kBlock / 32>,
               gridFor(groups * kBlock, limits, kBlock, 8), kBlock, p)};
}

template <typename R>
LaunchPlan planColumns(const families::ReductionPlan &r, ReductionParams &p,
                       const DeviceLimits &limits) {
  constexpr int V = 16 / sizeof(typename R::Element);
  if (r.columns == V)
    return r.lanes == 8 ? planColumnsOf<R, V, 8>(r, p, limits)
                        : planColumnsOf<R, V, 32>(r, p, limits);
  return r.lanes == 8 ? planColumnsOf<R, 1, 8>(r, p, limits)
                      : planColumnsOf<R, 1, 32>(r, p, limits);
}

template <typename R, typename Args>
LaunchPlan reduce(const Args &call, const DeviceLimits &limits,
                  ReductionParams p, int64_t perMultiprocessor) {
  families::ReductionPlan r(call.x().desc, call.y().desc, call.attrs().axis,
                            perMultiprocessor);
  p.x = call.x().dense();
  p.y = call.y().dense();
  p.outer = r.outer;
  p.size = r.size;
  p.inner = r.inner;
  p.isAligned = reinterpret_cast<uintptr_t>(p.x) % 16 == 0;
  const TensorView &workspace = call->workspace;
  const uint64_t bytesPerChunk =
      sizeof(typename R::State) * uint64_t(r.outer * r.inner);
  const uint64_t fits =
      workspace.dense() ? workspace.desc.spanBytes() / bytesPerChunk : 0;
  p.chunks = std::max<int64_t>(std::min<int64_t>(r.chunks, int64_t(fits)), 1);
  p.perChunk = (r.size + p.chunks - 1) / p.chunks;
  p.states = p.chunks > 1 ? workspace.dense() : nullptr;
  LaunchPlan launches =
      r.inner == 1 ? planRows<R>(r, p, limits) : planColumns<R>(r, p, limits);
  if (p.chunks > 1)
    launches.push_back(
        r.outer * r.inner < 4096
            ? plan(combineKernel<R, 32>,
                   gridFor(r.outer * r.inner * 32, limits), kBlock, p)
            : plan(combineKernel<R, 1>, gridFor(r.outer * r.inner, limits),
                   kBlock, p));
  return launches;
}

template <typename T, int64_t perMultiprocessor>
LaunchPlan sumOf(ReduceSumArgs call, const DeviceLimits &limits) {
  ReductionParams p{};
  p.divisor = 1;
  return reduce<Sum<T>>(call, limits, p, perMultiprocessor);
}
template <typename T, int64_t perMultiprocessor>
LaunchPlan meanOf(ReduceMeanArgs call, const DeviceLimits &limits) {
  ReductionParams p{};
  p.divisor = double(call.x().elements() / call.y().elements());
  return reduce<Sum<T>>(call, limits, p, perMultiprocessor);
}
template <typename T, bool isMax, typename Args>
LaunchPlan extremumOf(Args call, const DeviceLimits &limits) {
  ReductionParams p{};
  p.index = call.index().template dense<int32_t>();
  const families::SumExtents e(call.x().desc, call.y().desc, call.attrs().axis);
  return reduce<Extremum<T, isMax>>(
      call, limits, p, families::extremumBlocks(e, call.x().desc.dtype));
}

} // namespace

#define AICF_KERNELS_OF_reductions_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
