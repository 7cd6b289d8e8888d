//===- RowLength.h - which rows a GPU takes as long ones --------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ROWLENGTH_H
#define AICF_KERNELS_ROWLENGTH_H

#include "aicf/TensorDesc.h"
#include "kernels/Schedule.h"

namespace aicf::families {

inline bool isLongRow(const TensorDesc &rows) { return rows.width() > kLongRow; }

/// Long rows that begin anywhere, or that are huge.
inline bool isUnevenRow(const TensorDesc &rows) {
  return isLongRow(rows) && (rows.width() > kHugeRow ||
                             rows.width() * sizeOf(rows.dtype) % 16 != 0);
}

} // namespace aicf::families

#endif // AICF_KERNELS_ROWLENGTH_H
