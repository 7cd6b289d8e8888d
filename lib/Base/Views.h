//===- Views.h - a tensor seen as another one -------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What reshape, transpose, slice and broadcast make of a tensor without moving
// an element: as NumPy's strides do it. Chains of them are one view. Who calls
// has checked the arguments; touches no memory.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_BASE_VIEWS_H
#define AICF_LIB_BASE_VIEWS_H

#include "aicf/TensorDesc.h"

namespace aicf {

/// Some elements of a tensor, in an order of their own.
struct ViewDesc {
  TensorDesc desc;
  int64_t offset = 0; ///< of the first element, in elements of the tensor

  bool operator==(const ViewDesc &o) const {
    return desc == o.desc && offset == o.offset;
  }
};

/// The same elements in row-major order with another shape of as many. Nothing
/// where strides cannot say it: they must be copied first.
std::optional<ViewDesc> reshaped(const ViewDesc &view,
                                 Span<const int64_t> shape);
/// Dimension i is dimension permutation[i] of `view`.
ViewDesc transposed(const ViewDesc &view, Span<const int64_t> permutation);
/// Every step[i]-th index of dimension i, from begin[i] on and below end[i].
ViewDesc sliced(const ViewDesc &view, Span<const int64_t> begin,
                Span<const int64_t> end, Span<const int64_t> step);
/// NumPy's rule: dimensions of 1, and those in front, repeat.
ViewDesc broadcast(const ViewDesc &view, Span<const int64_t> shape);
/// Where the elements of `base`, which is dense, must lie so that those of `view`
/// of it lie as `place` says, which has the view's shape. Nothing where no strides
/// say so, or where the view has not each element of the base once.
std::optional<ViewDesc> placedThrough(const ViewDesc &view,
                                      const TensorDesc &base,
                                      const ViewDesc &place);
/// What `view` of the dense `base` becomes when the base lies as `placed` says,
/// seen from the first element of the base. Nothing where no strides say so.
std::optional<ViewDesc> followed(const ViewDesc &view, const TensorDesc &base,
                                 const TensorDesc &placed);

} // namespace aicf

#endif // AICF_LIB_BASE_VIEWS_H
