//===- Cuda.cu - step counts, loss scale, guards on CUDA ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/counter/ClipFactor.h"
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
  p.in = call.step().dense();
  p.ok = call.ok() ? call.ok()->dense<int32_t>() : nullptr;
  p.out = call.step_out().dense();
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
  p.in = call.step().dense();
  p.out = call.bc().dense();
  p.a = attrs.beta1;
  p.b = attrs.beta2;
  return {plan(biasCorrKernel<Int, T>, 1, 2, p)};
}

struct GroupParams {
  const void *step;
  const float *group;
  void *bc;
};

/// Two threads, as above; the group holds 1 - beta.
template <typename Int, typename T>
__global__ void groupBiasCorrKernel(const __grid_constant__ GroupParams p) {
  double t = double(*static_cast<const Int *>(p.step));
  double rest = double(p.group[2 + threadIdx.x]);
  static_cast<T *>(p.bc)[threadIdx.x] = T(1 / -expm1(t * log1p(-rest)));
}

template <typename Int, typename T>
LaunchPlan groupBiasCorr(GroupBiasCorrArgs call, const DeviceLimits &) {
  GroupParams p{call.step().dense(), call.group().dense<float>(), call.bc().dense()};
  return {plan(groupBiasCorrKernel<Int, T>, 1, 2, p)};
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
  RateParams p{call.step().dense(), call.lr().dense(), call.attrs()};
  return {plan(learningRateKernel<Int, T>, 1, 1, p)};
}

template <typename Attrs> struct DecayParams {
  const void *step;
  void *rate;
  Attrs attrs;
};

template <typename Int, typename T, typename Attrs>
__global__ void decayKernel(const __grid_constant__ DecayParams<Attrs> p) {
  double t = double(*static_cast<const Int *>(p.step));
  *static_cast<T *>(p.rate) = T(rateAt(p.attrs, t));
}

template <typename Int, typename T>
LaunchPlan stepDecay(StepDecayArgs call, const DeviceLimits &) {
  DecayParams<StepDecayAttrs> p{call.step().dense(), call.lr().dense(),
                                call.attrs()};
  return {plan(decayKernel<Int, T, StepDecayAttrs>, 1, 1, p)};
}

template <typename Int, typename T>
LaunchPlan polynomialDecay(PolynomialDecayArgs call, const DeviceLimits &) {
  DecayParams<PolynomialDecayAttrs> p{call.step().dense(), call.lr().dense(),
                                      call.attrs()};
  return {plan(decayKernel<Int, T, PolynomialDecayAttrs>, 1, 1, p)};
}

struct TableParams {
  const void *step, *table;
  void *rate;
  int64_t rows;
};

template <typename Int, typename T>
__global__ void rateTableKernel(const __grid_constant__ TableParams p) {
  int64_t row = rateRowAt(int64_t(*static_cast<const Int *>(p.step)), p.rows);
  *static_cast<T *>(p.rate) = static_cast<const T *>(p.table)[row];
}

template <typename Int, typename T>
LaunchPlan rateTable(RateTableArgs call, const DeviceLimits &) {
  TableParams p{call.step().dense(), call.table().dense(), call.lr().dense(),
                call.table().elements()};
  return {plan(rateTableKernel<Int, T>, 1, 1, p)};
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
  p.in = call.scale().dense();
  p.streak = call.streak().dense<int32_t>();
  p.ok = call.ok().dense<int32_t>();
  p.out = call.scale_out().dense();
  p.streakOut = call.streak_out().dense<int32_t>();
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
template <typename Args>
Gradients gradientsFrom(const Args &call, size_t first) {
  Gradients g{};
  size_t last = std::min(call.numGrad(), first + families::kMaxGradients);
  for (size_t i = first; i < last; ++i) {
    g.in[g.count] = call.grad(i).dense();
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
        call->workspace.start()
            ? int64_t(call->workspace.desc.spanBytes() / partialBytes) /
                  launches
            : 0;
    blocks = std::min(gridFor(total, limits, 512, 2), fits);
    isOneBlock = blocks < 2 ||
                 (launches == 1 && total <= families::kSingleBlockElements);
  }
};

/// What a launch finds of its operands, as Partial; `result` is the call's.
template <typename Partial> struct Found : Gradients {
  int32_t isLater;   ///< result holds what the launches before found
  Partial *partials; ///< one a block, or null: a single block
  void *result;
};

/// What `combine` makes of the partial results of all launches.
template <typename Partial> struct CombineParams {
  const Partial *partials;
  void *result;
  int64_t count;
};

/// `find` over all operands, and `combine` where more than one block did that.
template <typename Partial, typename Args>
LaunchPlan overGradients(const Args &call, const TensorView &result,
                         const DeviceLimits &limits,
                         void (*find)(Found<Partial>),
                         void (*combine)(CombineParams<Partial>)) {
  GradientGrid grid(call, limits, sizeof(Partial));
  LaunchPlan launches;
  auto *partials = static_cast<Partial *>(call->workspace.dense());
  for (int64_t l = 0; l < grid.launches; ++l) {
    Found<Partial> p{};
    static_cast<Gradients &>(p) =
        gradientsFrom(call, size_t(l) * families::kMaxGradients);
    p.isLater = l > 0;
    p.partials = grid.isOneBlock ? nullptr : partials + l * grid.blocks;
    p.result = result.dense();
    launches.push_back(grid.isOneBlock ? plan(find, 1, 1024, p)
                                       : plan(find, grid.blocks, 512, p));
  }
  if (!grid.isOneBlock)
    launches.push_back(
        plan(combine, 1, 256,
             CombineParams<Partial>{partials, result.dense(),
                                    grid.blocks * grid.launches}));
  return launches;
}

template <typename T>
__global__ void finiteKernel(const __grid_constant__ Found<int32_t> p) {
  bool bad = false;
  for (int32_t t = 0; t < p.count; ++t) {
    const T *x = static_cast<const T *>(p.in[t]);
    gridStride(p.n[t], [&](int64_t i) { bad |= !isfinite(widen(x[i])); });
  }
  bool any = __syncthreads_or(bad);
  if (threadIdx.x != 0)
    return;
  int32_t *ok = static_cast<int32_t *>(p.result);
  if (p.partials)
    p.partials[blockIdx.x] = any ? 0 : 1;
  else
    *ok = any || (p.isLater && *ok == 0) ? 0 : 1;
}

__global__ void andKernel(const __grid_constant__ CombineParams<int32_t> p) {
  bool bad = false;
  for (int64_t i = threadIdx.x; i < p.count; i += blockDim.x)
    bad |= p.partials[i] == 0;
  bool any = __syncthreads_or(bad);
  if (threadIdx.x == 0)
    *static_cast<int32_t *>(p.result) = any ? 0 : 1;
}

template <typename T>
LaunchPlan allFinite(AllFiniteArgs call, const DeviceLimits &limits) {
  return overGradients<int32_t>(call, call.ok(), limits, finiteKernel<T>,
                                andKernel);
}

template <typename T, typename Norm>
__global__ void squaresKernel(const __grid_constant__ Found<double> p) {
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
  Norm *norm = static_cast<Norm *>(p.result);
  if (p.partials)
    p.partials[blockIdx.x] = sum;
  else
    *norm = Norm(p.isLater ? hypot(double(*norm), sqrt(sum)) : sqrt(sum));
}

template <typename Norm>
__global__ void rootKernel(const __grid_constant__ CombineParams<double> p) {
  __shared__ double scratch[32];
  double sum = 0;
  for (int64_t i = threadIdx.x; i < p.count; i += blockDim.x)
    sum += p.partials[i];
  sum = blockSum(sum, scratch);
  if (threadIdx.x == 0)
    *static_cast<Norm *>(p.result) = Norm(sqrt(sum));
}

template <typename T, typename Norm>
LaunchPlan globalNorm(GlobalNormArgs call, const DeviceLimits &) {
  // The number of blocks decides the order of the sum.
  const DeviceLimits limits{int(kMultiprocessors), kThreadsPerMultiprocessor};
  return overGradients<double>(call, call.norm(), limits,
                               squaresKernel<T, Norm>, rootKernel<Norm>);
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
  ClipParams p{call.norm().dense(),
               call.inv_scale() ? call.inv_scale()->dense() : nullptr,
               call.factor().dense(), call.attrs().max_norm};
  return {plan(clipFactorKernel<T>, 1, 1, p)};
}

} // namespace

#define AICF_KERNELS_OF_counter_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
