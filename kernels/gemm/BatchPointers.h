//===- BatchPointers.h - addresses of the matrices of a batch ---*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For a library that takes a batch as three arrays of addresses, where one
// stride does not lead from each matrix to the next: heads of attention lie
// side by side in the rows of a token.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GEMM_BATCHPOINTERS_H
#define AICF_KERNELS_GEMM_BATCHPOINTERS_H

#include "kernels/cuda/Kernels.h"
#include "kernels/gemm/Batches.h"

namespace aicf::cuda {

/// The matrices of a batched product.
struct BatchPointers {
  const char *a, *b;
  char *c;
  Batches batches;
  int64_t inBytes, outBytes; ///< of an element of a and b, and of c
  /// On the device: all of a, then all of b, then all of c.
  const void **pointers;

  /// Bytes of the three arrays, a multiple of 256.
  static uint64_t bytesOf(int64_t count) {
    return (uint64_t(count) * 3 * sizeof(void *) + 255) / 256 * 256;
  }
};

/// Writes the arrays.
PlannedLaunch planBatchPointers(const BatchPointers &p);

} // namespace aicf::cuda

#endif // AICF_KERNELS_GEMM_BATCHPOINTERS_H
