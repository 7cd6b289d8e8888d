//===- Batches.h - the matrices of a batched product ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The dimensions in front of the matrices as few loops: those that lie as one
// in all three tensors are one. A plain struct, which a GPU's kernel takes too.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GEMM_BATCHES_H
#define AICF_KERNELS_GEMM_BATCHES_H

#include "aicf/TensorDesc.h"
#include "lib/Base/HostDevice.h"

namespace aicf {

struct Batches {
  /// Where a product begins in each tensor, in elements.
  struct Offsets {
    int64_t a = 0, b = 0, c = 0;
  };
  struct Loop {
    int64_t size = 1;
    Offsets stride;
  };
  int32_t rank = 0; ///< loops, the last one the innermost
  Loop loops[kMaxRank];
  int64_t count = 1; ///< products in all

  Batches() = default;
  /// c = a·b of one rank, the last two dimensions of which are matrices.
  Batches(const TensorDesc &a, const TensorDesc &b, const TensorDesc &c) {
    for (size_t i = 0; i + 2 < c.rank; ++i) {
      if (c.dims[i] == 1)
        continue;
      Loop loop{c.dims[i], {a.stride(i), b.stride(i), c.stride(i)}};
      count *= loop.size;
      Loop *outer = rank > 0 ? &loops[rank - 1] : nullptr;
      if (outer && outer->stride.a == loop.stride.a * loop.size &&
          outer->stride.b == loop.stride.b * loop.size &&
          outer->stride.c == loop.stride.c * loop.size) {
        loop.size *= outer->size;
        *outer = loop;
      } else {
        loops[rank++] = loop;
      }
    }
  }

  AICF_HOST_DEVICE Offsets at(int64_t i) const {
    Offsets offsets;
    for (int d = rank - 1; d >= 0; --d) {
      int64_t index = i % loops[d].size;
      i /= loops[d].size;
      offsets.a += index * loops[d].stride.a;
      offsets.b += index * loops[d].stride.b;
      offsets.c += index * loops[d].stride.c;
    }
    return offsets;
  }
  /// Takes the largest loop out, for a library that runs one at once.
  Loop takeLargest() {
    int largest = 0;
    for (int d = 1; d < rank; ++d)
      if (loops[d].size > loops[largest].size)
        largest = d;
    if (rank == 0)
      return {};
    Loop taken = loops[largest];
    for (int d = largest; d + 1 < rank; ++d)
      loops[d] = loops[d + 1];
    --rank;
    count /= taken.size;
    return taken;
  }
};

} // namespace aicf

#endif // AICF_KERNELS_GEMM_BATCHES_H
