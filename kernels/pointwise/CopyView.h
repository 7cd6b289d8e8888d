//===- CopyView.h - how a view is copied ------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the kernels of both devices ask before they copy a view to a dense
// tensor.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_POINTWISE_COPYVIEW_H
#define AICF_KERNELS_POINTWISE_COPYVIEW_H

#include "lib/Base/Walk.h"

namespace aicf {

/// Extents from which tiles pay.
inline constexpr int64_t kLeastTiled = 16;

/// The dimension, but for the last one, whose elements lie behind each other in
/// x, if there are enough; -1 where there is none or those of the last one do.
inline int togetherDim(const Walk &walk) {
  if (walk.strides[walk.rank - 1] == 1)
    return -1;
  for (int d = walk.rank - 2; d >= 0; --d)
    if (walk.strides[d] == 1 && walk.dims[d] >= kLeastTiled)
      return d;
  return -1;
}
/// The same, if tiles of it and of the last one pay; -1 else.
inline int tiledDim(const Walk &walk) {
  return walk.dims[walk.rank - 1] < kLeastTiled ? -1 : togetherDim(walk);
}

/// The largest power of two, up to `most`, that divides both addresses and each
/// of `numbers` times `size`; all are bytes.
inline int64_t commonPower(int64_t most, const void *x, const void *y,
                           Span<const int64_t> numbers, int64_t size) {
  uint64_t all = reinterpret_cast<uintptr_t>(x) |
                 reinterpret_cast<uintptr_t>(y) | uint64_t(most);
  for (int64_t number : numbers)
    all |= uint64_t(number * size);
  return int64_t(all & (~all + 1));
}

} // namespace aicf

#endif // AICF_KERNELS_POINTWISE_COPYVIEW_H
