//===- Reference.cpp - pad and concat in f64 ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

namespace aicf::reference {

/// The index of element `i` along dimension `axis`.
static size_t indexOf(const Tensor &t, size_t i, size_t axis) {
  for (size_t d = t.desc.rank; d-- > axis + 1;)
    i /= size_t(t.dim(d));
  return i % size_t(t.dim(axis));
}
/// Elements from one index along dimension `axis` to the next.
static size_t strideOf(const Tensor &t, size_t axis) {
  size_t n = 1;
  for (size_t d = axis + 1; d < t.desc.rank; ++d)
    n *= size_t(t.dim(d));
  return n;
}

void compute(const PadView<Call> &c) {
  auto axis = size_t(c.attrs().axis);
  auto begin = size_t(c.attrs().begin), step = size_t(c.attrs().step);
  fill(c.y(), [](size_t) { return 0.0; });
  size_t inner = strideOf(c.x(), axis);
  for (size_t i = 0; i < c.x().size(); ++i) {
    size_t outer = i / inner / size_t(c.x().dim(axis));
    size_t at = begin + indexOf(c.x(), i, axis) * step;
    c.y()[(outer * size_t(c.y().dim(axis)) + at) * inner + i % inner] =
        c.x()[i];
  }
}

void compute(const ConcatView<Call> &c) {
  auto axis = size_t(c.attrs().axis);
  size_t inner = strideOf(c.y(), axis);
  fill(c.y(), [&](size_t i) {
    size_t at = indexOf(c.y(), i, axis), part = 0;
    while (at >= size_t(c.part(part).dim(axis)))
      at -= size_t(c.part(part++).dim(axis));
    size_t outer = i / inner / size_t(c.y().dim(axis));
    const Tensor &from = c.part(part);
    return from[(outer * size_t(from.dim(axis)) + at) * inner + i % inner];
  });
}

} // namespace aicf::reference
