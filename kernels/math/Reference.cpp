//===- Reference.cpp - elementary functions in f64 -------------------------===//
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

/// y[i] = f(x[i])
template <typename View, typename F> static void eachX(const View &c, F f) {
  fill(c.y(), [&](size_t i) { return f(c.x()[i]); });
}
/// dx[i] = dy[i] · slope(x[i])
template <typename View, typename F>
static void eachSlopeOfX(const View &c, F slope) {
  fill(c.dx(), [&](size_t i) { return c.dy()[i] * slope(c.x()[i]); });
}
/// dx[i] = dy[i] · slope(y[i])
template <typename View, typename F>
static void eachSlopeOfY(const View &c, F slope) {
  fill(c.dx(), [&](size_t i) { return c.dy()[i] * slope(c.y()[i]); });
}

void compute(const ExpView<Call> &c) {
  eachX(c, [](double x) { return std::exp(x); });
}
void compute(const ExpBwdView<Call> &c) {
  eachSlopeOfY(c, [](double y) { return y; });
}
void compute(const Expm1View<Call> &c) {
  eachX(c, [](double x) { return std::expm1(x); });
}
void compute(const Expm1BwdView<Call> &c) {
  eachSlopeOfY(c, [](double y) { return 1 + y; });
}
void compute(const LogView<Call> &c) {
  eachX(c, [](double x) { return std::log(x); });
}
void compute(const LogBwdView<Call> &c) {
  eachSlopeOfX(c, [](double x) { return 1 / x; });
}
void compute(const Log1pView<Call> &c) {
  eachX(c, [](double x) { return std::log1p(x); });
}
void compute(const Log1pBwdView<Call> &c) {
  eachSlopeOfX(c, [](double x) { return 1 / (1 + x); });
}
void compute(const SqrtView<Call> &c) {
  eachX(c, [](double x) { return std::sqrt(x); });
}
void compute(const SqrtBwdView<Call> &c) {
  eachSlopeOfY(c, [](double y) { return 1 / (2 * y); });
}
void compute(const RsqrtView<Call> &c) {
  eachX(c, [](double x) { return 1 / std::sqrt(x); });
}
void compute(const RsqrtBwdView<Call> &c) {
  eachSlopeOfY(c, [](double y) { return -y * y * y / 2; });
}
void compute(const SquareView<Call> &c) {
  eachX(c, [](double x) { return x * x; });
}
void compute(const SquareBwdView<Call> &c) {
  eachSlopeOfX(c, [](double x) { return 2 * x; });
}
/// The slope of erf.
static double bell(double x) {
  return 2 / std::sqrt(std::acos(-1.0)) * std::exp(-x * x);
}
void compute(const ErfView<Call> &c) {
  eachX(c, [](double x) { return std::erf(x); });
}
void compute(const ErfBwdView<Call> &c) { eachSlopeOfX(c, bell); }
void compute(const ErfcView<Call> &c) {
  eachX(c, [](double x) { return std::erfc(x); });
}
void compute(const ErfcBwdView<Call> &c) {
  eachSlopeOfX(c, [](double x) { return -bell(x); });
}
void compute(const Log2View<Call> &c) {
  eachX(c, [](double x) { return std::log2(x); });
}
void compute(const Log2BwdView<Call> &c) {
  eachSlopeOfX(c, [](double x) { return 1 / (x * std::log(2.0)); });
}
void compute(const Log10View<Call> &c) {
  eachX(c, [](double x) { return std::log10(x); });
}
void compute(const Log10BwdView<Call> &c) {
  eachSlopeOfX(c, [](double x) { return 1 / (x * std::log(10.0)); });
}
void compute(const Exp2View<Call> &c) {
  eachX(c, [](double x) { return std::exp2(x); });
}
void compute(const Exp2BwdView<Call> &c) {
  eachSlopeOfY(c, [](double y) { return y * std::log(2.0); });
}
void compute(const SinView<Call> &c) {
  eachX(c, [](double x) { return std::sin(x); });
}
void compute(const SinBwdView<Call> &c) {
  eachSlopeOfX(c, [](double x) { return std::cos(x); });
}
void compute(const CosView<Call> &c) {
  eachX(c, [](double x) { return std::cos(x); });
}
void compute(const CosBwdView<Call> &c) {
  eachSlopeOfX(c, [](double x) { return -std::sin(x); });
}

void compute(const PowScalarView<Call> &c) {
  eachX(c, [&](double x) { return std::pow(x, c.attrs().exponent); });
}
void compute(const PowScalarBwdView<Call> &c) {
  double p = c.attrs().exponent;
  fill(c.dx(), [&](size_t i) {
    return p == 0 ? 0 : c.dy()[i] * p * std::pow(c.x()[i], p - 1);
  });
}

static double signOf(double x) {
  return std::isnan(x) ? x : double((x > 0) - (x < 0));
}

void compute(const NegView<Call> &c) {
  eachX(c, [](double x) { return -x; });
}
void compute(const AbsView<Call> &c) {
  eachX(c, [](double x) { return std::fabs(x); });
}
void compute(const AbsBwdView<Call> &c) { eachSlopeOfX(c, signOf); }
void compute(const SignView<Call> &c) { eachX(c, signOf); }
void compute(const FloorView<Call> &c) {
  eachX(c, [](double x) { return std::floor(x); });
}
void compute(const CeilView<Call> &c) {
  eachX(c, [](double x) { return std::ceil(x); });
}
void compute(const RoundView<Call> &c) {
  eachX(c, [](double x) {
    double below = std::floor(x), part = x - below;
    if (part != 0.5)
      return part < 0.5 || std::isinf(x) ? below : below + 1;
    return std::fmod(below, 2) == 0 ? below : below + 1;
  });
}

void compute(const ClampView<Call> &c) {
  double low = c.attrs().min, high = c.attrs().max;
  eachX(c, [&](double x) { return x < low ? low : x > high ? high : x; });
}
void compute(const ClampBwdView<Call> &c) {
  double low = c.attrs().min, high = c.attrs().max;
  fill(c.dx(), [&](size_t i) {
    double x = c.x()[i];
    return x < low || x > high || std::isnan(x) ? 0 : c.dy()[i];
  });
}
void compute(const AddScalarView<Call> &c) {
  eachX(c, [&](double x) { return x + c.attrs().value; });
}

void compute(const DivScalarView<Call> &c) {
  eachX(c, [&](double x) { return x / c.attrs().value; });
}

/// c[i] = f(a[i], b[i])
template <typename View, typename F> static void eachPair(const View &c, F f) {
  fill(c.c(), [&](size_t i) { return f(c.a()[i], c.b()[i]); });
}

void compute(const DivView<Call> &c) {
  eachPair(c, [](double a, double b) { return a / b; });
}
void compute(const MaximumView<Call> &c) {
  eachPair(c, [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? std::nan("") : std::fmax(a, b);
  });
}
void compute(const MinimumView<Call> &c) {
  eachPair(c, [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? std::nan("") : std::fmin(a, b);
  });
}
void compute(const MaximumBwdView<Call> &c) {
  fill(c.da(), [&](size_t i) {
    double a = c.a()[i], b = c.b()[i];
    return c.dy()[i] * (a > b ? 1 : a == b ? 0.5 : 0);
  });
}
void compute(const FmodView<Call> &c) {
  eachPair(c, [](double a, double b) { return std::fmod(a, b); });
}
void compute(const FmodBwdView<Call> &c) {
  fill(c.db(),
       [&](size_t i) { return -c.dy()[i] * std::trunc(c.a()[i] / c.b()[i]); });
}
void compute(const Atan2View<Call> &c) {
  eachPair(c, [](double a, double b) { return std::atan2(a, b); });
}
/// c[i] = f(a[i], b[i]) of integers; `bits` is their width.
template <typename View, typename F>
static void eachPairOfBits(const View &c, F f) {
  int64_t bits = c.a().desc.dtype == DType::I64 ? 64 : 32;
  eachPair(c, [&](double a, double b) {
    int64_t value = f(int64_t(a), int64_t(b), bits);
    return double(bits == 64 ? value : int32_t(value));
  });
}
void compute(const BitwiseAndView<Call> &c) {
  eachPairOfBits(c, [](int64_t a, int64_t b, int64_t) { return a & b; });
}
void compute(const BitwiseOrView<Call> &c) {
  eachPairOfBits(c, [](int64_t a, int64_t b, int64_t) { return a | b; });
}
void compute(const BitwiseXorView<Call> &c) {
  eachPairOfBits(c, [](int64_t a, int64_t b, int64_t) { return a ^ b; });
}
void compute(const ShiftLeftView<Call> &c) {
  eachPairOfBits(c, [](int64_t a, int64_t b, int64_t bits) {
    return b < 0 || b >= bits ? 0 : int64_t(uint64_t(a) << b);
  });
}
void compute(const ShiftRightView<Call> &c) {
  eachPairOfBits(c, [](int64_t a, int64_t b, int64_t bits) {
    return a >> (b < 0 || b >= bits ? bits - 1 : b);
  });
}
void compute(const ShiftRightLogicalView<Call> &c) {
  eachPairOfBits(c, [](int64_t a, int64_t b, int64_t bits) {
    uint64_t of = bits == 64 ? uint64_t(a) : uint32_t(a);
    return b < 0 || b >= bits ? 0 : int64_t(of >> b);
  });
}
void compute(const PowView<Call> &c) {
  eachPair(c, [](double a, double b) { return std::pow(a, b); });
}
void compute(const PowBaseBwdView<Call> &c) {
  fill(c.da(), [&](size_t i) {
    double a = c.a()[i], b = c.b()[i];
    return b == 0 ? 0 : c.dy()[i] * b * std::pow(a, b - 1);
  });
}
void compute(const PowExponentBwdView<Call> &c) {
  fill(c.db(), [&](size_t i) {
    double a = c.a()[i], b = c.b()[i];
    return a == 0 && b >= 0 ? 0 : c.dy()[i] * std::pow(a, b) * std::log(a);
  });
}

} // namespace aicf::reference
