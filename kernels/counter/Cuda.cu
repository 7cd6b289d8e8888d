//===- Cuda.cu - step counts, loss scale, guards on CUDA ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/counter/Family.h"
#include "kernels/counter/ClipFactor.h"
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
struct Gradients {
  const void *in[families::kMaxGradients];
  int64_t n[families::kMaxGradients];
  int32_t count;
};

/// Operands [first, ...) of a call, as many as a launch takes.
template <typename Args> Gradients gradientsFrom(const Args &call, size_t first) {
  Gradients g{};
  size_t last = std::min(call.numGrad(), first + families::kMaxGradients);
  for (size_t i = first; i < last; ++i) {
    g.in[g.count] = call.grad(i).data;
    g.n[g.count++] = call.grad(i).elements();
  }
  return g;
}

/// How many launches read all operands, of how many blocks each. A single block
/// of a single launch needs no partial results.
struct GradientGrid {
  int64_t launches, blocks;
  bool isOneBlock;

  template <typename Args>
  GradientGrid(const Args &call, const DeviceLimits &limits,
               size_t partialBytes) {
    int64_t total = 0;
    for (size_t i = 0; i < call.numGrad(); ++i)
      total += call.grad(i).elements();
    launches = int64_t((call.numGrad() + families::kMaxGradients - 1) /
                       families::kMaxGradients);
    int64_t fits =
        call->workspace.data
            ? int64_t(call->workspace.desc.spanBytes() / partialBytes) / launches
            : 0;
    blocks = std::min(gridFor(total, limits, 512, 2), fits);
    isOneBlock = blocks < 2 ||
                 (launches == 1 && total <= families::kSingleBlockElements);
  }
};

struct FiniteParams : Gradients {
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

template <typename T>
LaunchPlan allFinite(AllFiniteArgs call, const DeviceLimits &limits) {
  GradientGrid grid(call, limits, sizeof(int32_t));
  LaunchPlan launches;
  auto *partials = static_cast<int32_t *>(call->workspace.data);
  for (int64_t l = 0; l < grid.launches; ++l) {
    FiniteParams p{};
    static_cast<Gradients &>(p) =
        gradientsFrom(call, size_t(l) * families::kMaxGradients);
    p.ok = call.ok().as<int32_t>();
    p.isLater = l > 0;
    p.partials = grid.isOneBlock ? nullptr : partials + l * grid.blocks;
    launches.push_back(grid.isOneBlock
                           ? plan(finiteKernel<T>, 1, 1024, p)
                           : plan(finiteKernel<T>, grid.blocks, 512, p));
  }
  if (grid.isOneBlock)
    return launches;
  AndParams a{partials, call.ok().as<int32_t>(), grid.blocks * grid.launches};
  launches.push_back(plan(andKernel, 1, 256, a));
  return launches;
}

struct NormParams : Gradients {
  int32_t isLater;  ///< norm holds that of the launches before
  double *partials; ///< one a block, or null: a single block
  void *norm;
};

template <typename T, typename Norm>
__global__ void squaresKernel(const __grid_constant__ NormParams p) {
  constexpr int V = 16 / sizeof(T);
  __shared__ double scratch[32];
  double sums[V] = {};
  auto add = [&](int k, T x) {
    double value = double(widen(x));
    sums[k] = fma(value, value, sums[k]);
  };
  for (int32_t t = 0; t < p.count; ++t) {
    const T *x = static_cast<const T *>(p.in[t]);
    bool isAligned = reinterpret_cast<uintptr_t>(x) % 16 == 0;
    int64_t vectors = p.n[t] / V;
    gridStride(vectors, [&](int64_t i) {
      Vec<T, V> v = loadVec<T, V>(x, i, isAligned);
#pragma unroll
      for (int k = 0; k < V; ++k)
        add(k, v.at[k]);
    });
    gridStride(p.n[t] - vectors * V,
               [&](int64_t i) { add(0, x[vectors * V + i]); });
  }
  double sum = 0;
  for (double part : sums)
    sum += part;
  sum = blockSum(sum, scratch);
  if (threadIdx.x != 0)
    return;
  Norm *norm = static_cast<Norm *>(p.norm);
  if (p.partials)
    p.partials[blockIdx.x] = sum;
  else
    *norm = Norm(p.isLater ? hypot(double(*norm), sqrt(sum)) : sqrt(sum));
}

struct RootParams {
  const double *partials;
  void *norm;
  int64_t count;
};

template <typename Norm>
__global__ void rootKernel(const __grid_constant__ RootParams p) {
  __shared__ double scratch[32];
  double sum = 0;
  for (int64_t i = threadIdx.x; i < p.count; i += blockDim.x)
    sum += p.partials[i];
  sum = blockSum(sum, scratch);
  if (threadIdx.x == 0)
    *static_cast<Norm *>(p.norm) = Norm(sqrt(sum));
}

template <typename T, typename Norm>
LaunchPlan globalNorm(GlobalNormArgs call, const DeviceLimits &) {
  // The number of blocks decides the order of the sum.
  const DeviceLimits limits{int(kMultiprocessors), kThreadsPerMultiprocessor};
  GradientGrid grid(call, limits, sizeof(double));
  LaunchPlan launches;
  auto *partials = static_cast<double *>(call->workspace.data);
  for (int64_t l = 0; l < grid.launches; ++l) {
    NormParams p{};
    static_cast<Gradients &>(p) =
        gradientsFrom(call, size_t(l) * families::kMaxGradients);
    p.norm = call.norm().data;
    p.isLater = l > 0;
    p.partials = grid.isOneBlock ? nullptr : partials + l * grid.blocks;
    launches.push_back(grid.isOneBlock
                           ? plan(squaresKernel<T, Norm>, 1, 1024, p)
                           : plan(squaresKernel<T, Norm>, grid.blocks, 512, p));
  }
  if (grid.isOneBlock)
    return launches;
  RootParams r{partials, call.norm().data, grid.blocks * grid.launches};
  launches.push_back(plan(rootKernel<Norm>, 1, 256, r));
  return launches;
}

struct ClipParams {
  const void *norm, *inverse; ///< inverse: or null
  void *factor;
  double maxNorm;
};

template <typename T>
__global__ void clipFactorKernel(const __grid_constant__ ClipParams p) {
  double inverse = p.inverse ? double(*static_cast<const T *>(p.inverse)) : 1;
  double norm = double(*static_cast<const T *>(p.norm));
  *static_cast<T *>(p.factor) = T(clipFactorOf(norm, inverse, p.maxNorm));
}

template <typename T>
LaunchPlan clipFactor(ClipFactorArgs call, const DeviceLimits &) {
  ClipParams p{call.norm().data,
               call.inv_scale() ? call.inv_scale()->data : nullptr,
               call.factor().data, call.attrs().max_norm};
  return {plan(clipFactorKernel<T>, 1, 1, p)};
}

} // namespace

#define AICF_KERNELS_OF_counter_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
