//===- Family.h - a part of a tensor along a dimension ----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_LAYOUT_FAMILY_H
#define AICF_KERNELS_LAYOUT_FAMILY_H

#include "lib/Base/Walk.h"

namespace aicf::families {

/// Elements of x in a dense tensor: x is [outer, size, inner] there, and its
/// index i is index begin + i·step of the middle dimension.
struct PartOf {
  int64_t inner, size; ///< of the part
  int64_t whole;       ///< the middle dimension of the tensor
  int64_t begin, step;
  Walk walk; ///< of x in its own memory

  PartOf(const TensorDesc &x, const TensorDesc &y, int64_t axis, int64_t begin,
         int64_t step)
      : inner(1), size(x.dims[axis]), whole(y.dims[axis]), begin(begin),
        step(step), walk(x) {
    for (size_t d = size_t(axis) + 1; d < x.rank; ++d)
      inner *= x.dims[d];
  }
  /// Where element `i` of x, in row-major order, goes.
  AICF_HOST_DEVICE int64_t at(int64_t i) const {
    int64_t row = i / inner;
    return (row / size * whole + begin + row % size * step) * inner + i % inner;
  }
};

} // namespace aicf::families

#endif // AICF_KERNELS_LAYOUT_FAMILY_H
