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
  for (size_t i = 0; i < c.x().size(); ++i) {
    size_t along = i / inner % n, first = i - along * inner;
    double sum = 0;
    for (size_t k = 0; k < n; ++k)
      if (reversed ? k >= along : k <= along)
        sum += c.x()[first + k * inner];
    c.y()[i] = sum;
  }
}

} // namespace aicf::reference
