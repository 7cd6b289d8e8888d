//===- Products.cu - kernels of products, but for what becomes of them ----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// nvcc makes PTX text of these when AICF is built. CudaProducts.cpp takes the
// one that a call needs and puts the graph into it, at the mark of
// markProduct(). Sums are those of the kernels in Tile.cu, bit for bit.
//===----------------------------------------------------------------------===//

#include "kernels/gemm/Tile.cuh"
#include "kernels/graph/ProductParams.h"

namespace aicf::cuda {

#define AICF_PRODUCT_KERNEL(NAME, T, TILE, V)                                  \
  extern "C" __global__ void __launch_bounds__(kTileThreads)                   \
      aicf_product_##NAME##_##TILE##_##V(                                      \
          const __grid_constant__ ProductParams p) {                           \
    multiplyTile<T, T, Epilogue::Graph, TILE, /*kBatched=*/false, V>(p.tile);  \
  }
#define AICF_OF_TYPE(NAME, T)                                                  \
  AICF_PRODUCT_KERNEL(NAME, T, 16, 1)                                          \
  AICF_PRODUCT_KERNEL(NAME, T, 32, 1)                                          \
  AICF_PRODUCT_KERNEL(NAME, T, 32, 4)
AICF_OF_TYPE(f32, float)
AICF_OF_TYPE(f64, double)
AICF_OF_TYPE(f16, __half)
AICF_OF_TYPE(bf16, __nv_bfloat16)

} // namespace aicf::cuda
