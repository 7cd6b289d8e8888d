//===- Family.h - workspace of sums -----------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_NORM_FAMILY_H
#define AICF_KERNELS_NORM_FAMILY_H

#include "kernels/ReductionSize.h"
#include "lib/Ops/RuleCall.h"

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

} // namespace aicf::families

#endif // AICF_KERNELS_NORM_FAMILY_H
