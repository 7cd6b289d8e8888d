//===- Family.h - workspace of sums -----------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_NORM_FAMILY_H
#define AICF_KERNELS_NORM_FAMILY_H

#include "kernels/ReductionSize.h"
#include "kernels/RuleCall.h"

namespace aicf::families {

/// Bytes of partial sums a result element: 64 chunks of f64, or 128 of f32.
inline constexpr uint64_t kPartialSumBytes = 64 * 8;
/// Wide results get fewer chunks.
inline constexpr uint64_t kPartialSumsCap = uint64_t(32) << 20;

inline uint64_t columnSumsWorkspace(const ReduceSumView<rules::Call> &c) {
  if (c.x()->elements() <= kSingleBlockElements)
    return 0;
  return kPartialSumBytes * uint64_t(c.y()->elements());
}
inline uint64_t columnSumsWorkspace(const ReluBwdReduceView<rules::Call> &c) {
  if (2 * c.sum().x()->elements() <= kSingleBlockElements)
    return 0;
  return kPartialSumBytes * uint64_t(c.sum().y()->elements());
}
/// A matrix summed over its rows, to a vector.
inline bool sumsRows(const ReluBwdReduceView<rules::Call> &c) {
  return c.sum().attrs().axis == 0 && c.sum().x()->rank == 2 &&
         c.sum().y()->rank == 1;
}

} // namespace aicf::families

#endif // AICF_KERNELS_NORM_FAMILY_H
