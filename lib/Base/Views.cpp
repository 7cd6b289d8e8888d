//===- Views.cpp - a tensor seen as another one ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Base/Views.h"
#include "lib/Base/Walk.h"

#include <algorithm>
#include <cassert>
#include <vector>

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

/// The view's dimensions, sorted by how far they go in the base, are those of a
/// tensor whose elements come in the base's order; `place` says where they lie.
std::optional<ViewDesc> placedThrough(const ViewDesc &view,
                                      const TensorDesc &base,
                                      const ViewDesc &place) {
  assert(base.isDense() && view.desc.sameShape(place.desc));
  struct Dim {
    int64_t stride, size, placed;
  };
  std::vector<Dim> dims;
  for (size_t i = 0; i < view.desc.rank; ++i)
    if (view.desc.dims[i] != 1)
      dims.push_back(
          {view.desc.stride(i), view.desc.dims[i], place.desc.stride(i)});
  std::sort(dims.begin(), dims.end(),
            [](const Dim &a, const Dim &b) { return a.stride > b.stride; });
  int64_t elements = 1, shape[kMaxRank] = {}, strides[kMaxRank] = {};
  for (size_t i = dims.size(); i-- > 0; elements *= dims[i].size) {
    if (dims[i].stride != elements)
      return std::nullopt;
    shape[i] = dims[i].size;
    strides[i] = dims[i].placed;
  }
  if (elements != base.elements())
    return std::nullopt;
  ViewDesc sorted{TensorDesc::strided(base.dtype, {shape, dims.size()},
                                      {strides, dims.size()}),
                  place.offset};
  return reshaped(sorted, base.shape());
}

/// Each dimension of the view must stay within one of the base, where dimensions that
/// follow each other in both places count as one.
std::optional<ViewDesc> followed(const ViewDesc &view, const TensorDesc &base,
                                 const TensorDesc &placed) {
  assert(base.isDense() && base.sameShape(placed));
  struct Dim {
    int64_t size, stride, placed, index;
  };
  std::vector<Dim> dims;
  for (size_t d = 0; d < base.rank; ++d) {
    Dim dim{base.dims[d], base.stride(d), placed.stride(d), 0};
    if (dim.size == 1)
      continue;
    if (!dims.empty() && dims.back().placed == dim.size * dim.placed) {
      dim.size *= dims.back().size;
      dims.pop_back();
    }
    dims.push_back(dim);
  }
  int64_t offset = 0, rest = view.offset;
  for (Dim &dim : dims) {
    dim.index = rest / dim.stride;
    offset += dim.index * dim.placed;
    rest %= dim.stride;
  }
  int64_t strides[kMaxRank] = {};
  for (size_t i = 0; i < view.desc.rank; ++i) {
    int64_t stride = view.desc.stride(i), last = view.desc.dims[i] - 1;
    if (last == 0 || stride == 0)
      continue;
    // That the dimension goes along: the last one of the base has stride 1.
    auto dim = std::find_if(dims.begin(), dims.end(), [&](const Dim &dim) {
      return stride % dim.stride == 0;
    });
    int64_t steps = stride / dim->stride;
    dim->index += steps * last; // as far as the view goes there
    if (dim->index >= dim->size)
      return std::nullopt;
    strides[i] = steps * dim->placed;
  }
  return make(view, view.desc.shape(), {strides, view.desc.rank}, offset);
}

} // namespace aicf
