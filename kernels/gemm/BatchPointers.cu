//===- BatchPointers.cu - addresses of the matrices of a batch ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/gemm/BatchPointers.h"
#include "kernels/cuda/Common.cuh"

namespace aicf::cuda {

static __global__ void
batchPointersKernel(const __grid_constant__ BatchPointers p) {
  const int64_t count = p.batches.count;
  gridStride(count, [&](int64_t i) {
    const Batches::Offsets at = p.batches.at(i);
    p.pointers[i] = p.a + at.a * p.inBytes;
    p.pointers[count + i] = p.b + at.b * p.inBytes;
    p.pointers[2 * count + i] = p.c + at.c * p.outBytes;
  });
}

PlannedLaunch planBatchPointers(const BatchPointers &p) {
  const int64_t blocks = (p.batches.count + kBlock - 1) / kBlock;
  return plan(batchPointersKernel, std::min<int64_t>(blocks, 1024), kBlock, p);
}

} // namespace aicf::cuda
