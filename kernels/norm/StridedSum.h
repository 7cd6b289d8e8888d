//===- StridedSum.h - sums of tensors that lie anywhere ---------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which loops of a view go over what is summed, and which over the sums. A plain
// struct, which a GPU's kernel takes too; touches no memory.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_NORM_STRIDEDSUM_H
#define AICF_KERNELS_NORM_STRIDEDSUM_H

#include "lib/Base/Walk.h"

namespace aicf {

/// y = x summed over dimension `axis`, or over those from 0 to `axis`: as the
/// record of reduce_sum says, by y's shape.
struct StridedSum {
  Walk kept, summed;      ///< loops of x, in elements
  int64_t outputs = 1;    ///< of y
  int64_t size = 1;       ///< elements of a sum

  StridedSum() = default;
  StridedSum(const TensorDesc &x, const TensorDesc &y, int64_t axis) {
    bool dropsLeading = y.rank + axis + 1 == x.rank;
    int64_t shape[2][kMaxRank] = {}, strides[2][kMaxRank] = {};
    size_t rank[2] = {};
    for (size_t i = 0; i < x.rank; ++i) {
      bool isSummed = int64_t(i) == axis || (dropsLeading && int64_t(i) < axis);
      shape[isSummed][rank[isSummed]] = x.dims[i];
      strides[isSummed][rank[isSummed]++] = x.stride(i);
      (isSummed ? size : outputs) *= x.dims[i];
    }
    auto walk = [&](int of) {
      return Walk(TensorDesc::strided(x.dtype, {shape[of], rank[of]},
                                      {strides[of], rank[of]}));
    };
    kept = walk(0);
    summed = walk(1);
  }
  /// Neighbours among the sums lie closer together than those of one sum.
  bool liesAlongSums() const {
    return kept.strides[kept.rank - 1] <= summed.strides[summed.rank - 1];
  }
};

} // namespace aicf

#endif // AICF_KERNELS_NORM_STRIDEDSUM_H
