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

/// The share of x that gelu lets through, and its derivative. (1 + tanh u)/2 as
/// 1/(1 + exp(-2u)), and 1 + erf as erfc: small values keep their digits.
static std::pair<double, double> geluShare(double x, bool approximate) {
  const double pi = std::acos(-1.0), a = std::sqrt(2 / pi);
  if (!approximate)
    return {std::erfc(-x / std::sqrt(2)) / 2,
            std::exp(-x * x / 2) / std::sqrt(2 * pi)};
  double u = a * (x + 0.044715 * std::pow(x, 3));
  double share = 1 / (1 + std::exp(-2 * u));
  double sech2 = 4 * share / (1 + std::exp(2 * u));
  return {share, sech2 / 2 * a * (1 + 3 * 0.044715 * x * x)};
}

void compute(const GeluView<Call> &c) {
  fill(c.y(), [&](size_t i) {
    double x = c.x()[i];
    return x * geluShare(x, c.attrs().approximate).first;
  });
}

void compute(const GeluBwdView<Call> &c) {
  fill(c.dx(), [&](size_t i) {
    double x = c.x()[i];
    bool approximate = c.attrs().approximate;
    auto [share, slope] = geluShare(x, approximate);
    // Far out tanh is flat, though the slope of its operand may be infinite.
    bool isFlat = approximate && (share == 0 || share == 1);
    return c.dy()[i] * (isFlat ? share : share + x * slope);
  });
}

void compute(const MulView<Call> &c) {
  fill(c.c(), [&](size_t i) { return c.a()[i] * c.b()[i]; });
}

void compute(const SubView<Call> &c) {
  fill(c.c(), [&](size_t i) { return c.a()[i] - c.b()[i]; });
}

void compute(const ScaleView<Call> &c) {
  fill(c.y(), [&](size_t i) { return c.attrs().factor * c.x()[i]; });
}

void compute(const FillLikeView<Call> &c) {
  fill(c.y(), [&](size_t) { return c.attrs().value; });
}

void compute(const TanhView<Call> &c) {
  fill(c.y(), [&](size_t i) { return std::tanh(c.x()[i]); });
}

void compute(const TanhBwdView<Call> &c) {
  fill(c.dx(), [&](size_t i) { return c.dy()[i] * (1 - c.y()[i] * c.y()[i]); });
}

static double sigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }

void compute(const SigmoidView<Call> &c) {
  fill(c.y(), [&](size_t i) { return sigmoidOf(c.x()[i]); });
}

void compute(const SigmoidBwdView<Call> &c) {
  fill(c.dx(), [&](size_t i) { return c.dy()[i] * c.y()[i] * (1 - c.y()[i]); });
}

void compute(const SiluView<Call> &c) {
  fill(c.y(), [&](size_t i) { return c.x()[i] * sigmoidOf(c.x()[i]); });
}

void compute(const SiluBwdView<Call> &c) {
  fill(c.dx(), [&](size_t i) {
    double x = c.x()[i], share = sigmoidOf(x);
    return c.dy()[i] * (share + x * share * sigmoidOf(-x));
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
/// A number as an integer type has it: toward zero, and into its range.
static double toInteger(double x, double lowest) {
  if (std::isnan(x))
    return 0;
  return std::trunc(std::fmin(std::fmax(x, lowest), -lowest - 1));
}

template <typename View> static void convert(const View &c) {
  DType from = c.x().desc.dtype, to = c.y().desc.dtype;
  fill(c.y(), [&](size_t i) {
    double x = c.x()[i];
    if (to == DType::I1)
      return double(x != 0);
    if (to == DType::I32 && from == DType::I64) // the low bits
      return double(int32_t(uint32_t(int64_t(x))));
    if (to == DType::I32 || to == DType::I64)
      return toInteger(x, to == DType::I32 ? -0x1p31 : -0x1p63);
    return x;
  });
}
void compute(const CastView<Call> &c) { convert(c); }
void compute(const ToF32View<Call> &c) { convert(c); }
void compute(const ToF16View<Call> &c) { convert(c); }
void compute(const ToBf16View<Call> &c) { convert(c); }
void compute(const ToF64View<Call> &c) { convert(c); }

} // namespace aicf::reference
