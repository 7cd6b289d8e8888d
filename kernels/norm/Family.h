//===- Family.h - workspace of sums -----------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_NORM_FAMILY_H
#define AICF_KERNELS_NORM_FAMILY_H

#include "kernels/H200.h"
#include "kernels/ReductionSize.h"
#include "lib/Ops/RuleCall.h"

#include <algorithm>

namespace aicf::families {

/// Bytes of partial sums a result element: 64 chunks of f64, or 128 of f32.
inline constexpr uint64_t kPartialSumBytes = 64 * 8;
/// Wide results get fewer chunks.
inline constexpr uint64_t kPartialSumsCap = uint64_t(32) << 20;

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

/// From so many elements on, threads of a sum of columns access 16 bytes.
inline constexpr int64_t kLargeColumns = int64_t(1) << 21;

/// Enough sums that each is the work of one block or less, or little work.
template <typename View> bool hasSumsForAllBlocks(const View &c) {
  return c.x()->elements() <= int64_t(1) << 18 ||
         c.y()->elements() >= 32 * h200::kMultiprocessors;
}

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
      warpsAlone = size <= 256 && blocks >= 8 * h200::kMultiprocessors;
    }
    // A thread of a chunk adds 8 times at least: less does not pay for the
    // second launch.
    chunks = std::max<int64_t>(
        1, std::min(perMultiprocessor * h200::kMultiprocessors / blocks,
                    steps / 8));
  }
  /// Parts of a row of columns, each a block's.
  int64_t strips() const {
    return (inner + lanes * columns - 1) / (lanes * columns);
  }
};

/// Chunks times results is at most this many times a block's results.
inline constexpr uint64_t kReductionWorkspaceCap =
    8 * h200::kMultiprocessors * 256 * 16;

/// Bytes of the states of all chunks; none for one chunk.
template <typename Reduction>
uint64_t reductionWorkspace(const Reduction &c, uint64_t bytesPerState,
                            int64_t perMultiprocessor) {
  ReductionPlan plan(*c.x(), *c.y(), c.attrs().axis, perMultiprocessor);
  if (plan.chunks < 2)
    return 0;
  return bytesPerState * uint64_t(plan.chunks * plan.outer * plan.inner);
}
template <typename Reduction>
uint64_t sumWorkspace(const Reduction &c, int64_t perMultiprocessor) {
  return reductionWorkspace(c, c.x()->dtype == DType::F64 ? 8 : 4,
                            perMultiprocessor);
}
/// Blocks for each multiprocessor, whose chunks decide no bit of an extremum.
/// The more chunks, the longer a second launch puts states of columns together.
inline int64_t extremumBlocks(const SumExtents &e, DType dtype) {
  return e.inner == 1 ? 8 : sizeOf(dtype) == 2 ? 2 : 4;
}
/// A state is a value and its index.
template <typename Reduction> uint64_t extremumWorkspace(const Reduction &c) {
  const SumExtents e(*c.x(), *c.y(), c.attrs().axis);
  return reductionWorkspace(c, c.x()->dtype == DType::F64 ? 16 : 8,
                            extremumBlocks(e, c.x()->dtype));
}
/// True for sums of many elements that are rows, or columns of narrow rows.
template <typename Sum> bool isLongOrNarrow(const Sum &c) {
  SumExtents e(*c.x(), *c.y(), c.attrs().axis);
  return c.x()->elements() > kSingleBlockElements &&
         (e.inner == 1 || e.inner < 512);
}

/// Sums of columns of which a thread loads 16 bytes.
template <typename Sum> bool areLargeColumns(const Sum &c) {
  const SumExtents e(*c.x(), *c.y(), c.attrs().axis);
  const auto vector = int64_t(16 / sizeOf(c.x()->dtype));
  return c.x()->elements() >= kLargeColumns && e.inner > 1 &&
         e.inner % vector == 0;
}

/// Warps of a block of the gradients of layer norm, a row for each at a time.
inline constexpr int kLayerNormWarps = 8;
/// Its blocks: at least 4 rows for each warp, and twice as many as a card has
/// multiprocessors.
inline int64_t layerNormBlocks(int64_t rows) {
  return std::clamp<int64_t>(rows / (4 * kLayerNormWarps), 1,
                             2 * h200::kMultiprocessors);
}
/// True where rows fit into the registers of a warp, and where there are so
/// many that blocks share the sums of columns.
inline bool hasManyShortRows(const LayerNormBwdView<rules::Call> &c) {
  const int64_t width = c.gamma()->elements();
  return width <= 1024 && c.x()->elements() / width >= 512;
}
inline uint64_t layerNormBwdWorkspace(const LayerNormBwdView<rules::Call> &c) {
  const int64_t width = c.gamma()->elements();
  const int64_t blocks = layerNormBlocks(c.x()->elements() / width);
  return uint64_t(2 * blocks * width) * (c.x()->dtype == DType::F64 ? 8 : 4);
}
inline constexpr uint64_t kLayerNormWorkspaceCap =
    2 * 2 * h200::kMultiprocessors * 1024 * 8;

template <typename Sum> uint64_t columnSumsWorkspace(const Sum &c) {
  if (c.x()->elements() <= kSingleBlockElements)
    return 0;
  return kPartialSumBytes * uint64_t(c.y()->elements());
}
inline uint64_t columnSumsWorkspace(const ReluBwdReduceView<rules::Call> &c) {
  if (2 * c.sum().x()->elements() <= kSingleBlockElements)
    return 0;
  return kPartialSumBytes * uint64_t(c.sum().y()->elements());
}
/// All rows are added, to a vector.
inline bool sumsRows(const ReluBwdReduceView<rules::Call> &c) {
  return c.sum().attrs().axis == c.sum().x()->rank - 2 &&
         c.sum().y()->rank == 1 &&
         c.sum().y()->elements() == c.sum().x()->width();
}
/// The same of a large tensor whose rows are shorter than those that blocks of
/// version 0 are made for.
inline bool sumsManyNarrowRows(const ReluBwdReduceView<rules::Call> &c) {
  return sumsRows(c) && c.sum().y()->elements() < 512 &&
         c.sum().x()->elements() >= kLargeColumns;
}

} // namespace aicf::families

#endif // AICF_KERNELS_NORM_FAMILY_H
