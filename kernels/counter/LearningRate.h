//===- LearningRate.h - learning rates over the step ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One function per curve for both devices, in f64.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_COUNTER_LEARNINGRATE_H
#define AICF_KERNELS_COUNTER_LEARNINGRATE_H

#include "aicf/Ops.h"
#include "lib/Base/HostDevice.h"

#include <cmath>

namespace aicf {

AICF_HOST_DEVICE inline double learningRateAt(const LearningRateAttrs &a,
                                              double t) {
  if (a.warmup > 0 && t <= double(a.warmup))
    return a.start + (a.peak - a.start) * (t / double(a.warmup));
  if (a.steps == 0)
    return a.peak;
  if (t >= double(a.steps))
    return a.end;
  double f = (t - double(a.warmup)) / double(a.steps - a.warmup);
  constexpr double kPi = 3.141592653589793;
  return a.cosine ? a.end + (a.peak - a.end) * ((1 + std::cos(kPi * f)) / 2)
                  : a.peak + (a.end - a.peak) * f;
}

AICF_HOST_DEVICE inline double rateAt(const StepDecayAttrs &a, double t) {
  double stairs = t < 1 ? 0 : std::floor((t - 1) / double(a.every));
  return a.start * std::pow(a.factor, stairs);
}

AICF_HOST_DEVICE inline double rateAt(const PolynomialDecayAttrs &a, double t) {
  double steps = double(a.steps), at = t < 0 ? 0 : t > steps ? steps : t;
  return a.end + (a.start - a.end) * std::pow(1 - at / steps, a.power);
}

/// The row of a table of `rows` rows that step `t` reads.
AICF_HOST_DEVICE inline int64_t rateRowAt(int64_t t, int64_t rows) {
  return t < 1 ? 0 : t > rows ? rows - 1 : t - 1;
}

} // namespace aicf

#endif // AICF_KERNELS_COUNTER_LEARNINGRATE_H
