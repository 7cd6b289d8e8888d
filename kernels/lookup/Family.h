//===- Family.h - the workspace of an embedding's gradient -----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_LOOKUP_FAMILY_H
#define AICF_KERNELS_LOOKUP_FAMILY_H

#include "lib/Ops/RuleCall.h"

#include <cstdint>

namespace aicf::families {

/// Positions (i32) of 32 million rows; with more there is no list, and each row of
/// the table looks at all of them.
inline constexpr uint64_t kSortedRowsBytes = uint64_t(1) << 28;

/// CPU: where the rows of each index begin, and their positions.
inline uint64_t sortedRowsWorkspace(const EmbeddingBwdView<rules::Call> &c) {
  return 4 * uint64_t(c.attrs().rows + 1 + c.index()->elements());
}
/// CUDA: positions alone.
inline uint64_t listedRowsWorkspace(const EmbeddingBwdView<rules::Call> &c) {
  return 4 * uint64_t(c.index()->elements());
}

} // namespace aicf::families

#endif // AICF_KERNELS_LOOKUP_FAMILY_H
