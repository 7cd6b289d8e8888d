//===- CudaProduct.cpp - which calls a library runs as a product ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/gemm/Product.h"

#include <unordered_map>

namespace aicf {

template <typename Args> static Product readProduct(const LaunchArgs &args) {
  return Product(Args(args));
}

ProductReader findProductReader(std::string_view kid) {
  static const std::unordered_map<std::string_view, ProductReader> readers = {
// All that cuBLASLt runs are products.
#define AICF_ROWS_OF_CUDA
#define AICF_ROW_CublasLt(KID, PATTERN, ...)                                   \
  {#KID, &readProduct<PATTERN##Args>},
#include "kernels/Rows.def"
  };
  auto it = readers.find(kid);
  return it == readers.end() ? nullptr : it->second;
}

} // namespace aicf
