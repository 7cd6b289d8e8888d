//===- Family.h - workspaces of an embedding's gradient ---------*- C++ -*-===//
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

/// Positions (i32) of 32 million rows; with more there is no list, and each row
/// of the table looks at all of them.
inline constexpr uint64_t kSortedRowsBytes = uint64_t(1) << 28;

/// CPU: where the rows of each index begin, and their positions.
inline uint64_t sortedRowsWorkspace(const EmbeddingBwdView<rules::Call> &c) {
  return 4 * uint64_t(c.attrs().rows + 1 + c.index()->elements());
}
/// CUDA: positions alone.
inline uint64_t listedRowsWorkspace(const EmbeddingBwdView<rules::Call> &c) {
  return 4 * uint64_t(c.index()->elements());
}
/// CUDA: those of each table, one behind the other.
inline uint64_t listedRowsWorkspace(const EmbeddingsBwdView<rules::Call> &c) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < c.numGroups(); ++i)
    bytes += listedRowsWorkspace(c.grad(i));
  return bytes;
}

/// Tables of one launch: as many as the patterns allow.
inline constexpr int kMostTables = 64;

/// One launch is of one element type.
inline bool tablesFit(const EmbeddingsView<rules::Call> &c) {
  for (size_t i = 1; i < c.numGroups(); ++i)
    if (c.lookup(i).table()->dtype != c.lookup(0).table()->dtype)
      return false;
  return true;
}
inline bool tablesFit(const EmbeddingsBwdView<rules::Call> &c) {
  for (size_t i = 1; i < c.numGroups(); ++i)
    if (c.grad(i).dy()->dtype != c.grad(0).dy()->dtype)
      return false;
  return true;
}

} // namespace aicf::families

#endif // AICF_KERNELS_LOOKUP_FAMILY_H
