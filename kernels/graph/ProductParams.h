//===- ProductParams.h - parameter of a product with a graph ----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_PRODUCTPARAMS_H
#define AICF_KERNELS_GRAPH_PRODUCTPARAMS_H

#include "kernels/gemm/TileParams.h"
#include "kernels/graph/SumsParams.h"

namespace aicf::cuda {

/// The one parameter of the kernels in Products.cu.
struct ProductParams {
  // Of the graph's operands and results, for the text that is put in.
  uint64_t addresses[kMaxGraphTensors];
  TileParams tile; ///< without c: it exists in registers only
};

} // namespace aicf::cuda

#endif // AICF_KERNELS_GRAPH_PRODUCTPARAMS_H
