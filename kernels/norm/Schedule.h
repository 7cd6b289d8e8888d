//===- Schedule.h - how reductions are partitioned --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// It decides bits: see kernels/Schedule.h.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_NORM_SCHEDULE_H
#define AICF_KERNELS_NORM_SCHEDULE_H

#include "aicf/TensorDesc.h"
#include "kernels/Schedule.h"

#include <algorithm>

namespace aicf::families {

/// Bytes of partial sums a result element: 64 chunks of f64, or 128 of f32.
inline constexpr uint64_t kPartialSumBytes = 64 * 8;
/// Wide results get fewer chunks.
inline constexpr uint64_t kPartialSumsCap = uint64_t(32) << 20;

/// Threads of a block of a sum of columns.
inline constexpr int kColumnThreads = 512;
/// The chunks of a sum of columns whose blocks are `rows` high, `blocks` of them
/// for a chunk: enough for the card, of at least 16 rows a thread. Fewer do not
/// pay for the second launch.
inline int64_t columnChunks(int64_t blocks, int64_t size, int64_t rows) {
  return std::min<int64_t>(kMultiprocessors * 4 / blocks + 1,
                           size / (rows * 16));
}

/// From so many elements on, threads of a sum of columns access 16 bytes.
inline constexpr int64_t kLargeColumns = int64_t(1) << 21;

/// A sum over `size` of [outer, size, inner]: `large` is what is summed,
/// `small` the sums.
struct SumExtents {
  int64_t outer, size, inner = 1;
  SumExtents(const TensorDesc &large, const TensorDesc &small, int64_t axis) {
    for (int64_t d = axis + 1; d < large.rank; ++d)
      inner *= large.dims[d];
    outer = small.elements() / inner;
    size = large.elements() / small.elements();
  }
};

/// How a GPU goes over a reduction of a large tensor: shapes alone say it, for
/// a card of kMultiprocessors, so that it gives the same bits on every one.
struct ReductionPlan : SumExtents {
  static constexpr int64_t kThreads = 256; ///< of a block
  int64_t lanes;           ///< threads side by side: of a row, or over columns
  int64_t columns = 1;     ///< of a thread, if `inner` is not 1
  bool warpsAlone = false; ///< a warp has columns of its own, else a block
  int64_t chunks;          ///< that `size` is reduced in, one after the other

  /// Chunks are for `perMultiprocessor` blocks of each multiprocessor. They
  /// decide in which order a sum adds.
  ReductionPlan(const TensorDesc &x, const TensorDesc &y, int64_t axis,
                int64_t perMultiprocessor)
      : SumExtents(x, y, axis) {
    const auto vector = int64_t(16 / sizeOf(x.dtype));
    int64_t blocks, steps; // one chunk's; and how often a thread adds
    if (inner == 1) {
      lanes = size <= 64 * vector ? 8 : size <= 512 * vector ? 32 : kThreads;
      blocks = (outer * lanes + kThreads - 1) / kThreads;
      steps = size / (lanes * vector);
    } else {
      columns = inner % vector ? 1 : vector;
      lanes = inner <= 16 * columns ? 8 : 32;
      blocks = outer * strips();
      steps = size / (kThreads / lanes);
      warpsAlone = size <= 256 && blocks >= 8 * kMultiprocessors;
    }
    // A thread of a chunk adds 8 times at least: less does not pay for the
    // second launch.
    chunks = std::max<int64_t>(
        1, std::min(perMultiprocessor * kMultiprocessors / blocks,
                    steps / 8));
  }
  /// Parts of a row of columns, each a block's.
  int64_t strips() const {
    return (inner + lanes * columns - 1) / (lanes * columns);
  }
};

/// Warps of a block of the gradients of layer norm, a row for each at a time.
inline constexpr int kLayerNormWarps = 8;
/// Its blocks: at least 4 rows for each warp, and twice as many as a card has
/// multiprocessors.
inline int64_t layerNormBlocks(int64_t rows) {
  return std::clamp<int64_t>(rows / (4 * kLayerNormWarps), 1,
                             2 * kMultiprocessors);
}

/// Where lanes have vectors of a row: this many elements, and twice as many of rows that
/// are longer than the lanes of kMostRowWarps have. Their sums of gradients fit in
/// registers.
inline constexpr int kRowElements = 8, kMostRowWarps = 8;
/// Warps of a block, which has as many rows as have room, and of which a multiprocessor
/// has two: the fewer, the more registers a lane needs.
inline constexpr int rowWarps(int elements) { return elements <= kRowElements ? 12 : 8; }
inline constexpr int kRowWarps = rowWarps(kRowElements);
inline constexpr int64_t kMostRowWidth = 32 * kMostRowWarps * 2 * kRowElements;
/// Blocks where a row's lanes have vectors: at least 16 rows for each, and twice as many
/// as a card has multiprocessors.
inline int64_t layerNormVectorBlocks(int64_t rows) {
  return std::clamp<int64_t>(rows / 16, 1, 2 * kMultiprocessors);
}

} // namespace aicf::families

#endif // AICF_KERNELS_NORM_SCHEDULE_H
