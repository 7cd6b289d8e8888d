//===- Cuda.cu - step counts, loss scale, guards on CUDA ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/counter/Family.h"
#include "kernels/counter/LearningRate.h"
#include "kernels/counter/LossScale.h"
#include "kernels/cuda/Common.cuh"

namespace aicf::cuda {
namespace {

struct ScalarParams {
  const void *in;
  const int32_t *streak, *ok;
  void *out;
  int32_t *streakOut;
  double a, b;
  int64_t interval;
};

template <typename T>
__global__ void stepIncKernel(const __grid_constant__ ScalarParams p) {
  T step = *static_cast<const T *>(p.in);
  constexpr T most = sizeof(T) == 4 ? T(2147483647) : T(9223372036854775807);
  bool counts = (!p.ok || *p.ok != 0) && step < most;
  *static_cast<T *>(p.out) = step + (counts ? 1 : 0);
}

template <typename T>
LaunchPlan stepInc(StepIncArgs call, const DeviceLimits &) {
  ScalarParams p{};
  p.in = call.step().data;
  p.ok = call.ok() ? call.ok()->as<int32_t>() : nullptr;
  p.out = call.step_out().data;
  return {plan(stepIncKernel<T>, 1, 1, p)};
}

/// Two threads: 1/(1 - beta^t) without cancellation, in f64.
template <typename Int, typename T>
__global__ void biasCorrKernel(const __grid_constant__ ScalarParams p) {
  double t = double(*static_cast<const Int *>(p.in));
  double beta = threadIdx.x == 0 ? p.a : p.b;
  static_cast<T *>(p.out)[threadIdx.x] = T(1 / -expm1(t * log(beta)));
}

template <typename Int, typename T>
LaunchPlan biasCorr(BiasCorrArgs call, const DeviceLimits &) {
  BiasCorrAttrs attrs = call.attrs();
  ScalarParams p{};
  p.in = call.step().data;
  p.out = call.bc().data;
  p.a = attrs.beta1;
  p.b = attrs.beta2;
  return {plan(biasCorrKernel<Int, T>, 1, 2, p)};
}

struct RateParams {
  const void *step;
  void *rate;
  LearningRateAttrs attrs;
};

template <typename Int, typename T>
__global__ void learningRateKernel(const __grid_constant__ RateParams p) {
  double t = double(*static_cast<const Int *>(p.step));
  *static_cast<T *>(p.rate) = T(learningRateAt(p.attrs, t));
}

template <typename Int, typename T>
LaunchPlan learningRate(LearningRateArgs call, const DeviceLimits &) {
  RateParams p{call.step().data, call.lr().data, call.attrs()};
  return {plan(learningRateKernel<Int, T>, 1, 1, p)};
}

template <typename T>
__global__ void lossScaleKernel(const __grid_constant__ ScalarParams p) {
  T scale = *static_cast<const T *>(p.in);
  int32_t streak = *p.streak, ok = *p.ok;
  if (!ok) {
    scale = T(double(scale) * p.b);
    streak = 0;
  } else if (int64_t(streak) + 1 >= p.interval) {
    scale = T(double(scale) * p.a);
    streak = 0;
  } else {
    ++streak;
  }
  *static_cast<T *>(p.out) = clampLossScale(scale);
  *p.streakOut = streak;
}

template <typename T>
LaunchPlan lossScaleUpdate(LossScaleUpdateArgs call, const DeviceLimits &) {
  LossScaleUpdateAttrs attrs = call.attrs();
  ScalarParams p{};
  p.in = call.scale().data;
  p.streak = call.streak().as<int32_t>();
  p.ok = call.ok().as<int32_t>();
  p.out = call.scale_out().data;
  p.streakOut = call.streak_out().as<int32_t>();
  p.a = attrs.growth_factor;
  p.b = attrs.backoff_factor;
  p.interval = attrs.growth_interval;
  return {plan(lossScaleKernel<T>, 1, 1, p)};
}

/// A launch takes so many operands; more take further launches.
struct FiniteParams {
  const void *in[families::kMaxAllFiniteOperands];
  int64_t n[families::kMaxAllFiniteOperands];
  int32_t count;
  int32_t isLater;   ///< ok holds what the launches before found
  int32_t *partials; ///< one a block, or null: a single block
  int32_t *ok;
};

template <typename T>
__global__ void finiteKernel(const __grid_constant__ FiniteParams p) {
  bool bad = false;
  for (int32_t t = 0; t < p.count; ++t) {
    const T *x = static_cast<const T *>(p.in[t]);
    gridStride(p.n[t], [&](int64_t i) { bad |= !isfinite(widen(x[i])); });
  }
  bool any = __syncthreads_or(bad);
  if (threadIdx.x != 0)
    return;
  if (p.partials)
    p.partials[blockIdx.x] = any ? 0 : 1;
  else
    *p.ok = any || (p.isLater && *p.ok == 0) ? 0 : 1;
}

struct AndParams {
  const int32_t *partials;
  int32_t *ok;
  int64_t count;
};

__global__ void andKernel(const __grid_constant__ AndParams p) {
  bool bad = false;
  for (int64_t i = threadIdx.x; i < p.count; i += blockDim.x)
    bad |= p.partials[i] == 0;
  bool any = __syncthreads_or(bad);
  if (threadIdx.x == 0)
    *p.ok = any ? 0 : 1;
}

/// Operands [first, last) of a call.
FiniteParams finiteParams(AllFiniteArgs call, size_t first, size_t last) {
  FiniteParams p{};
  for (size_t i = first; i < last; ++i) {
    p.in[p.count] = call.grad(i).data;
    p.n[p.count++] = call.grad(i).elements();
  }
  p.ok = call.ok().as<int32_t>();
  return p;
}

template <typename T>
LaunchPlan allFinite(AllFiniteArgs call, const DeviceLimits &limits) {
  int64_t total = 0;
  size_t numGrads = call.numGrad();
  for (size_t i = 0; i < numGrads; ++i)
    total += call.grad(i).elements();
  int64_t fits =
      call->workspace.data ? int64_t(call->workspace.desc.spanBytes() / 4) : 0;
  size_t numLaunches = (numGrads + families::kMaxAllFiniteOperands - 1) /
                       families::kMaxAllFiniteOperands;
  int64_t blocks =
      std::min(gridFor(total, limits, 512, 2), fits / int64_t(numLaunches));
  bool isOneBlock = blocks < 2 || (numLaunches == 1 &&
                                   total <= families::kSingleBlockElements);
  LaunchPlan launches;
  auto *partials = static_cast<int32_t *>(call->workspace.data);
  for (size_t l = 0; l < numLaunches; ++l) {
    size_t first = l * families::kMaxAllFiniteOperands;
    FiniteParams p = finiteParams(
        call, first,
        std::min<size_t>(numGrads, first + families::kMaxAllFiniteOperands));
    p.isLater = l > 0;
    p.partials = isOneBlock ? nullptr : partials + int64_t(l) * blocks;
    launches.push_back(isOneBlock ? plan(finiteKernel<T>, 1, 1024, p)
                                  : plan(finiteKernel<T>, blocks, 512, p));
  }
  if (isOneBlock)
    return launches;
  AndParams a{partials, call.ok().as<int32_t>(), blocks * int64_t(numLaunches)};
  launches.push_back(plan(andKernel, 1, 256, a));
  return launches;
}

} // namespace

#define AICF_KERNELS_OF_counter_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
