//===- Tile.cuh - a block's tile of a matrix product ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For shapes where a library call's fixed cost is most of its time. One block
// computes a 16x16 or 32x32 tile of c; its threads are 4 groups that each take
// a quarter of every K chunk (latency, not throughput, is what small shapes
// pay), and their partial sums are added in a fixed order. f32 sums (f64 for
// f64), no tensor cores. Right for every shape, fast for small ones.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GEMM_TILE_CUH
#define AICF_KERNELS_GEMM_TILE_CUH

#include "kernels/cuda/Common.cuh"
#include "kernels/gemm/TileParams.h"

namespace aicf::cuda {
namespace {

/// What is done with an element of c on its way out. Graph: text that is put in
/// later does it (kernels/graph/Products.cu).
enum class Epilogue { None, Bias, ReluBwd, Reduce, Graph };

/// One operand's chunk on its way from global memory: registers, then shared
/// memory as [k][row], in vectors of 4 along what lies together in memory.
/// `alongK`: neighbours in memory are neighbours in k.
template <typename T, int kTile> struct ChunkLoader {
  using C = Compute<T>;
  using S = Sizes<C, kTile>;
  static constexpr int kVectors = kTile * S::kChunk / 4 / S::kThreads;
  Vec<C, 4> values[kVectors];

  /// Row and k of the first element of vector `j`.
  __device__ static void locate(int j, bool alongK, int &row, int &k) {
    if (alongK) { // a warp: 8 rows of 4 vectors, which spreads over the banks
      int warp = threadIdx.x / 32 + j * (S::kThreads / 32);
      int lane = threadIdx.x % 32;
      row = warp % (kTile / 8) * 8 + lane / 4;
      k = warp / (kTile / 8) * 16 + lane % 4 * 4;
    } else {
      int linear = threadIdx.x + j * S::kThreads;
      row = linear % (kTile / 4) * 4;
      k = linear / (kTile / 4);
    }
  }
  /// `isVector`: the long side and the pitch are multiples of 4 and the address
  /// is aligned, so that a vector lies inside or outside as a whole.
  __device__ void load(const T *from, int ld, bool alongK, bool isVector,
                       int64_t firstRow, int rows, int64_t firstK, int depth) {
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
      int localRow, localK;
      locate(j, alongK, localRow, localK);
      int64_t row = firstRow + localRow, k = firstK + localK;
      const T *at = from + (alongK ? row * ld + k : k * ld + row);
      bool isInside = row < rows && k < depth;
      if (isVector) {
        Vec<T, 4> v{};
        if (isInside)
          v = loadVec<T, 4>(at, 0);
#pragma unroll
        for (int i = 0; i < 4; ++i)
          values[j].at[i] = isInside ? widen(v.at[i]) : C(0);
        continue;
      }
      int64_t left = alongK ? depth - k : rows - row;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        values[j].at[i] = isInside && i < left ? widen(at[i]) : C(0);
    }
  }
  __device__ void store(C (*to)[S::kPitch], bool alongK) const {
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
      int row, k;
      locate(j, alongK, row, k);
      if (alongK) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          to[k + i][row] = values[j].at[i];
      } else {
        storeVec<C, 4>(&to[k][row], 0, values[j]);
      }
    }
  }
};

/// Stands where the graph of a kernel goes, which has V elements of c from
/// number `at` on: a mark that no assembler knows.
template <int V> __device__ void markProduct(const float (&x)[V], int64_t at) {
  if constexpr (V == 4)
    asm volatile("aicf.product %0 %1 %2 %3 %4;" ::"f"(x[0]), "f"(x[1]),
                 "f"(x[2]), "f"(x[3]), "l"(at));
  else
    asm volatile("aicf.product %0 %1;" ::"f"(x[0]), "l"(at));
}
template <int V> __device__ void markProduct(const double (&x)[V], int64_t at) {
  if constexpr (V == 4)
    asm volatile("aicf.product %0 %1 %2 %3 %4;" ::"d"(x[0]), "d"(x[1]),
                 "d"(x[2]), "d"(x[3]), "l"(at));
  else
    asm volatile("aicf.product %0 %1;" ::"d"(x[0]), "l"(at));
}

/// A block's tile. With kEpilogue == Graph a thread has V elements of a row of
/// c side by side: n is a multiple of V.
template <typename T, typename Out, Epilogue kEpilogue, int kTile,
          bool kBatched, int V = 1>
__device__ void multiplyTile(const TileParams &p) {
  using C = Compute<T>;
  using S = Sizes<C, kTile>;
  constexpr int kChunk = S::kChunk, kGroups = S::kGroups, kPitch = S::kPitch;
  constexpr int kThreads = S::kThreads, kEach = S::kEach;
  __shared__ __align__(16) C chunks[2][kChunk][kPitch]; // a, b
  __shared__ C rowSums[kGroups][kTile];
  const T *a = static_cast<const T *>(p.a), *b = static_cast<const T *>(p.b);
  Out *c = static_cast<Out *>(p.c);
  if constexpr (kBatched) {
    int64_t batch = int64_t(blockIdx.z) * gridDim.y + blockIdx.y;
    if (batch >= p.batches.count)
      return;
    Batches::Offsets at = p.batches.at(batch);
    a += at.a;
    b += at.b;
    c += at.c;
  }
  int64_t tilesN = (int64_t(p.n) + kTile - 1) / kTile;
  int64_t firstRow = blockIdx.x / tilesN * kTile;
  int64_t firstColumn = blockIdx.x % tilesN * kTile;
  int group = threadIdx.x / 64, lane = threadIdx.x % 64;
  int row = lane / 8 * kEach, column = lane % 8 * kEach;
  C acc[kEach][kEach] = {}, sum[kEach] = {};
  ChunkLoader<T, kTile> loadA, loadB;
  auto load = [&](int64_t k) {
    loadA.load(a, p.lda, !p.transA, p.vectorA, firstRow, p.m, k, p.k);
    loadB.load(b, p.ldb, p.transB, p.vectorB, firstColumn, p.n, k, p.k);
  };
  load(0);
  for (int64_t k = 0; k < p.k; k += kChunk) {
    __syncthreads(); // everybody is done with the chunk before
    loadA.store(chunks[0], !p.transA);
    loadB.store(chunks[1], p.transB);
    __syncthreads();
    if (k + kChunk < p.k)
      load(k + kChunk); // under way while this chunk is multiplied
#pragma unroll
    for (int s = 0; s < kChunk / kGroups; ++s) {
      int at = group * (kChunk / kGroups) + s;
      Vec<C, kEach> x = loadVec<C, kEach>(&chunks[0][at][row], 0);
      Vec<C, kEach> y = loadVec<C, kEach>(&chunks[1][at][column], 0);
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        if constexpr (kEpilogue == Epilogue::Reduce)
          sum[i] += x.at[i];
#pragma unroll
        for (int j = 0; j < kEach; ++j)
          acc[i][j] += x.at[i] * y.at[j];
      }
    }
  }
  __syncthreads();
  // The groups' sums side by side; the chunks' memory is free now.
  C(*partial)
  [kTile][kTile + 1] =
      reinterpret_cast<C(*)[kTile][kTile + 1]>(&chunks[0][0][0]);
  static_assert(kGroups * kTile * (kTile + 1) <= 2 * kChunk * kPitch);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
#pragma unroll
    for (int j = 0; j < kEach; ++j)
      partial[group][row + i][column + j] = acc[i][j];
    if (kEpilogue == Epilogue::Reduce && column == 0)
      rowSums[group][row + i] = sum[i];
  }
  __syncthreads();
  // A graph's text stands here once.
  constexpr int kUnrolled =
      kEpilogue == Epilogue::Graph ? 1 : kTile * kTile / kThreads;
#pragma unroll kUnrolled
  for (int e = threadIdx.x * V; e < kTile * kTile; e += kThreads * V) {
    int i = e / kTile, j = e % kTile;
    int64_t m = firstRow + i, n = firstColumn + j;
    if (m >= p.m || n >= p.n)
      continue;
    if constexpr (kEpilogue == Epilogue::Graph) {
      C values[V] = {};
#pragma unroll
      for (int v = 0; v < V; ++v)
#pragma unroll
        for (int g = 0; g < kGroups; ++g)
          values[v] += partial[g][i][j + v];
      markProduct<V>(values, m * p.n + n);
      continue;
    }
    C value = 0;
#pragma unroll
    for (int g = 0; g < kGroups; ++g)
      value += partial[g][i][j];
    if constexpr (kEpilogue == Epilogue::Bias) {
      value += C(widen(static_cast<const Out *>(p.extra)[n]));
      if (p.relu)
        value = value < 0 ? C(0) : value;
    }
    if constexpr (kEpilogue == Epilogue::ReluBwd)
      if (!(widen(static_cast<const Out *>(p.extra)[m * p.n + n]) > 0))
        value = 0;
    c[m * p.ldc + n] = narrow<Out>(Compute<Out>(value));
  }
  int i = threadIdx.x;
  if (kEpilogue == Epilogue::Reduce && firstColumn == 0 && i < kTile &&
      firstRow + i < p.m) {
    C value = 0;
    for (int g = 0; g < kGroups; ++g)
      value += rowSums[g][i];
    static_cast<Out *>(p.sums)[firstRow + i] = narrow<Out>(Compute<Out>(value));
  }
}

} // namespace
} // namespace aicf::cuda

#endif // AICF_KERNELS_GEMM_TILE_CUH
