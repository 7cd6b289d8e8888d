//===- Reference.cpp - cumsum in f64 ---------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

namespace aicf::reference {

void compute(const CumsumView<Call> &c) {
  const TensorDesc &x = c.x().desc;
  auto [axis, reversed] = c.attrs();
  size_t inner = 1, n = size_t(x.dims[axis]);
  for (size_t d = size_t(axis) + 1; d < x.rank; ++d)
    inner *= size_t(x.dims[d]);
  std::vector<double> sums(inner);
  for (size_t first = 0; first < c.x().size(); first += n * inner) {
    sums.assign(inner, 0);
    for (size_t k = 0; k < n; ++k) {
      size_t row = first + (reversed ? n - 1 - k : k) * inner;
      for (size_t i = 0; i < inner; ++i)
        c.y()[row + i] = sums[i] += c.x()[row + i];
    }
  }
}

} // namespace aicf::reference
