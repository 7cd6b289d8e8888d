//===- Optimizers.cu - step count, loss scale, Adam, SGD ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Formulas: the op descriptions in AICFRTOps.td. With ok = 0 or in warm-up the
// results are the old values, bit for bit. One kernel serves adam_step and
// adam_update, sgd_step and its updates: a single tensor is a group of one.
//===----------------------------------------------------------------------===//

#include "Common.cuh"
#include "aicf/Support/KernelTable.h"
#include "aicf/Support/LossScale.h"

namespace aicf::cuda {
namespace {

//===----------------------------------------------------------------------===//
// Scalars: one thread
//===----------------------------------------------------------------------===//

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
LaunchPlan stepInc(const LaunchArgs &args, const DeviceLimits &) {
  ScalarParams p{};
  p.in = args.ins[0].data;
  p.ok = args.ins.size() > 1 ? args.in<int32_t>(1) : nullptr;
  p.out = args.outs[0].data;
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
LaunchPlan biasCorr(const LaunchArgs &args, const DeviceLimits &) {
  auto attrs = args.attrsAs<BiasCorrAttrs>();
  ScalarParams p{};
  p.in = args.ins[0].data;
  p.out = args.outs[0].data;
  p.a = attrs.beta1;
  p.b = attrs.beta2;
  return {plan(biasCorrKernel<Int, T>, 1, 2, p)};
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
LaunchPlan lossScaleUpdate(const LaunchArgs &args, const DeviceLimits &) {
  auto attrs = args.attrsAs<LossScaleUpdateAttrs>();
  ScalarParams p{};
  p.in = args.ins[0].data;
  p.streak = args.in<int32_t>(1);
  p.ok = args.in<int32_t>(2);
  p.out = args.outs[0].data;
  p.streakOut = args.out<int32_t>(1);
  p.a = attrs.growth_factor;
  p.b = attrs.backoff_factor;
  p.interval = attrs.growth_interval;
  return {plan(lossScaleKernel<T>, 1, 1, p)};
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// One parameter with its gradient, states and 16-bit copy (or null).
struct Group {
  const void *p, *g, *s0, *s1;
  void *pOut, *s0Out, *s1Out, *copy;
  int64_t n;
};

struct UpdateScalars {
  const void *bc, *lr, *invScale;
  const int32_t *ok;
  double beta1, beta2, eps, decay; ///< sgd: beta1 is the momentum
  bool nesterov;
  int32_t count;
};

/// Room for N groups: a launch copies its parameters, so few stay small.
template <int N> struct UpdateParamsOf : UpdateScalars {
  uint32_t firstBlock[N + 1];
  Group groups[N];
};
using UpdateParams = UpdateParamsOf<kMaxUpdateGroups>;
constexpr int kFewGroups = 12;
using SmallUpdateParams = UpdateParamsOf<kFewGroups>;
static_assert(sizeof(UpdateParams) < 32764, "CUDA's limit for parameters");

/// Elements a block of kBlock threads handles, in steps of kBlock vectors.
constexpr int kUpdateElements = 4096;

/// The scalars of a call in T's compute type, read once a thread.
template <typename T> struct Scalars {
  using C = Compute<T>;
  C lr, invScale, bc1 = 1, bc2 = 1;
  bool skip;
  __device__ explicit Scalars(const UpdateScalars &p) {
    lr = widen(*static_cast<const T *>(p.lr));
    invScale = p.invScale ? widen(*static_cast<const T *>(p.invScale)) : C(1);
    if (p.bc) {
      bc1 = widen(static_cast<const T *>(p.bc)[0]);
      bc2 = widen(static_cast<const T *>(p.bc)[1]);
    }
    skip = p.ok && *p.ok == 0;
  }
};

struct Adam {
  static constexpr int kStates = 2;
  template <typename T, typename C>
  static __device__ void apply(const UpdateScalars &q, const Scalars<T> &s, C g,
                               C &p, C &m, C &v) {
    C grad = g * s.invScale;
    m = C(q.beta1) * m + C(1 - q.beta1) * grad;
    v = C(q.beta2) * v + C(1 - q.beta2) * grad * grad;
    p = p * C(1 - double(s.lr) * q.decay) -
        s.lr * (m * s.bc1) / (sqrt(v * s.bc2) + C(q.eps));
  }
};

template <bool kMomentum> struct Sgd {
  static constexpr int kStates = kMomentum ? 1 : 0;
  template <typename T, typename C>
  static __device__ void apply(const UpdateScalars &q, const Scalars<T> &s, C g,
                               C &p, C &m, C &) {
    C direction = g * s.invScale + C(q.decay) * p;
    if constexpr (kMomentum) {
      m = C(q.beta1) * m + direction;
      direction = q.nesterov ? direction + C(q.beta1) * m : m;
    }
    p -= s.lr * direction;
  }
};

template <typename Rule, typename T, typename G, typename Copy, int V,
          typename Params>
__global__ void __launch_bounds__(kBlock)
    updateKernel(const __grid_constant__ Params q) {
  using C = Compute<T>;
  // The group of this block: the last whose first block is not behind it.
  int low = 0, high = q.count - 1;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (q.firstBlock[middle] <= blockIdx.x)
      low = middle;
    else
      high = middle - 1;
  }
  const Group &group = q.groups[low];
  int64_t first = int64_t(blockIdx.x - q.firstBlock[low]) * kUpdateElements;
  int64_t last = min(group.n, first + kUpdateElements) / V;
  Scalars<T> scalars(q);
#pragma unroll 2
  for (int64_t i = first / V + threadIdx.x; i < last; i += kBlock) {
    auto p = loadVec<T, V>(static_cast<const T *>(group.p), i);
    auto g = loadVec<G, V>(static_cast<const G *>(group.g), i);
    Vec<T, V> s0{}, s1{};
    if constexpr (Rule::kStates > 0)
      s0 = loadVec<T, V>(static_cast<const T *>(group.s0), i);
    if constexpr (Rule::kStates > 1)
      s1 = loadVec<T, V>(static_cast<const T *>(group.s1), i);
    if (!scalars.skip)
#pragma unroll
      for (int k = 0; k < V; ++k) {
        C np = widen(p.at[k]), n0 = widen(s0.at[k]), n1 = widen(s1.at[k]);
        Rule::template apply<T, C>(q, scalars, C(widen(g.at[k])), np, n0, n1);
        p.at[k] = narrow<T>(np);
        s0.at[k] = narrow<T>(n0);
        s1.at[k] = narrow<T>(n1);
      }
    storeVec<T, V>(static_cast<T *>(group.pOut), i, p);
    if constexpr (Rule::kStates > 0)
      storeVec<T, V>(static_cast<T *>(group.s0Out), i, s0);
    if constexpr (Rule::kStates > 1)
      storeVec<T, V>(static_cast<T *>(group.s1Out), i, s1);
    if constexpr (!std::is_void_v<Copy>) {
      Vec<Copy, V> copy;
#pragma unroll
      for (int k = 0; k < V; ++k)
        copy.at[k] = narrow<Copy>(float(widen(p.at[k])));
      storeVec<Copy, V>(static_cast<Copy *>(group.copy), i, copy);
    }
  }
}

/// Which operands and results of a call belong to its groups.
struct Layout {
  int64_t count = 1;
  size_t perIn, perOut;
  int state0 = -1, state1 = -1; ///< operand within a group
  size_t scalars;               ///< operand behind the groups
  bool hasCopies = false;
};

bool isAligned(const Group &g) {
  auto aligned = [](const void *at) {
    return reinterpret_cast<uintptr_t>(at) % 16 == 0;
  };
  return g.n % 4 == 0 && aligned(g.p) && aligned(g.g) && aligned(g.s0) &&
         aligned(g.s1) && aligned(g.pOut) && aligned(g.s0Out) &&
         aligned(g.s1Out) && aligned(g.copy);
}

/// Fills the groups; true when V = 4 fits all of them.
bool fillGroups(const LaunchArgs &args, const Layout &at, UpdateParams &p) {
  uint32_t blocks = 0;
  bool aligned = true;
  p.count = int32_t(at.count);
  for (int64_t i = 0; i < at.count; ++i) {
    size_t in = size_t(i) * at.perIn, out = size_t(i) * at.perOut;
    Group &g = p.groups[i];
    g = {};
    g.p = args.ins[in].data;
    g.g = args.ins[in + 1].data;
    g.n = args.numElements(in);
    g.pOut = args.outs[out].data;
    if (at.state0 >= 0) {
      g.s0 = args.ins[in + size_t(at.state0)].data;
      g.s0Out = args.outs[out + 1].data;
    }
    if (at.state1 >= 0) {
      g.s1 = args.ins[in + size_t(at.state1)].data;
      g.s1Out = args.outs[out + 2].data;
    }
    if (at.hasCopies)
      g.copy = args.outs[at.perOut * size_t(at.count) + size_t(i)].data;
    aligned &= isAligned(g);
    p.firstBlock[i] = blocks;
    blocks += uint32_t((g.n + kUpdateElements - 1) / kUpdateElements);
  }
  p.firstBlock[at.count] = blocks;
  return aligned;
}

template <typename Rule, typename T, typename G, typename Copy, typename Params>
LaunchPlan planSized(const Params &p, bool aligned) {
  uint32_t blocks = p.firstBlock[p.count];
  if (aligned)
    return {plan(updateKernel<Rule, T, G, Copy, 4, Params>, blocks, kBlock, p)};
  return {plan(updateKernel<Rule, T, G, Copy, 1, Params>, blocks, kBlock, p)};
}

template <typename Rule, typename T, typename G, typename Copy>
LaunchPlan planUpdate(const UpdateParams &p, bool aligned) {
  if (p.count > kFewGroups)
    return planSized<Rule, T, G, Copy>(p, aligned);
  SmallUpdateParams small{};
  static_cast<UpdateScalars &>(small) = p;
  std::copy_n(p.firstBlock, p.count + 1, small.firstBlock);
  std::copy_n(p.groups, p.count, small.groups);
  return planSized<Rule, T, G, Copy>(small, aligned);
}

/// Picks the copies' type: none, the gradient's 16-bit one, or either where the
/// gradient is f32. The rows' condition refuses the rest.
template <typename Rule, typename T, typename G>
LaunchPlan planCopies(const LaunchArgs &args, const Layout &at,
                      const UpdateParams &p, bool aligned) {
  if (!at.hasCopies)
    return planUpdate<Rule, T, G, void>(p, aligned);
  DType copy = args.outs[at.perOut * size_t(at.count)].desc.dtype;
  if constexpr (std::is_same_v<T, float> && !std::is_same_v<G, bf16>)
    if (copy == DType::F16)
      return planUpdate<Rule, T, G, f16>(p, aligned);
  if constexpr (std::is_same_v<T, float> && !std::is_same_v<G, f16>)
    if (copy == DType::BF16)
      return planUpdate<Rule, T, G, bf16>(p, aligned);
  return {};
}

/// Picks the gradient's type; all groups have one (the rows' condition).
template <typename Rule, typename T>
LaunchPlan planRule(const LaunchArgs &args, const Layout &at, UpdateParams &p) {
  bool aligned = fillGroups(args, at, p);
  if constexpr (std::is_same_v<T, float>) {
    if (args.ins[1].desc.dtype == DType::F16)
      return planCopies<Rule, T, f16>(args, at, p, aligned);
    if (args.ins[1].desc.dtype == DType::BF16)
      return planCopies<Rule, T, bf16>(args, at, p, aligned);
  }
  return planCopies<Rule, T, T>(args, at, p, aligned);
}

/// inv_scale and ok stand behind `required` scalars, in that order.
void setOptional(const LaunchArgs &args, size_t first, UpdateScalars &p) {
  for (size_t i = first; i < args.ins.size(); ++i)
    if (args.ins[i].desc.dtype == DType::I32)
      p.ok = args.in<int32_t>(i);
    else
      p.invScale = args.ins[i].data;
}

template <typename T>
LaunchPlan adam(const LaunchArgs &args, const DeviceLimits &) {
  // Both attr structs start with the four numbers; adam_update's has a count.
  AdamStepAttrs attrs;
  std::memcpy(&attrs, args.attrs.data(), sizeof(attrs));
  Layout at;
  at.perIn = 4;
  at.perOut = 3;
  at.state0 = 2;
  at.state1 = 3;
  if (args.attrs.size() > sizeof(AdamStepAttrs)) {
    at.count = args.attrsAs<AdamUpdateAttrs>().count;
    at.hasCopies = args.outs.size() > 3 * size_t(at.count);
  }
  at.scalars = size_t(at.count) * 4;
  UpdateParams p{};
  p.bc = args.ins[at.scalars].data;
  p.lr = args.ins[at.scalars + 1].data;
  p.beta1 = attrs.beta1;
  p.beta2 = attrs.beta2;
  p.eps = attrs.eps;
  p.decay = attrs.weight_decay;
  setOptional(args, at.scalars + 2, p);
  return planRule<Adam, T>(args, at, p);
}

template <typename T>
LaunchPlan sgdUpdate(const LaunchArgs &args, const DeviceLimits &) {
  auto attrs = args.attrsAs<SgdUpdateAttrs>();
  Layout at;
  at.count = attrs.count;
  at.perIn = 2;
  at.perOut = 1;
  at.hasCopies = args.outs.size() > size_t(at.count);
  at.scalars = size_t(at.count) * 2;
  UpdateParams p{};
  p.lr = args.ins[at.scalars].data;
  p.decay = attrs.weight_decay;
  setOptional(args, at.scalars + 1, p);
  return planRule<Sgd<false>, T>(args, at, p);
}

template <typename T>
LaunchPlan momentumUpdate(const LaunchArgs &args, const DeviceLimits &) {
  auto attrs = args.attrsAs<MomentumUpdateAttrs>();
  Layout at;
  at.count = attrs.count;
  at.perIn = 3;
  at.perOut = 2;
  at.state0 = 2;
  at.hasCopies = args.outs.size() > 2 * size_t(at.count);
  at.scalars = size_t(at.count) * 3;
  UpdateParams p{};
  p.lr = args.ins[at.scalars].data;
  p.beta1 = attrs.momentum;
  p.decay = attrs.weight_decay;
  p.nesterov = attrs.nesterov != 0;
  setOptional(args, at.scalars + 1, p);
  return planRule<Sgd<true>, T>(args, at, p);
}

/// sgd_step's operands: p, g, lr, m?, inv_scale?, ok?.
struct SingleSgd {
  SmallUpdateParams p{};
  uint32_t blocks;
  Group &group;
  explicit SingleSgd(const LaunchArgs &args) : group(p.groups[0]) {
    auto attrs = args.attrsAs<SgdStepAttrs>();
    p.count = 1;
    p.lr = args.ins[2].data;
    p.beta1 = attrs.momentum;
    p.decay = attrs.weight_decay;
    p.nesterov = attrs.nesterov != 0;
    group.p = args.ins[0].data;
    group.g = args.ins[1].data;
    group.n = args.numElements(0);
    group.pOut = args.outs[0].data;
    if (args.outs.size() == 2) {
      group.s0 = args.ins[3].data;
      group.s0Out = args.outs[1].data;
    }
    setOptional(args, args.outs.size() == 2 ? 4 : 3, p);
    blocks = uint32_t((group.n + kUpdateElements - 1) / kUpdateElements);
    p.firstBlock[1] = blocks;
  }
};

template <typename T, typename G, int V>
LaunchPlan planSgd(const SingleSgd &call) {
  if (call.group.s0)
    return {plan(updateKernel<Sgd<true>, T, G, void, V, SmallUpdateParams>,
                 call.blocks, kBlock, call.p)};
  return {plan(updateKernel<Sgd<false>, T, G, void, V, SmallUpdateParams>,
               call.blocks, kBlock, call.p)};
}

template <typename T, int V>
LaunchPlan sgdStep(const LaunchArgs &args, const DeviceLimits &) {
  SingleSgd call(args);
  if constexpr (std::is_same_v<T, float>) {
    if (args.ins[1].desc.dtype == DType::F16)
      return planSgd<T, f16, V>(call);
    if (args.ins[1].desc.dtype == DType::BF16)
      return planSgd<T, bf16, V>(call);
  }
  return planSgd<T, T, V>(call);
}

} // namespace

AICF_DEFINE_PLANNER(step_inc_i32_v0, stepInc<int32_t>)
AICF_DEFINE_PLANNER(step_inc_i64_v0, stepInc<int64_t>)
AICF_DEFINE_PLANNER(bias_corr_i32_f32_v0, biasCorr<int32_t, float>)
AICF_DEFINE_PLANNER(bias_corr_i32_f64_v0, biasCorr<int32_t, double>)
AICF_DEFINE_PLANNER(bias_corr_i64_f32_v0, biasCorr<int64_t, float>)
AICF_DEFINE_PLANNER(bias_corr_i64_f64_v0, biasCorr<int64_t, double>)
AICF_DEFINE_PLANNER(loss_scale_update_f32_v1, lossScaleUpdate<float>)
AICF_DEFINE_PLANNER(loss_scale_update_f64_v1, lossScaleUpdate<double>)
AICF_DEFINE_PLANNER(adam_step_f32_v0, adam<f32>)
AICF_DEFINE_PLANNER(adam_step_f64_v0, adam<f64>)
AICF_DEFINE_PLANNER(adam_update_f32_v0, adam<f32>)
AICF_DEFINE_PLANNER(adam_update_f64_v0, adam<f64>)
AICF_DEFINE_PLANNER(sgd_update_f32_v0, sgdUpdate<f32>)
AICF_DEFINE_PLANNER(sgd_update_f64_v0, sgdUpdate<f64>)
AICF_DEFINE_PLANNER(momentum_update_f32_v0, momentumUpdate<f32>)
AICF_DEFINE_PLANNER(momentum_update_f64_v0, momentumUpdate<f64>)
AICF_DEFINE_PLANNER(sgd_step_f32_vec4_v0, sgdStep<f32, 4>)
AICF_DEFINE_PLANNER(sgd_step_f32_v0, sgdStep<f32, 1>)
AICF_DEFINE_PLANNER(sgd_step_f64_v0, sgdStep<f64, 1>)
AICF_DEFINE_PLANNER(sgd_step_f16_half2_v0, sgdStep<f16, 2>)
AICF_DEFINE_PLANNER(sgd_step_f16_v0, sgdStep<f16, 1>)
AICF_DEFINE_PLANNER(sgd_step_bf16_vec2_v0, sgdStep<bf16, 2>)
AICF_DEFINE_PLANNER(sgd_step_bf16_v0, sgdStep<bf16, 1>)

} // namespace aicf::cuda
