//===- Reductions.cuh - who reduces what on CUDA ----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Over the middle of [outer, size, inner]. Where inner is 1, threads share a
// row, from a part of a warp to a block; else a thread has columns of its own,
// 16 bytes wide. If there are too few results for the card, each is reduced in
// chunks, and a second launch puts their states together.
// No atomics: shapes alone decide who reduces what and in which order.
// A reduction R has a State, which begins empty, and merge(state, other) and
// fromLane(state, offset), which shuffles. What elements are, the caller says.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_NORM_REDUCTIONS_CUH
#define AICF_KERNELS_NORM_REDUCTIONS_CUH

#include <cstdint>

namespace aicf::cuda {

/// Threads of a block.
inline constexpr int kReductionThreads = 256;

struct ReductionExtents {
  int64_t outer, size, inner;
  int64_t chunks, perChunk; ///< of `size`
};

/// `Lanes` threads share a row, or a chunk of one. `share(row, first, last,
/// lane)` is the state of the elements that lane `lane` has of [first, last) of
/// a row; `finish(chunk, row, state)` takes what comes of them.
template <typename R, int Lanes, typename Share, typename Finish>
__device__ void reduceRows(const ReductionExtents &p, Share share,
                           Finish finish) {
  constexpr int kWarp = Lanes < 32 ? Lanes : 32, kWarps = Lanes / 32;
  __shared__ typename R::State states[32];
  const int lane = threadIdx.x % Lanes;
  // All threads of a block take as many turns: they wait for each other.
  const int64_t items = p.outer * p.chunks;
  constexpr int64_t perBlock = kReductionThreads / Lanes;
  for (int64_t block = blockIdx.x; block * perBlock < items;
       block += gridDim.x) {
    const int64_t item = block * perBlock + threadIdx.x / Lanes;
    const int64_t chunk = p.chunks == 1 ? 0 : item / p.outer;
    const int64_t row = item - chunk * p.outer;
    typename R::State state;
    if (item < items)
      state = share(row, uint32_t(chunk * p.perChunk),
                    uint32_t(min(p.size, (chunk + 1) * p.perChunk)), lane);
#pragma unroll
    for (int offset = kWarp / 2; offset > 0; offset /= 2)
      R::merge(state, R::fromLane(state, offset));
    if constexpr (kWarps > 1) {
      __syncthreads(); // the last use of states is over
      if (lane % 32 == 0)
        states[lane / 32] = state;
      __syncthreads();
      for (int w = 1; w < kWarps && lane == 0; ++w)
        R::merge(state, states[w]);
    }
    if (lane == 0 && item < items)
      finish(chunk, row, state);
  }
}

/// A group of `Warps` warps, a block or one of its warps, is X vectors of V
/// columns wide and as high as threads are left. `share(begin, first, last,
/// step, mine)` adds rows first, first + step, ... below `last` of the V
/// columns that begin at element `begin`; `finish(chunk, result, state)` takes
/// what comes of them.
template <typename R, int V, int X, int Warps, typename Share, typename Finish>
__device__ void reduceStrips(const ReductionExtents &p, Share share,
                             Finish finish) {
  constexpr int kGroup = 32 * Warps, kGroups = kReductionThreads / kGroup;
  __shared__ typename R::State states[Warps][X * V];
  const int thread = threadIdx.x % kGroup, lane = thread % X;
  const int64_t strips = (p.inner + X * V - 1) / (X * V);
  for (int64_t item = int64_t(blockIdx.x) * kGroups + threadIdx.x / kGroup;
       item < strips * p.outer * p.chunks;
       item += int64_t(gridDim.x) * kGroups) {
    const int64_t rest = item / strips,
                  chunk = p.chunks == 1 ? 0 : rest / p.outer;
    const int64_t outer = rest - chunk * p.outer,
                  strip = (item - rest * strips) * X * V;
    typename R::State mine[V];
    if (strip + lane * V < p.inner)
      share(outer * p.size * p.inner + strip + lane * V,
            uint32_t(chunk * p.perChunk + thread / X),
            uint32_t(min(p.size, (chunk + 1) * p.perChunk)), kGroup / X, mine);
    // Rows of a warp, then those of the block.
#pragma unroll
    for (int k = 0; k < V; ++k)
#pragma unroll
      for (int offset = X; offset < 32; offset *= 2)
        R::merge(mine[k], R::fromLane(mine[k], offset));
    const int64_t first = outer * p.inner + strip;
    if constexpr (Warps == 1) {
#pragma unroll
      for (int k = 0; k < V; ++k)
        if (thread < X && strip + lane * V + k < p.inner)
          finish(chunk, first + lane * V + k, mine[k]);
    } else {
      __syncthreads(); // the last use of states is over
      if (thread % 32 < X)
#pragma unroll
        for (int k = 0; k < V; ++k)
          states[thread / 32][lane * V + k] = mine[k];
      __syncthreads();
      if (thread < X * V && strip + thread < p.inner) {
        typename R::State all = states[0][thread];
#pragma unroll
        for (int w = 1; w < Warps; ++w)
          R::merge(all, states[w][thread]);
        finish(chunk, first + thread, all);
      }
    }
  }
}

/// `Lanes` threads put a result's chunks together: 1 where there are many
/// results, whose states lie side by side. `write(result, state)` takes what
/// comes of them.
template <typename R, int Lanes, typename Write>
__device__ void combineChunks(const ReductionExtents &p,
                              const typename R::State *states, Write write) {
  const int64_t results = p.outer * p.inner;
  const int lane = threadIdx.x % Lanes;
  for (int64_t at = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / Lanes;
       at < results; at += int64_t(gridDim.x) * blockDim.x / Lanes) {
    typename R::State all;
#pragma unroll 8
    for (int64_t c = lane; c < p.chunks; c += Lanes)
      R::merge(all, states[c * results + at]);
#pragma unroll
    for (int offset = Lanes / 2; offset > 0; offset /= 2)
      R::merge(all, R::fromLane(all, offset));
    if (lane == 0)
      write(at, all);
  }
}

} // namespace aicf::cuda

#endif // AICF_KERNELS_NORM_REDUCTIONS_CUH
