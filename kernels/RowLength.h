//===- RowLength.h - how a GPU takes rows of each length --------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ROWLENGTH_H
#define AICF_KERNELS_ROWLENGTH_H

#include "aicf/TensorDesc.h"

namespace aicf::families {

/// Rows longer than kLongRow are a block's work, and those longer than kHugeRow the
/// work of a block as large as can be: fewer rows are on their way then, so that a
/// second pass over a row finds it in the L2 cache.
inline constexpr int64_t kLongRow = 1024, kHugeRow = 16384;

inline bool isLongRow(const TensorDesc &rows) { return rows.width() > kLongRow; }

/// Long rows that begin anywhere, or that are huge.
inline bool isUnevenRow(const TensorDesc &rows) {
  return isLongRow(rows) && (rows.width() > kHugeRow ||
                             rows.width() * sizeOf(rows.dtype) % 16 != 0);
}

} // namespace aicf::families

#endif // AICF_KERNELS_ROWLENGTH_H
