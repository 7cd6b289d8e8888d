//===- BlockTiles.cuh - products of a block of threads ----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For all types, without tensor cores: a block of 16 x 16 threads, which share parts of
// rows in memory near to them. A thread has kSide rows and kSide columns of a tile: rows
// y · kSide + m and columns x + 16 · n, so that 16 lanes have a row.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ATTENTION_BLOCKTILES_CUH
#define AICF_KERNELS_ATTENTION_BLOCKTILES_CUH

#include "kernels/attention/Scores.cuh"

namespace aicf::cuda {

constexpr int kTileThreads = 256;
/// Elements of rows that are shared at once.
constexpr int kChunk = 16;

template <typename T, int kColumnsOfThread> struct BlockTiles {
  using C = Compute<T>;
  /// Queries, and keys, of a tile.
  static constexpr int kTile = sizeof(C) == 8 ? 32 : 64;
  static constexpr int kSide = kTile / 16;
  static constexpr int kColumns = 16 * kColumnsOfThread;
  static constexpr int kPitch = kTile + 4;
  static constexpr int kStage =
      2 * kChunk * kPitch > kChunk * kColumns ? 2 * kChunk * kPitch : kChunk * kColumns;
  using Side = C[kSide][kSide];
  using Sums = C[kSide][kColumnsOfThread];
  using Tile = C[kTile][kTile + 1];

  struct Rows {
    const T *start;
    int64_t pitch, count;
  };
  /// The rows of a head from row t on.
  __device__ static Rows rowsOf(const HeadTensor &x, int64_t b, int64_t t, int64_t h,
                                int64_t length) {
    const int64_t left = length - t;
    return {x.row<const T>(b, t, h), x.strides.row, left < kTile ? left : kTile};
  }
  __device__ static int x() { return int(threadIdx.x) % 16; }
  __device__ static int y() { return int(threadIdx.x) / 16; }

  /// out = a · bᵀ, over `size` elements of rows.
  __device__ static void multiply(const Rows &a, const Rows &b, int64_t size, C *stage,
                                  Side &out) {
    C *sharedA = stage, *sharedB = stage + kChunk * kPitch;
#pragma unroll
    for (int m = 0; m < kSide; ++m)
#pragma unroll
      for (int n = 0; n < kSide; ++n)
        out[m][n] = 0;
    for (int64_t first = 0; first < size; first += kChunk) {
      __syncthreads(); // the stage is free
      for (int at = int(threadIdx.x); at < kChunk * kTile; at += kTileThreads) {
        const int d = at % kChunk, r = at / kChunk;
        const bool isIn = first + d < size;
        sharedA[d * kPitch + r] =
            isIn && r < a.count ? widen(a.start[r * a.pitch + first + d]) : C(0);
        sharedB[d * kPitch + r] =
            isIn && r < b.count ? widen(b.start[r * b.pitch + first + d]) : C(0);
      }
      __syncthreads();
#pragma unroll
      for (int d = 0; d < kChunk; ++d) {
        C left[kSide], right[kSide];
#pragma unroll
        for (int m = 0; m < kSide; ++m)
          left[m] = sharedA[d * kPitch + y() * kSide + m];
#pragma unroll
        for (int n = 0; n < kSide; ++n)
          right[n] = sharedB[d * kPitch + x() + 16 * n];
#pragma unroll
        for (int m = 0; m < kSide; ++m)
#pragma unroll
          for (int n = 0; n < kSide; ++n)
            out[m][n] = fma(left[m], right[n], out[m][n]);
      }
    }
  }

  /// sums += weights · rows, columns [first, first + kColumns) of `width`; or with
  /// kTransposed, weightsᵀ · rows.
  template <bool kTransposed>
  __device__ static void addRows(const Tile &weights, const Rows &rows, int64_t first,
                                 int64_t width, C *stage, Sums &sums) {
    for (int from = 0; from < rows.count; from += kChunk) {
      __syncthreads(); // the stage is free, and weights are written
      for (int at = int(threadIdx.x); at < kChunk * kColumns; at += kTileThreads) {
        const int r = from + at / kColumns;
        const int64_t d = first + at % kColumns;
        stage[at] = r < rows.count && d < width
                        ? widen(rows.start[r * rows.pitch + d])
                        : C(0);
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kChunk; ++k) {
        C row[kColumnsOfThread];
#pragma unroll
        for (int c = 0; c < kColumnsOfThread; ++c)
          row[c] = stage[k * kColumns + x() + 16 * c];
#pragma unroll
        for (int m = 0; m < kSide; ++m) {
          const int mine = y() * kSide + m;
          const C weight = kTransposed ? weights[from + k][mine] : weights[mine][from + k];
#pragma unroll
          for (int c = 0; c < kColumnsOfThread; ++c)
            sums[m][c] = fma(weight, row[c], sums[m][c]);
        }
      }
    }
  }

  /// Writes sums to the columns from `first` on of rows that are there.
  __device__ static void store(const Sums &sums, T *to, int64_t pitch, int64_t count,
                               int64_t first, int64_t width) {
#pragma unroll
    for (int m = 0; m < kSide; ++m)
#pragma unroll
      for (int c = 0; c < kColumnsOfThread; ++c) {
        const int row = y() * kSide + m;
        const int64_t d = first + x() + 16 * c;
        if (row < count && d < width)
          to[row * pitch + d] = narrow<T>(sums[m][c]);
      }
  }
};

/// The largest of 16 lanes that have a row, or their sum.
template <typename C> __device__ inline C mostOfRow(C x) {
  for (int offset = 8; offset > 0; offset /= 2) {
    const C other = __shfl_xor_sync(0xffffffffu, x, offset);
    x = other > x ? other : x;
  }
  return x;
}
template <typename C> __device__ inline C sumOfRow(C x) {
  for (int offset = 8; offset > 0; offset /= 2)
    x += __shfl_xor_sync(0xffffffffu, x, offset);
  return x;
}

} // namespace aicf::cuda

#endif // AICF_KERNELS_ATTENTION_BLOCKTILES_CUH
