//===- Views.cpp - a tensor seen as another one ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Base/Views.h"
#include "lib/Base/Walk.h"

#include <cassert>

namespace aicf {

static ViewDesc make(const ViewDesc &view, Span<const int64_t> shape,
                     Span<const int64_t> strides, int64_t offset) {
  return {TensorDesc::strided(view.desc.dtype, shape, strides), offset};
}

/// Goes through the loops that the view's elements are, and cuts each into the
/// new dimensions that fill it, from the inside.
std::optional<ViewDesc> reshaped(const ViewDesc &view,
                                 Span<const int64_t> shape) {
  const Walk walk(view.desc);
  int64_t strides[kMaxRank] = {};
  int loop = walk.rank - 1;
  int64_t left = walk.dims[loop], stride = walk.strides[loop];
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1)
      continue;
    if (left == 1) {
      --loop;
      assert(loop >= 0 && "more elements than there are");
      left = walk.dims[loop];
      stride = walk.strides[loop];
    }
    if (left % shape[i] != 0)
      return std::nullopt;
    strides[i] = stride;
    left /= shape[i];
    stride *= shape[i];
  }
  assert(left == 1 && loop == 0 && "fewer elements than there are");
  return make(view, shape, {strides, shape.size()}, view.offset);
}

ViewDesc transposed(const ViewDesc &view, Span<const int64_t> permutation) {
  int64_t shape[kMaxRank] = {}, strides[kMaxRank] = {};
  for (size_t i = 0; i < permutation.size(); ++i) {
    shape[i] = view.desc.dims[permutation[i]];
    strides[i] = view.desc.stride(size_t(permutation[i]));
  }
  return make(view, {shape, permutation.size()}, {strides, permutation.size()},
              view.offset);
}

ViewDesc sliced(const ViewDesc &view, Span<const int64_t> begin,
                Span<const int64_t> end, Span<const int64_t> step) {
  int64_t shape[kMaxRank] = {}, strides[kMaxRank] = {}, offset = view.offset;
  for (size_t i = 0; i < begin.size(); ++i) {
    shape[i] = (end[i] - begin[i] + step[i] - 1) / step[i];
    strides[i] = view.desc.stride(i) * step[i];
    offset += view.desc.stride(i) * begin[i];
  }
  return make(view, {shape, begin.size()}, {strides, begin.size()}, offset);
}

ViewDesc broadcast(const ViewDesc &view, Span<const int64_t> shape) {
  int64_t strides[kMaxRank] = {};
  size_t added = shape.size() - view.desc.rank;
  for (size_t i = added; i < shape.size(); ++i)
    if (view.desc.dims[i - added] == shape[i])
      strides[i] = view.desc.stride(i - added);
  return make(view, shape, {strides, shape.size()}, view.offset);
}

} // namespace aicf
