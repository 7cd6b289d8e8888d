//===- Family.h - workspace of sums -----------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_NORM_FAMILY_H
#define AICF_KERNELS_NORM_FAMILY_H

#include "kernels/norm/Schedule.h"
#include "lib/Ops/Costs.h"
#include "lib/Ops/RuleCall.h"

#include <algorithm>

namespace aicf::families {

/// Enough sums that each is the work of one block or less, or little work.
template <typename View>
bool hasSumsForAllBlocks(const View &c, const Costs &costs) {
  return c.x()->elements() <= costs.sumElements ||
         c.y()->elements() >= costs.manySums * costs.multiprocessors;
}

/// Chunks times results is at most this many times a block's results.
inline constexpr uint64_t kReductionWorkspaceCap =
    8 * kMultiprocessors * 256 * 16;

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

/// True where rows fit into the registers of a warp.
inline bool hasShortRows(const LayerNormBwdView<rules::Call> &c) {
  return c.gamma()->elements() <= 1024;
}
/// True where there are so many that blocks share the sums of columns.
inline bool hasManyRows(const LayerNormBwdView<rules::Call> &c) {
  return c.x()->elements() / c.gamma()->elements() >= 512;
}
/// True for rows of whole vectors of 16 bytes that the lanes of a block have.
inline bool hasRowsOfVectors(const LayerNormBwdView<rules::Call> &c) {
  const auto vector = int64_t(16 / sizeOf(c.x()->dtype));
  const int64_t width = c.gamma()->elements();
  for (size_t i = 0; i + 1 < c.dy()->rank; ++i)
    if (c.dy()->dims[i] != 1 && c.dy()->stride(i) % vector != 0)
      return false;
  return width % vector == 0 && width <= kMostRowWidth &&
         c.x()->elements() / width < (int64_t(1) << 31);
}
inline uint64_t layerNormVectorsWorkspace(const LayerNormBwdView<rules::Call> &c) {
  const int64_t width = c.gamma()->elements();
  return uint64_t(8 * layerNormVectorBlocks(c.x()->elements() / width) * width);
}
/// Returns the bytes of three sums instead of two.
inline uint64_t layerNormAddWorkspace(const LayerNormBwdAddView<rules::Call> &c) {
  return layerNormVectorsWorkspace(c.bwd()) / 2 * 3;
}
/// All rows are added, to a vector, if there is a sum.
inline bool sumsAllRows(const LayerNormBwdAddView<rules::Call> &c) {
  const auto sum = c.sum();
  if (!sum)
    return true;
  const SumExtents e(*sum->x(), *sum->y(), sum->attrs().axis);
  return e.outer == 1 && e.inner == c.bwd().gamma()->elements();
}
inline uint64_t layerNormBwdWorkspace(const LayerNormBwdView<rules::Call> &c) {
  const int64_t width = c.gamma()->elements();
  const int64_t blocks = layerNormBlocks(c.x()->elements() / width);
  return uint64_t(2 * blocks * width) * (c.x()->dtype == DType::F64 ? 8 : 4);
}
inline constexpr uint64_t kLayerNormWorkspaceCap =
    2 * 2 * kMultiprocessors * 1024 * 8;
inline constexpr uint64_t kLayerNormVectorsCap =
    2 * 2 * kMultiprocessors * kMostRowWidth * 4;
inline constexpr uint64_t kLayerNormAddCap = kLayerNormVectorsCap / 2 * 3;

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
/// A large tensor whose rows are shorter than those that blocks of version 0
/// are made for.
inline bool hasManyNarrowRows(const ReluBwdReduceView<rules::Call> &c) {
  return c.sum().y()->elements() < 512 &&
         c.sum().x()->elements() >= kLargeColumns;
}

} // namespace aicf::families

#endif // AICF_KERNELS_NORM_FAMILY_H
