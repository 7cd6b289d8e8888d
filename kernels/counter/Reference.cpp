//===- Reference.cpp - counters, loss scale, guards in f64 ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

#include <algorithm>
#include <cmath>

namespace aicf::reference {

void compute(const AllFiniteView<Call> &c) {
  bool finite = true;
  for (size_t g = 0; g < c.numGrad(); ++g)
    for (double value : c.grad(g).values)
      finite &= std::isfinite(value);
  c.ok()[0] = finite;
}

void compute(const GlobalNormView<Call> &c) {
  double sum = 0;
  for (size_t g = 0; g < c.numGrad(); ++g)
    for (double value : c.grad(g).values)
      sum += value * value;
  c.norm()[0] = std::sqrt(sum);
}

void compute(const ClipFactorView<Call> &c) {
  double inverse = valueOr(c.inv_scale(), 1);
  double clip = c.attrs().max_norm / (c.norm()[0] * inverse + 1e-6);
  c.factor()[0] = inverse * (clip > 1 ? 1 : clip);
}

void compute(const LossScaleUpdateView<Call> &c) {
  LossScaleUpdateAttrs attrs = c.attrs();
  double scale = c.scale()[0], streak = c.streak()[0] + 1;
  if (c.ok()[0] == 0) {
    scale *= attrs.backoff_factor;
    streak = 0;
  } else if (streak >= double(attrs.growth_interval)) {
    scale *= attrs.growth_factor;
    streak = 0;
  }
  // From 2^-24 to 2^126; NaN is brought back, too.
  c.scale_out()[0] = scale > 0x1p-24 ? std::min(scale, 0x1p126) : 0x1p-24;
  c.streak_out()[0] = streak;
}

/// A counter stays at its largest number (of i64, at 2^53 here already).
void compute(const StepIncView<Call> &c) {
  c.step_out()[0] =
      std::min(c.step()[0] + (valueOr(c.ok(), 1) != 0 ? 1 : 0),
               c.step().desc.dtype == DType::I32 ? 0x1p31 - 1 : 0x1p63);
}

void compute(const BiasCorrView<Call> &c) {
  long double t = c.step()[0];
  const double betas[] = {c.attrs().beta1, c.attrs().beta2};
  fill(c.bc(), [&](size_t i) {
    return double(1 / (1 - std::pow((long double)betas[i], t)));
  });
}

void compute(const GroupBiasCorrView<Call> &c) {
  long double t = c.step()[0];
  fill(c.bc(), [&](size_t i) {
    return double(1 / (1 - std::pow(1 - (long double)c.group()[2 + i], t)));
  });
}

void compute(const LearningRateView<Call> &c) {
  LearningRateAttrs a = c.attrs();
  double t = c.step()[0], rate = a.peak;
  double warmup = double(a.warmup), steps = double(a.steps);
  if (t < warmup)
    rate = a.start * (1 - t / warmup) + a.peak * (t / warmup);
  else if (steps != 0 && t >= steps)
    rate = a.end;
  else if (steps != 0) {
    double f = (t - warmup) / (steps - warmup);
    double share = a.cosine ? (1 - std::cos(std::acos(-1.0) * f)) / 2 : f;
    rate = a.peak * (1 - share) + a.end * share;
  }
  c.lr()[0] = rate;
}

void compute(const StepDecayView<Call> &c) {
  double past = std::max(c.step()[0] - 1, 0.0);
  double stairs = std::floor(past / double(c.attrs().every));
  c.lr()[0] = c.attrs().start * std::exp(stairs * std::log(c.attrs().factor));
}

void compute(const PolynomialDecayView<Call> &c) {
  PolynomialDecayAttrs a = c.attrs();
  double t = std::max(c.step()[0], 0.0), steps = double(a.steps);
  double left = t >= steps ? 0 : (steps - t) / steps;
  double share = a.power == 0 ? 1 : std::exp(a.power * std::log(left));
  c.lr()[0] = a.start * share + a.end * (1 - share);
}

void compute(const RateTableView<Call> &c) {
  double n = double(c.table().desc.elements());
  double row = std::min(std::max(c.step()[0], 1.0), n) - 1;
  c.lr()[0] = c.table()[size_t(row)];
}

} // namespace aicf::reference
