//===- CopyViewCpu.h - dense copies of views on the CPU ---------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Rows that lie together are copied as such. Where another dimension of the
// view lies together, tiles of whole cache lines are turned in registers: log2
// of a vector's length rounds of interleaving halves (Stone, "Parallel
// Processing with the Perfect Shuffle", 1971). Element types do not matter,
// their size does.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_POINTWISE_COPYVIEWCPU_H
#define AICF_KERNELS_POINTWISE_COPYVIEWCPU_H

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"
#include "kernels/pointwise/CopyView.h"

#include <algorithm>
#include <cstring>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace aicf::cpu {

/// A square of elements, whose rows are cache lines.
template <typename T> struct alignas(64) Tile {
  static constexpr size_t kSide = 64 / sizeof(T);
  static constexpr size_t kVector = 16 / sizeof(T); ///< elements
  using Vector [[gnu::vector_size(16)]] = T;
  Vector at[kSide][4];

  template <bool IsHigh, size_t... I>
  static Vector interleaved(Vector a, Vector b, std::index_sequence<I...>) {
    constexpr size_t first = IsHigh ? kVector / 2 : 0;
    return __builtin_shufflevector(
        a, b, int(first + I / 2 + (I % 2 ? kVector : 0))...);
  }
  /// Rows of `from` become columns.
  void transpose(const Tile &from) {
    using Each = std::make_index_sequence<kVector>;
    for (size_t i = 0; i < 4; ++i)
      for (size_t j = 0; j < 4; ++j) {
        Vector rows[kVector], before[kVector];
        for (size_t k = 0; k < kVector; ++k)
          rows[k] = from.at[i * kVector + k][j];
        for (size_t round = 1; round < kVector; round *= 2) {
          std::copy(rows, rows + kVector, before);
          for (size_t k = 0; k < kVector / 2; ++k) {
            Vector low = before[k], high = before[k + kVector / 2];
            rows[2 * k] = interleaved<false>(low, high, Each());
            rows[2 * k + 1] = interleaved<true>(low, high, Each());
          }
        }
        for (size_t k = 0; k < kVector; ++k)
          at[j * kVector + k][i] = rows[k];
      }
  }
};

/// Writes a line past the caches. `to` is a multiple of 64.
inline void streamLine(void *to, const void *from) {
#ifdef __SSE2__
  for (int i = 0; i < 4; ++i)
    _mm_stream_si128(static_cast<__m128i *>(to) + i,
                     static_cast<const __m128i *>(from)[i]);
#else
  std::memcpy(to, from, 64);
#endif
}

/// Behind the last of them: no later store may be seen before such lines are.
inline void endStreaming() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

/// y[a][d] = x[d][a] for a below `across` and d below `down`, at most a tile.
/// Rows of x are `xPitch` elements apart, those of y `yPitch`. Each line is
/// read and written at once: where pitches are powers of two, a cache holds few
/// lines of a column. As many rows from `next` on will be read soon: no
/// processor foresees the lines of a column.
template <typename T>
void transposeTile(const T *x, int64_t xPitch, T *y, int64_t yPitch,
                   int64_t across, int64_t down, const T *next, bool streams) {
  Tile<T> read, written;
  constexpr auto side = int64_t(Tile<T>::kSide);
  if (across == side && down == side) {
    for (int64_t d = 0; d < side; ++d) {
      __builtin_prefetch(next + d * xPitch);
      std::memcpy(read.at[d], x + d * xPitch, 64);
    }
    written.transpose(read);
    for (int64_t a = 0; a < side; ++a)
      if (streams)
        streamLine(y + a * yPitch, written.at[a]);
      else
        std::memcpy(y + a * yPitch, written.at[a], 64);
    return;
  }
  for (int64_t d = 0; d < down; ++d)
    std::memcpy(read.at[d], x + d * xPitch, size_t(across) * sizeof(T));
  written.transpose(read);
  for (int64_t a = 0; a < across; ++a)
    std::memcpy(y + a * yPitch, written.at[a], size_t(down) * sizeof(T));
}

/// Larger copies go past the caches, where they would leave nothing.
inline constexpr int64_t kStreamedBytes = 32 << 20;

/// `along` is tiledDim().
template <typename T>
void copyTiles(const T *x, T *y, const Walk &walk, int along, int numThreads) {
  constexpr auto side = int64_t(Tile<T>::kSide);
  // A block is a few lines wide, and long enough to ask for tiles early.
  constexpr int64_t kAcross = 4 * side, kDown = 16 * side;
  int last = walk.rank - 1;
  int64_t across = walk.dims[along], down = walk.dims[last],
          xPitch = walk.strides[last], yPitch = 1, elements = down;
  // The other dimensions as those of x, and where they lie in the dense y.
  Walk outer = walk, outerOfY = walk;
  for (int d = last - 1; d >= 0; elements *= walk.dims[d--]) {
    outerOfY.strides[d] = elements;
    if (d == along)
      yPitch = elements;
  }
  outer.dims[along] = outerOfY.dims[along] = 1;
  outer.dims[last] = outerOfY.dims[last] = 1;
  int64_t blocksAcross = (across + kAcross - 1) / kAcross,
          blocksDown = (down + kDown - 1) / kDown;
  int64_t numBlocks = elements / (across * down) * blocksAcross * blocksDown;
  bool streams = elements * int64_t(sizeof(T)) >= kStreamedBytes &&
                 down % side == 0 && reinterpret_cast<uintptr_t>(y) % 64 == 0;
  parallelFor(
      numBlocks, 1, numThreads, elements, [&](int64_t begin, int64_t end) {
        for (int64_t block = begin; block < end; ++block) {
          int64_t rest = block / blocksAcross, at = rest / blocksDown;
          int64_t firstAcross = block % blocksAcross * kAcross,
                  firstDown = rest % blocksDown * kDown;
          const T *from = x + outer.at(at);
          T *to = y + outerOfY.at(at);
          const int64_t lastAcross = std::min(firstAcross + kAcross, across),
                        lastDown = std::min(firstDown + kDown, down);
          for (int64_t a = firstAcross; a < lastAcross; a += side)
            for (int64_t d = firstDown; d < lastDown; d += side) {
              int64_t soon =
                  std::max<int64_t>(std::min(d + 2 * side, down - side), 0);
              transposeTile(from + d * xPitch + a, xPitch, to + a * yPitch + d,
                            yPitch, std::min(side, across - a),
                            std::min(side, down - d), from + soon * xPitch + a,
                            streams);
            }
        }
        if (streams)
          endStreaming();
      });
}

/// A row of the walk at a time.
template <typename T>
void copyRows(const T *x, T *y, const Walk &walk, int numThreads) {
  int64_t elements = 1;
  for (int d = 0; d < walk.rank; ++d)
    elements *= walk.dims[d];
  const int64_t width = walk.dims[walk.rank - 1];
  const int64_t stride = walk.strides[walk.rank - 1];
  parallelFor(elements / width, width >= 16384 ? 1 : 16384 / width, numThreads,
              elements, [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  const T *from = x + walk.at(row * width);
                  T *to = y + row * width;
                  if (stride == 1)
                    std::memcpy(to, from, size_t(width) * sizeof(T));
                  else
                    for (int64_t i = 0; i < width; ++i)
                      to[i] = from[i * stride];
                }
              });
}

/// T is any type of the elements' size.
template <typename T>
void copyView(const TensorView &from, const TensorView &to, int numThreads) {
  const Walk walk(from.desc);
  const T *x = from.strided<T>();
  T *y = static_cast<T *>(to.start());
  if (int along = tiledDim(walk); along >= 0)
    copyTiles(x, y, walk, along, numThreads);
  else
    copyRows(x, y, walk, numThreads);
}

} // namespace aicf::cpu

#endif // AICF_KERNELS_POINTWISE_COPYVIEWCPU_H
