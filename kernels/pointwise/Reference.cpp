//===- Reference.cpp - pointwise primitives in f64 ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Written by hand, not from the records' definitions.
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

#include <cmath>

namespace aicf::reference {

void compute(const ReluView<Call> &c) {
  fill(c.y(), [&](size_t i) { return c.x()[i] < 0 ? 0 : c.x()[i]; });
}

void compute(const ReluBwdView<Call> &c) {
  fill(c.dx(), [&](size_t i) { return c.saved()[i] > 0 ? c.dy()[i] : 0; });
}

void compute(const AddView<Call> &c) {
  fill(c.c(), [&](size_t i) { return c.a()[i] + c.b()[i]; });
}

void compute(const ReciprocalView<Call> &c) {
  fill(c.y(), [&](size_t i) { return 1 / c.x()[i]; });
}

void compute(const GeluView<Call> &c) {
  const double pi = std::acos(-1.0);
  fill(c.y(), [&](size_t i) {
    double x = c.x()[i];
    return c.attrs().approximate
               ? x / 2 *
                     (1 + std::tanh(std::sqrt(2 / pi) *
                                    (x + 0.044715 * std::pow(x, 3))))
               : x / 2 * std::erfc(-x / std::sqrt(2));
  });
}

void compute(const GeluBwdView<Call> &c) {
  const double pi = std::acos(-1.0), a = std::sqrt(2 / pi);
  fill(c.dx(), [&](size_t i) {
    double x = c.x()[i], slope;
    if (c.attrs().approximate) {
      double u = a * (x + 0.044715 * std::pow(x, 3));
      double inner = a * (1 + 3 * 0.044715 * x * x);
      slope =
          (1 + std::tanh(u)) / 2 + x / 2 * inner / std::pow(std::cosh(u), 2);
    } else {
      slope = std::erfc(-x / std::sqrt(2)) / 2 +
              x * std::exp(-x * x / 2) / std::sqrt(2 * pi);
    }
    return c.dy()[i] * slope;
  });
}

void compute(const BiasAddView<Call> &c) {
  const TensorDesc &y = c.y().desc;
  int64_t axis = c.attrs().axis < 0 ? y.rank - 1 : c.attrs().axis;
  fill(c.out(), [&](size_t i) {
    int64_t along = int64_t(i);
    for (int64_t d = y.rank - 1; d > axis; --d)
      along /= y.dims[d];
    return c.y()[i] + c.b()[size_t(along % y.dims[axis])];
  });
}

void compute(const CopyView<Call> &c) { c.y().values = c.x().values; }
void compute(const CopySavedView<Call> &c) { c.y().values = c.x().values; }
void compute(const CastView<Call> &c) { c.y().values = c.x().values; }

} // namespace aicf::reference
