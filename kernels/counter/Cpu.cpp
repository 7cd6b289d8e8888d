//===- Cpu.cpp - step counts, loss scale, guards on the CPU ---------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/counter/ClipFactor.h"
#include "kernels/counter/LearningRate.h"
#include "kernels/counter/LossScale.h"
#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/RowSum.h"

#include <cmath>
#include <limits>

namespace aicf::cpu {
namespace {

template <typename T> void stepInc(StepIncArgs call) {
  const TensorView *ok = call.ok();
  T step = *call.step().dense<T>();
  bool counts = (!ok || *ok->dense<int32_t>() != 0) &&
                step < std::numeric_limits<T>::max();
  *call.step_out().dense<T>() = step + (counts ? 1 : 0);
}

/// 1/(1 - beta^t) without cancellation.
double biasCorrection(double beta, double t) {
  return 1 / -std::expm1(t * std::log(beta));
}

template <typename Int, typename T> void biasCorr(BiasCorrArgs call) {
  double t = double(*call.step().dense<Int>());
  T *bc = call.bc().dense<T>();
  bc[0] = T(biasCorrection(call.attrs().beta1, t));
  bc[1] = T(biasCorrection(call.attrs().beta2, t));
}

template <typename Int, typename T> void groupBiasCorr(GroupBiasCorrArgs call) {
  double t = double(*call.step().dense<Int>());
  const float *rest = call.group().dense<float>() + 2; // 1-β1, 1-β2
  for (int i = 0; i < 2; ++i)
    call.bc().dense<T>()[i] = T(1 / -std::expm1(t * std::log1p(-double(rest[i]))));
}

template <typename Int, typename T> void learningRate(LearningRateArgs call) {
  double t = double(*call.step().dense<Int>());
  *call.lr().dense<T>() = T(learningRateAt(call.attrs(), t));
}

template <typename Int, typename T> void stepDecay(StepDecayArgs call) {
  *call.lr().dense<T>() =
      T(rateAt(call.attrs(), double(*call.step().dense<Int>())));
}

template <typename Int, typename T>
void polynomialDecay(PolynomialDecayArgs call) {
  *call.lr().dense<T>() =
      T(rateAt(call.attrs(), double(*call.step().dense<Int>())));
}

template <typename Int, typename T> void rateTable(RateTableArgs call) {
  int64_t row = rateRowAt(*call.step().dense<Int>(), call.table().elements());
  *call.lr().dense<T>() = call.table().dense<T>()[row];
}

template <typename T> void lossScaleUpdate(LossScaleUpdateArgs call) {
  LossScaleUpdateAttrs attrs = call.attrs();
  T scale = *call.scale().dense<T>();
  int32_t streak = *call.streak().dense<int32_t>();
  if (*call.ok().dense<int32_t>() == 0) {
    scale = T(double(scale) * attrs.backoff_factor);
    streak = 0;
  } else if (int64_t(streak) + 1 >= attrs.growth_interval) {
    scale = T(double(scale) * attrs.growth_factor);
    streak = 0;
  } else {
    ++streak;
  }
  *call.scale_out().dense<T>() = clampLossScale(scale);
  *call.streak_out().dense<int32_t>() = streak;
}

/// 1 when every element of every operand is finite.
template <typename T> void allFinite(AllFiniteArgs call) {
  bool finite = true;
  for (size_t i = 0; i < call.numGrad() && finite; ++i) {
    const T *x = call.grad(i).dense<T>();
    int64_t n = call.grad(i).elements();
    double bad = parallelSum(n, call->numThreads, n, [=](int64_t j) {
      return std::isfinite(Compute<T>(x[j])) ? 0.0 : 1.0;
    });
    finite = bad == 0;
  }
  *call.ok().dense<int32_t>() = finite;
}

template <typename T, typename Norm> void globalNorm(GlobalNormArgs call) {
  double sum = 0;
  for (size_t g = 0; g < call.numGrad(); ++g) {
    const T *x = call.grad(g).dense<T>();
    int64_t n = call.grad(g).elements();
    sum += parallelSum(n, call->numThreads, n,
                       [=](int64_t i) { return double(x[i]) * double(x[i]); });
  }
  *call.norm().dense<Norm>() = Norm(std::sqrt(sum));
}

template <typename T> void clipFactor(ClipFactorArgs call) {
  const TensorView *inverse = call.inv_scale();
  *call.factor().dense<T>() = T(clipFactorOf(
      double(*call.norm().dense<T>()),
      inverse ? double(*inverse->dense<T>()) : 1, call.attrs().max_norm));
}

} // namespace

#define AICF_KERNELS_OF_counter_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
