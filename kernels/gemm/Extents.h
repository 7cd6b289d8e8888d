//===- Extents.h - M, N and K of padded matrices ----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// cuBLASLt is fast where M, N and K are multiples of 8, whatever the distance
// between rows (benchmarks/results): a product of padded matrices runs over
// their pads. These are zeros, so the sums stay the same and pads of the result
// become zeros.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GEMM_EXTENTS_H
#define AICF_KERNELS_GEMM_EXTENTS_H

#include "aicf/TensorDesc.h"

namespace aicf {

/// Batches of a launch of tiles: so many over the second dimension of its grid,
/// and the rest over the third.
inline constexpr int64_t kTileBatchesAcross = 32768,
                         kMostTileBatches = kTileBatchesAcross * 65535;

/// Each is as stored where all tensors that have the dimension store the same,
/// else the number of values, which every one of them has.
struct ProductExtents {
  int64_t m, n, k;

  /// c[m,n] = op(a)[m,k] · op(b)[k,n], and bias [n] or null.
  ProductExtents(const TensorDesc &a, bool transA, const TensorDesc &b,
                 bool transB, const TensorDesc &c, const TensorDesc *bias) {
    const TensorDesc storedA = a.stored(), storedB = b.stored(),
                     storedC = c.stored();
    int64_t mOfA = sizeOf(storedA, transA), kOfA = sizeOf(storedA, !transA);
    int64_t nOfB = sizeOf(storedB, !transB), kOfB = sizeOf(storedB, transB);
    bool hasN =
        nOfB == storedC.width() && (!bias || bias->stored().dims[0] == nOfB);
    m = mOfA == storedC.rows() ? mOfA : c.rows();
    n = hasN ? nOfB : c.width();
    k = kOfA == kOfB ? kOfA : sizeOf(a, !transA);
  }
  /// Returns true if the product writes all of the stored result.
  bool cover(const TensorDesc &c) const {
    return m >= c.stored().rows() && n >= c.stored().width();
  }

private:
  /// Rows of a tensor as a matrix, or columns.
  static int64_t sizeOf(const TensorDesc &desc, bool columns) {
    return columns ? desc.width() : desc.rows();
  }
};

} // namespace aicf

#endif // AICF_KERNELS_GEMM_EXTENTS_H
