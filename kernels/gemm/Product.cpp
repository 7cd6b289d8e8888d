//===- Product.cpp - which calls a library runs as a product --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/gemm/Product.h"

#include <unordered_map>

namespace aicf {

// Rows of the table whose provider is cuBLASLt are products; others are left
// out.
#define AICF_BY_CublasLt(...) __VA_ARGS__
#define AICF_BY_Own(...)
#define AICF_BY_Blas(...)

template <typename Args> static Product readProduct(const LaunchArgs &args) {
  return Product(Args(args));
}

ProductReader findProductReader(std::string_view kid) {
  static const std::unordered_map<std::string_view, ProductReader> readers = {
#define AICF_ROW(KID, PATTERN, DEVICE, PROVIDER, ...)                          \
  AICF_BY_##PROVIDER({#KID, &readProduct<PATTERN##Args>}, )
#include "kernels/Rows.def"
  };
  auto it = readers.find(kid);
  return it == readers.end() ? nullptr : it->second;
}

} // namespace aicf
