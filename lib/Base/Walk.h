//===- Walk.h - the elements of a tensor as a nest of loops -----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For kernels that go by strides: a plain struct that a GPU's kernel can take
// too, with as few loops as the strides allow. Runs.h has the loop over
// elements on the host.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_BASE_WALK_H
#define AICF_LIB_BASE_WALK_H

#include "aicf/TensorDesc.h"
#include "lib/Base/HostDevice.h"

#include <algorithm>

namespace aicf {

/// Elements in row-major order: `rank` loops, the last one the innermost. There
/// is at least one.
struct Walk {
  int32_t rank = 1;
  int64_t dims[kMaxRank] = {1};
  int64_t strides[kMaxRank] = {1}; ///< elements

  /// Dimensions that lie as one are one loop.
  explicit Walk(const TensorDesc &desc) : rank(0) {
    for (size_t i = 0; i < desc.rank; ++i) {
      if (desc.dims[i] == 1)
        continue;
      int64_t stride = desc.stride(i);
      if (rank > 0 && strides[rank - 1] == stride * desc.dims[i]) {
        dims[rank - 1] *= desc.dims[i];
        strides[rank - 1] = stride;
        continue;
      }
      dims[rank] = desc.dims[i];
      strides[rank++] = stride;
    }
    if (rank == 0)
      *this = Walk();
  }
  Walk() = default;

  /// Where element `i` in row-major order lies, in elements from the first one.
  /// `Index` holds `i` and every dimension.
  template <typename Index = int64_t>
  AICF_HOST_DEVICE int64_t at(Index i) const {
    int64_t offset = 0;
    for (int d = rank - 1; d > 0; --d) {
      Index size = Index(dims[d]);
      offset += int64_t(i % size) * strides[d];
      i /= size;
    }
    return offset + int64_t(i) * strides[0];
  }
};

/// The rows of a tensor: the loops over all dimensions but the last.
inline Walk rowsOf(const TensorDesc &desc) {
  int64_t strides[kMaxRank] = {};
  size_t rank = desc.rank > 0 ? desc.rank - 1u : 0;
  for (size_t i = 0; i < rank; ++i)
    strides[i] = desc.stride(i);
  return Walk(
      TensorDesc::strided(desc.dtype, {desc.dims, rank}, {strides, rank}));
}

/// The same for several tensors of one shape, side by side. Dimensions are one
/// loop where they lie as one in every tensor.
template <size_t N> struct Walks {
  int32_t rank = 0;
  int64_t dims[kMaxRank] = {};
  int64_t strides[N][kMaxRank] = {}; ///< elements, of each tensor

  Walks() = default;
  explicit Walks(const TensorDesc *const (&descs)[N]) {
    const TensorDesc &shape = *descs[0];
    for (size_t i = 0; i < shape.rank; ++i) {
      if (shape.dims[i] == 1)
        continue;
      bool isOneLoop = rank > 0;
      for (size_t n = 0; n < N; ++n)
        isOneLoop &= strides[n][std::max(rank - 1, 0)] ==
                     descs[n]->stride(i) * shape.dims[i];
      dims[isOneLoop ? rank - 1 : rank] =
          isOneLoop ? dims[rank - 1] * shape.dims[i] : shape.dims[i];
      rank += !isOneLoop;
      for (size_t n = 0; n < N; ++n)
        strides[n][rank - 1] = descs[n]->stride(i);
    }
    if (rank == 0) {
      rank = 1;
      dims[0] = 1;
    }
  }

  /// Elements of each tensor from one index of the innermost loop to the next.
  AICF_HOST_DEVICE int64_t step(size_t n) const { return strides[n][rank - 1]; }
  /// Whether `width` elements that follow each other in the innermost loop, from
  /// a multiple of `width` on, lie side by side in tensor `n`, from a multiple
  /// of `width` on, or are one element.
  bool hasVectors(size_t n, int64_t width) const {
    bool are = dims[rank - 1] % width == 0 && (step(n) == 0 || step(n) == 1);
    for (int d = 0; d + 1 < rank; ++d)
      are &= step(n) == 0 || strides[n][d] % width == 0;
    return are;
  }
  /// Where element `i` of each tensor lies, in elements from its first one.
  template <typename Index>
  AICF_HOST_DEVICE void at(Index i, int64_t (&offsets)[N]) const {
    for (size_t n = 0; n < N; ++n)
      offsets[n] = 0;
    for (int d = rank - 1; d >= 0; --d) {
      Index size = Index(dims[d]), along = d ? Index(i % size) : i;
      for (size_t n = 0; n < N; ++n)
        offsets[n] += int64_t(along) * strides[n][d];
      i = d ? Index(i / size) : i;
    }
  }
};

} // namespace aicf

#endif // AICF_LIB_BASE_WALK_H
