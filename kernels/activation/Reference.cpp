//===- Reference.cpp - activation functions in f64 -------------------------===//
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
static void eachSlope(const View &c, F slope) {
  fill(c.dx(), [&](size_t i) { return c.dy()[i] * slope(c.x()[i]); });
}

void compute(const EluView<Call> &c) {
  double alpha = c.attrs().alpha;
  eachX(c, [&](double x) { return x > 0 ? x : alpha * std::expm1(x); });
}
void compute(const EluBwdView<Call> &c) {
  double alpha = c.attrs().alpha;
  eachSlope(c, [&](double x) { return x > 0 ? 1 : alpha * std::exp(x); });
}

// Klambauer et al. 2017, equation 14.
constexpr double kSeluScale = 1.0507009873554804934;
constexpr double kSeluAlpha = 1.6732632423543772848;
void compute(const SeluView<Call> &c) {
  eachX(c, [](double x) {
    return kSeluScale * (x > 0 ? x : kSeluAlpha * std::expm1(x));
  });
}
void compute(const SeluBwdView<Call> &c) {
  eachSlope(c, [](double x) {
    return kSeluScale * (x > 0 ? 1 : kSeluAlpha * std::exp(x));
  });
}

void compute(const LeakyReluView<Call> &c) {
  double slope = c.attrs().slope;
  eachX(c, [&](double x) { return x > 0 ? x : slope * x; });
}
void compute(const LeakyReluBwdView<Call> &c) {
  double slope = c.attrs().slope;
  eachSlope(c, [&](double x) { return x > 0 ? 1 : slope; });
}

void compute(const HardtanhView<Call> &c) {
  double low = c.attrs().min, high = c.attrs().max;
  eachX(c, [&](double x) { return x < low ? low : x > high ? high : x; });
}
void compute(const HardtanhBwdView<Call> &c) {
  double low = c.attrs().min, high = c.attrs().max;
  eachSlope(c, [&](double x) { return x > low && x < high ? 1 : 0; });
}

void compute(const HardswishView<Call> &c) {
  eachX(c, [](double x) {
    double gate = x < -3 ? 0 : x > 3 ? 1 : (x + 3) / 6;
    return x * gate;
  });
}
void compute(const HardswishBwdView<Call> &c) {
  eachSlope(c, [](double x) {
    return x <= -3 ? 0 : x >= 3 ? 1 : (2 * x + 3) / 6;
  });
}

static double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

void compute(const SoftplusView<Call> &c) {
  auto [beta, threshold] = c.attrs();
  eachX(c, [beta = beta, threshold = threshold](double x) {
    return beta * x > threshold ? x : softplus(beta * x) / beta;
  });
}
void compute(const SoftplusBwdView<Call> &c) {
  auto [beta, threshold] = c.attrs();
  eachSlope(c, [beta = beta, threshold = threshold](double x) {
    return beta * x > threshold ? 1 : sigmoid(beta * x);
  });
}

void compute(const MishView<Call> &c) {
  eachX(c, [](double x) { return x * std::tanh(softplus(x)); });
}
void compute(const MishBwdView<Call> &c) {
  eachSlope(c, [](double x) {
    double t = std::tanh(softplus(x)), cosh = std::cosh(softplus(x));
    return t + x * sigmoid(x) / (cosh * cosh);
  });
}

void compute(const LogSigmoidView<Call> &c) {
  eachX(c, [](double x) { return -softplus(-x); });
}
void compute(const LogSigmoidBwdView<Call> &c) {
  eachSlope(c, [](double x) { return sigmoid(-x); });
}

void compute(const SoftsignView<Call> &c) {
  eachX(c, [](double x) { return x / (1 + std::fabs(x)); });
}
void compute(const SoftsignBwdView<Call> &c) {
  eachSlope(c, [](double x) { return std::pow(1 + std::fabs(x), -2); });
}

void compute(const PreluView<Call> &c) {
  fill(c.y(), [&](size_t i) {
    double x = c.x()[i];
    return x > 0 ? x : c.slope()[i] * x;
  });
}
void compute(const PreluBwdView<Call> &c) {
  fill(c.dx(), [&](size_t i) {
    return c.dy()[i] * (c.x()[i] > 0 ? 1 : c.slope()[i]);
  });
}

} // namespace aicf::reference
