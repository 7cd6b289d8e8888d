//===- Reference.cpp - lookups in f64 --------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

#include <cmath>

namespace aicf::reference {

void compute(const PickView<Call> &c) {
  double width = double(c.x().desc.width());
  fill(c.y(), [&](size_t row) {
    double at = c.index()[row];
    return at < 0 || at >= width ? std::nan("")
                                 : c.x()[row * size_t(width) + size_t(at)];
  });
}

void compute(const PickBwdView<Call> &c) {
  size_t size = size_t(c.attrs().size);
  fill(c.dx(), [&](size_t i) {
    return c.index()[i / size] == double(i % size) ? c.dy()[i / size] : 0;
  });
}

void compute(const EmbeddingView<Call> &c) {
  size_t width = size_t(c.table().desc.width());
  fill(c.y(), [&](size_t i) {
    double row = c.index()[i / width];
    return row < 0 || row >= double(c.table().dim(0))
               ? std::nan("")
               : c.table()[size_t(row) * width + i % width];
  });
}

void compute(const EmbeddingBwdView<Call> &c) {
  size_t width = size_t(c.dy().desc.width());
  fill(c.dtable(), [](size_t) { return 0; });
  for (size_t i = 0; i < c.index().size(); ++i) {
    double row = c.index()[i];
    bool counts = row >= 0 && row < double(c.attrs().rows) &&
                  row != double(c.attrs().padding);
    for (size_t j = 0; counts && j < width; ++j)
      c.dtable()[size_t(row) * width + j] += c.dy()[i * width + j];
  }
}

} // namespace aicf::reference
