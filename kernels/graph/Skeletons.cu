//===- Skeletons.cu - kernels of sums, but for what they sum --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// nvcc makes PTX text of these when AICF is built. CudaSums.cpp takes the one
// that a call needs and puts the graph into it, at two marks, which no
// assembler knows:
//   aicf.summands x0 x1 ... at;   the summands of V elements from `at` on: V of
//                                 the first sum, then V of the second
//   aicf.sum <which> sum at;      a sum goes to element `at` of its result
// Here stands who sums what in which order (kernels/norm/Reductions.cuh).
//===----------------------------------------------------------------------===//

#include "kernels/graph/SumsParams.h"
#include "kernels/norm/Reductions.cuh"

namespace aicf::cuda {
namespace {

/// K sums side by side.
template <typename C, int K> struct Sums {
  struct State {
    C sum[K] = {};
  };
  static __device__ void merge(State &s, const State &o) {
#pragma unroll
    for (int k = 0; k < K; ++k)
      s.sum[k] += o.sum[k];
  }
  static __device__ State fromLane(const State &s, int offset) {
    State other;
#pragma unroll
    for (int k = 0; k < K; ++k)
      other.sum[k] = __shfl_xor_sync(0xffffffffu, s.sum[k], offset);
    return other;
  }
};

#define AICF_SUMMANDS(TYPE, N, MARKS, ...)                                     \
  __device__ __forceinline__ void summands(int64_t at, TYPE(&x)[N]) {          \
    asm volatile("aicf.summands " MARKS ";" : __VA_ARGS__ : "l"(at));          \
  }
// clang-format off
AICF_SUMMANDS(float, 1, "%0 %1",
              "=f"(x[0]))
AICF_SUMMANDS(float, 2, "%0 %1 %2",
              "=f"(x[0]), "=f"(x[1]))
AICF_SUMMANDS(float, 4, "%0 %1 %2 %3 %4",
              "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]))
AICF_SUMMANDS(float, 8, "%0 %1 %2 %3 %4 %5 %6 %7 %8",
              "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]), "=f"(x[4]),
              "=f"(x[5]), "=f"(x[6]), "=f"(x[7]))
AICF_SUMMANDS(float, 16, "%0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15 %16",
              "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]), "=f"(x[4]),
              "=f"(x[5]), "=f"(x[6]), "=f"(x[7]), "=f"(x[8]), "=f"(x[9]),
              "=f"(x[10]), "=f"(x[11]), "=f"(x[12]), "=f"(x[13]), "=f"(x[14]),
              "=f"(x[15]))
AICF_SUMMANDS(double, 1, "%0 %1",
              "=d"(x[0]))
AICF_SUMMANDS(double, 2, "%0 %1 %2",
              "=d"(x[0]), "=d"(x[1]))
AICF_SUMMANDS(double, 4, "%0 %1 %2 %3 %4",
              "=d"(x[0]), "=d"(x[1]), "=d"(x[2]), "=d"(x[3]))
// clang-format on
#undef AICF_SUMMANDS

#define AICF_WRITE_SUM(TYPE, LETTER)                                           \
  __device__ __forceinline__ void writeSum(int which, TYPE sum, int64_t at) {  \
    if (which == 0)                                                            \
      asm volatile("aicf.sum 0 %0 %1;" ::LETTER(sum), "l"(at));                \
    else                                                                       \
      asm volatile("aicf.sum 1 %0 %1;" ::LETTER(sum), "l"(at));                \
  }
AICF_WRITE_SUM(float, "f")
AICF_WRITE_SUM(double, "d")
#undef AICF_WRITE_SUM

__device__ ReductionExtents extentsOf(const SumsParams &p) {
  return {p.outer, p.size, p.inner, p.chunks, p.perChunk};
}

template <typename C, int K>
__device__ void write(const SumsParams &p, int64_t at,
                      const typename Sums<C, K>::State &state) {
#pragma unroll
  for (int k = 0; k < K; ++k)
    writeSum(k, state.sum[k] / static_cast<C>(p.divisors[k]), at);
}
template <typename C, int K>
__device__ void finish(const SumsParams &p, int64_t chunk, int64_t at,
                       const typename Sums<C, K>::State &state) {
  if (p.states)
    reinterpret_cast<typename Sums<C, K>::State *>(
        p.states)[chunk * p.outer * p.inner + at] = state;
  else
    write<C, K>(p, at, state);
}

/// Adds V elements from `at` on, to V states or to one.
template <typename C, int K, int V, int N>
__device__ void add(typename Sums<C, K>::State (&states)[N], int64_t at) {
  C x[K * V];
  summands(at, x);
#pragma unroll
  for (int v = 0; v < V; ++v)
#pragma unroll
    for (int k = 0; k < K; ++k)
      states[N == 1 ? 0 : v].sum[k] += x[k * V + v];
}

/// Chunks are multiples of V long, and so are rows.
template <typename C, int K, int V, int Lanes>
__device__ void rows(const SumsParams &p) {
  using State = typename Sums<C, K>::State;
  reduceRows<Sums<C, K>, Lanes>(
      extentsOf(p),
      [&](int64_t row, uint32_t first, uint32_t last, int lane) {
        State state[1];
#pragma unroll 1
        for (uint32_t i = first + lane * V; i < last; i += Lanes * V)
          add<C, K, V, 1>(state, row * p.size + i);
        return state[0];
      },
      [&](int64_t chunk, int64_t at, const State &state) {
        finish<C, K>(p, chunk, at, state);
      });
}

template <typename C, int K, int V, int X, int Warps>
__device__ void columns(const SumsParams &p) {
  using State = typename Sums<C, K>::State;
  reduceStrips<Sums<C, K>, V, X, Warps>(
      extentsOf(p),
      [&](int64_t begin, uint32_t first, uint32_t last, uint32_t step,
          State(&mine)[V]) {
#pragma unroll 1
        for (uint32_t i = first; i < last; i += step)
          add<C, K, V, V>(mine, begin + i * p.inner);
      },
      [&](int64_t chunk, int64_t at, const State &state) {
        finish<C, K>(p, chunk, at, state);
      });
}

template <typename C, int K, int Lanes>
__device__ void combine(const SumsParams &p) {
  using State = typename Sums<C, K>::State;
  combineChunks<Sums<C, K>, Lanes>(
      extentsOf(p), reinterpret_cast<const State *>(p.states),
      [&](int64_t at, const State &state) { write<C, K>(p, at, state); });
}

} // namespace

#define AICF_KERNEL(NAME, ...)                                                 \
  extern "C" __global__ void __launch_bounds__(kReductionThreads)              \
      aicf_##NAME(const __grid_constant__ SumsParams p) {                      \
    __VA_ARGS__(p);                                                            \
  }
#define AICF_OF_WIDTH(TYPE, C, K, V)                                           \
  AICF_KERNEL(rows_##TYPE##_##K##_##V##_8, rows<C, K, V, 8>)                   \
  AICF_KERNEL(rows_##TYPE##_##K##_##V##_32, rows<C, K, V, 32>)                 \
  AICF_KERNEL(rows_##TYPE##_##K##_##V##_256, rows<C, K, V, 256>)               \
  AICF_KERNEL(columns_##TYPE##_##K##_##V##_8_1, columns<C, K, V, 8, 1>)        \
  AICF_KERNEL(columns_##TYPE##_##K##_##V##_8_8, columns<C, K, V, 8, 8>)        \
  AICF_KERNEL(columns_##TYPE##_##K##_##V##_32_1, columns<C, K, V, 32, 1>)      \
  AICF_KERNEL(columns_##TYPE##_##K##_##V##_32_8, columns<C, K, V, 32, 8>)
#define AICF_OF_TYPE(TYPE, C, K)                                               \
  AICF_KERNEL(combine_##TYPE##_##K##_1, combine<C, K, 1>)                      \
  AICF_KERNEL(combine_##TYPE##_##K##_32, combine<C, K, 32>)                    \
  AICF_OF_WIDTH(TYPE, C, K, 1)
AICF_OF_TYPE(f32, float, 1)
AICF_OF_TYPE(f32, float, 2)
AICF_OF_TYPE(f64, double, 1)
AICF_OF_TYPE(f64, double, 2)
AICF_OF_WIDTH(f64, double, 1, 2)
AICF_OF_WIDTH(f64, double, 2, 2)
AICF_OF_WIDTH(f32, float, 1, 4)
AICF_OF_WIDTH(f32, float, 2, 4)
AICF_OF_WIDTH(f32, float, 1, 8)
AICF_OF_WIDTH(f32, float, 2, 8)

} // namespace aicf::cuda
