//===- Cuda.cu - comparisons, logic, choices on CUDA -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What they compute stands in the records. Compiled without contraction.
//===----------------------------------------------------------------------===//

#include "kernels/pointwise/Pointwise.cuh"

namespace aicf::cuda {

#define AICF_KERNELS_OF_compare_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
