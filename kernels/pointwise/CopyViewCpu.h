//===- CopyViewCpu.h - dense copies of views on the CPU ---------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Rows that lie together are copied as such. Where another dimension of the
// view lies together, squares of whole cache lines are turned (TileCpu.h), or,
// where one of both is short, elements go one by one along the other.
// Large results go past the caches. Then x is read in its own order, which a
// processor foresees, and lines of y are written wherever they lie, since
// nobody waits for them. Smaller results stay in the caches, where a written
// line is fetched first: those of few rows of y at a time.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_POINTWISE_COPYVIEWCPU_H
#define AICF_KERNELS_POINTWISE_COPYVIEWCPU_H

#include "kernels/cpu/KernelDecls.h"
#include "kernels/pointwise/CopyView.h"
#include "kernels/pointwise/TileCpu.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace aicf::cpu {

/// A copy of a view: its loops are those of x, in the order of the dense y.
template <typename T> struct ViewCopy {
  const T *x;
  T *y;
  Walk walk;
  int64_t yStrides[kMaxRank];
  int64_t elements = 1;
  int numThreads;

  ViewCopy(const TensorView &from, const TensorView &to, int numThreads)
      : x(from.strided<T>()), y(static_cast<T *>(to.start())), walk(from.desc),
        numThreads(numThreads) {
    for (int d = walk.rank - 1; d >= 0; elements *= walk.dims[d--])
      yStrides[d] = elements;
  }

  /// Whether lines of y may go past the caches, if `bytes` bytes of it lie
  /// together.
  bool streams(int64_t bytes) const {
    return elements * int64_t(sizeof(T)) >= kStreamedBytes &&
           bytes % kLineBytes == 0 &&
           reinterpret_cast<uintptr_t>(y) % kLineBytes == 0;
  }
  /// The loops but the last one and that over `along`, or -1: where a turn of
  /// them starts in x and in y. In the order of x if `followsX`.
  Walks<2> outerLoops(int along, bool followsX) const {
    int order[kMaxRank], rank = 0;
    for (int d = 0; d + 1 < walk.rank; ++d)
      if (d != along)
        order[rank++] = d;
    // By insertion, which needs no memory.
    for (int d = 1; followsX && d < rank; ++d)
      for (int e = d;
           e > 0 && walk.strides[order[e - 1]] < walk.strides[order[e]]; --e)
        std::swap(order[e - 1], order[e]);
    Walks<2> loops;
    loops.rank = std::max(rank, 1);
    loops.dims[0] = 1;
    for (int d = 0; d < rank; ++d) {
      loops.dims[d] = walk.dims[order[d]];
      loops.strides[0][d] = walk.strides[order[d]];
      loops.strides[1][d] = yStrides[order[d]];
    }
    return loops;
  }

  void copyTiles(int along) const;
  void copyAlong(int along) const;
  void copyRows() const;
};

/// y[a][d] = x[d][a] for a below `across` and d below `down`, at most a square.
/// Rows of x are `xPitch` elements apart, those of y `yPitch`. Each line is
/// read and written at once: where pitches are powers of two, a cache holds few
/// lines of a column.
template <InstructionSet set, typename T>
void transposeTile(const T *x, int64_t xPitch, T *y, int64_t yPitch,
                   int64_t across, int64_t down, bool streams) {
  using Turned = Square<T, vectorBytes(set)>;
  constexpr int64_t side = Turned::kSide;
  alignas(64) T written[side * side];
  if (across == side && down == side) {
    if constexpr (vectorBytes(set) == kLineBytes) {
      Turned::transpose(x, xPitch, written);
    } else { // which reads a line several times
      alignas(64) T read[side * side];
      for (int64_t d = 0; d < side; ++d)
        std::memcpy(read + d * side, x + d * xPitch, kLineBytes);
      Turned::transpose(read, side, written);
    }
    for (int64_t a = 0; a < side; ++a)
      if (streams)
        LineStream<set>::write(y + a * yPitch, written + a * side);
      else
        std::memcpy(y + a * yPitch, written + a * side, kLineBytes);
    return;
  }
  // The edges: squares of 16 bytes, and what is left of them.
  using Small = Square<T, 16>;
  constexpr int64_t part = Small::kPart;
  const int64_t partsAcross = across / part * part,
                partsDown = down / part * part;
  for (int64_t a = 0; a < partsAcross; a += part)
    for (int64_t d = 0; d < partsDown; d += part)
      Small::transposePart(x + d * xPitch + a, xPitch, y + a * yPitch + d,
                           yPitch);
  for (int64_t a = 0; a < across; ++a)
    for (int64_t d = a < partsAcross ? partsDown : 0; d < down; ++d)
      y[a * yPitch + d] = x[d * xPitch + a];
}

/// `along` is tiledDim().
template <typename T> void ViewCopy<T>::copyTiles(int along) const {
  constexpr int64_t side = kLineBytes / sizeof(T);
  const int last = walk.rank - 1;
  const int64_t across = walk.dims[along], down = walk.dims[last],
                xPitch = walk.strides[last], yPitch = yStrides[along];
  const bool past = streams(down * int64_t(sizeof(T)));
  // Blocks of y: see the head of this file.
  const int64_t blockAcross = (past ? 8 : 2) * side,
                blockDown = (past ? 8 : 16) * side;
  const Walks<2> outer = outerLoops(along, past);
  const int64_t blocksAcross = (across + blockAcross - 1) / blockAcross,
                blocksDown = (down + blockDown - 1) / blockDown;
  parallelFor(elements / (across * down) * blocksAcross * blocksDown, 1,
              numThreads, elements, [&](int64_t begin, int64_t end, auto set) {
                for (int64_t block = begin; block < end; ++block) {
                  int64_t rest = block / blocksAcross, at[2];
                  outer.at(rest / blocksDown, at);
                  const int64_t firstAcross =
                                    block % blocksAcross * blockAcross,
                                firstDown = rest % blocksDown * blockDown;
                  const T *from = x + at[0];
                  T *to = y + at[1];
                  const int64_t endAcross =
                                    std::min(firstAcross + blockAcross, across),
                                endDown = std::min(firstDown + blockDown, down);
                  for (int64_t d = firstDown; d < endDown; d += side)
                    for (int64_t a = firstAcross; a < endAcross; a += side)
                      transposeTile<decltype(set)::value>(
                          from + d * xPitch + a, xPitch, to + a * yPitch + d,
                          yPitch, std::min(side, endAcross - a),
                          std::min(side, endDown - d), past);
                }
                if (past)
                  endStreaming();
              });
}

/// `along` is togetherDim(), and the last dimension is short.
template <typename T> void ViewCopy<T>::copyAlong(int along) const {
  // Elements of a row of x whose places in y stay in the first cache.
  constexpr int64_t kLength = 512;
  const int last = walk.rank - 1;
  const int64_t length = walk.dims[along], down = walk.dims[last],
                xPitch = walk.strides[last], yPitch = yStrides[along],
                blocks = (length + kLength - 1) / kLength;
  const Walks<2> outer = outerLoops(along, false);
  const int64_t blockSize =
      std::max<int64_t>(16384 / (std::min(length, kLength) * down), 1);
  parallelFor(elements / (length * down) * blocks, blockSize, numThreads,
              elements, [&](int64_t begin, int64_t end) {
                for (int64_t block = begin; block < end; ++block) {
                  int64_t at[2], first = block % blocks * kLength,
                                 n = std::min(length - first, kLength);
                  outer.at(block / blocks, at);
                  for (int64_t d = 0; d < down; ++d) {
                    const T *from = x + at[0] + d * xPitch + first;
                    T *to = y + at[1] + first * yPitch + d;
                    for (int64_t i = 0; i < n; ++i)
                      to[i * yPitch] = from[i];
                  }
                }
              });
}

/// `n` elements, which are `stride` apart in x. Vectors copy short rows sooner
/// than a call does.
template <InstructionSet set, typename T>
void copyRow(const T *x, int64_t stride, T *y, int64_t n, bool streams) {
  constexpr int64_t line = kLineBytes / sizeof(T), kShort = 16 * line;
  if (streams)
    for (int64_t i = 0; i < n; i += line)
      LineStream<set>::write(y + i, x + i);
  else if (stride != 1)
    for (int64_t i = 0; i < n; ++i)
      y[i] = x[i * stride];
  else if (n % line == 0 && n <= kShort)
    for (int64_t i = 0; i < n; i += line)
      std::memcpy(y + i, x + i, kLineBytes);
  else
    std::memcpy(y, x, size_t(n) * sizeof(T));
}

template <typename T> void ViewCopy<T>::copyRows() const {
  const int64_t width = walk.dims[walk.rank - 1],
                stride = walk.strides[walk.rank - 1];
  const bool past = stride == 1 && streams(width * int64_t(sizeof(T)));
  const Walks<2> outer = outerLoops(-1, past);
  const int64_t inner = outer.dims[outer.rank - 1];
  parallelFor(elements / width, width >= 16384 ? 1 : 16384 / width, numThreads,
              elements, [&](int64_t begin, int64_t end, auto set) {
                for (int64_t row = begin, at[2]; row < end;) {
                  outer.at(row, at);
                  const int64_t n = std::min(end - row, inner - row % inner);
                  for (int64_t i = 0; i < n; ++i)
                    copyRow<decltype(set)::value>(
                        x + at[0] + i * outer.step(0), stride,
                        y + at[1] + i * outer.step(1), width, past);
                  row += n;
                }
                if (past)
                  endStreaming();
              });
}

/// T is any type of the elements' size.
template <typename T>
void copyView(const TensorView &from, const TensorView &to, int numThreads) {
  const ViewCopy<T> copy(from, to, numThreads);
  if (int along = tiledDim(copy.walk); along >= 0)
    copy.copyTiles(along);
  else if (int along = togetherDim(copy.walk); along >= 0)
    copy.copyAlong(along);
  else
    copy.copyRows();
}

} // namespace aicf::cpu

#endif // AICF_KERNELS_POINTWISE_COPYVIEWCPU_H
