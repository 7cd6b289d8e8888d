//===- Cuda.cu - Adam, SGD and Lion on CUDA -------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Formulas: the records in kernels/optimizer/Family.td. One launch updates
// up to kMaxUpdateGroups parameters; with ok = 0 all keep their old values.
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "kernels/optimizer/Family.h"

#include <algorithm>
#include <optional>

namespace aicf::cuda {
namespace {

/// One parameter with its gradient, states and 16-bit copy (or null).
struct Group {
  const void *p, *g, *s0, *s1;
  void *pOut, *s0Out, *s1Out, *copy;
  int64_t n;
  /// Elements from a row to the next of a padded gradient or copy; 0: dense.
  /// A parameter's rows are `width` long, and a copy stores `copyRows`.
  int32_t gradPitch = 0, copyPitch = 0, width = 0, copyRows = 0;
};

struct UpdateScalars {
  const void *bc, *lr, *invScale;
  const int32_t *ok;
  const float
      *group; ///< the numbers of the optimizer instead of lr and those below
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
  __device__ explicit Scalars(const UpdateScalars &p)
      : Scalars(p, widen(*static_cast<const T *>(p.lr))) {}
  __device__ Scalars(const UpdateScalars &p, C lr) : lr(lr) {
    invScale = p.invScale ? widen(*static_cast<const T *>(p.invScale)) : C(1);
    if (p.bc) {
      bc1 = widen(static_cast<const T *>(p.bc)[0]);
      bc2 = widen(static_cast<const T *>(p.bc)[1]);
    }
    skip = p.ok && *p.ok == 0;
  }
};

/// Weight decay of the parameter, or with kL2 in the gradient.
template <bool kL2> struct Adam {
  static constexpr int kStates = 2;
  static constexpr bool kGroup = false;
  static __device__ void read(UpdateScalars &q, const float *group) {
    q.decay = group[1];
    q.beta1 = 1 - double(group[2]);
    q.beta2 = 1 - double(group[3]);
    q.eps = group[4];
  }
  template <typename T, typename C>
  static __device__ void apply(const UpdateScalars &q, const Scalars<T> &s, C g,
                               C &p, C &m, C &v) {
    C grad = g * s.invScale;
    if constexpr (kL2)
      grad = grad + C(q.decay) * p;
    m = C(q.beta1) * m + C(1 - q.beta1) * grad;
    v = C(q.beta2) * v + C(1 - q.beta2) * grad * grad;
    C kept = kL2 ? p : p * C(1 - double(s.lr) * q.decay);
    p = kept - s.lr * (m * s.bc1) / (sqrt(v * s.bc2) + C(q.eps));
  }
};

struct Lion {
  static constexpr int kStates = 1;
  static constexpr bool kGroup = false;
  template <typename T, typename C>
  static __device__ void apply(const UpdateScalars &q, const Scalars<T> &s, C g,
                               C &p, C &m, C &) {
    C grad = g * s.invScale;
    C mixed = C(q.beta1) * m + C(1 - q.beta1) * grad;
    C sign = mixed > 0 ? C(1) : mixed < 0 ? C(-1) : mixed; // 0 or NaN
    m = C(q.beta2) * m + C(1 - q.beta2) * grad;
    p = p * C(1 - double(s.lr) * q.decay) - s.lr * sign;
  }
};

template <bool kMomentum> struct Sgd {
  static constexpr int kStates = kMomentum ? 1 : 0;
  static constexpr bool kGroup = false;
  static __device__ void read(UpdateScalars &q, const float *group) {
    q.decay = group[1];
    q.beta1 = group[2];
  }
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

/// A rule whose numbers are a tensor: lr first, then as the rule reads them.
template <typename Rule> struct InGroup : Rule {
  static constexpr bool kGroup = true;
};

/// The numbers of a rule, read once a thread.
template <typename Rule, typename T, bool kGroup> struct Numbers {
  const UpdateScalars &q;
  Scalars<T> scalars;
  __device__ explicit Numbers(const UpdateScalars &q) : q(q), scalars(q) {}
};
template <typename Rule, typename T> struct Numbers<Rule, T, true> {
  UpdateScalars q;
  Scalars<T> scalars;
  __device__ explicit Numbers(const UpdateScalars &of)
      : q(of), scalars(of, Compute<T>(of.group[0])) {
    Rule::read(q, of.group);
  }
};

/// Element i of a parameter in a padded copy of it. The thread of the last
/// element of a row and those of the last row also write the pads next to them.
template <typename Copy>
__device__ void storePadded(const Group &g, int64_t i, Copy value) {
  Copy *copy = static_cast<Copy *>(g.copy);
  const Copy zero = narrow<Copy>(0.0f);
  int64_t row = i / g.width, column = i - row * g.width;
  copy[row * g.copyPitch + column] = value;
  int64_t pitch = column + 1 == g.width ? g.copyPitch : column + 1;
  for (int64_t c = column + 1; c < pitch; ++c)
    copy[row * g.copyPitch + c] = zero;
  if ((row + 1) * g.width < g.n)
    return;
  for (int64_t r = row + 1; r < g.copyRows; ++r)
    for (int64_t c = column; c < pitch; ++c)
      copy[r * g.copyPitch + c] = zero;
}

template <typename Rule, typename T, typename G, typename Copy, int V,
          typename Params>
__global__ void __launch_bounds__(kBlock)
    updateKernel(const __grid_constant__ Params q) {
  using C = Compute<T>;
  const int number = partOfBlock(q.firstBlock, q.count);
  const Group &group = q.groups[number];
  int64_t first = int64_t(blockIdx.x - q.firstBlock[number]) * kUpdateElements;
  int64_t last = min(group.n, first + kUpdateElements) / V;
  const Numbers<Rule, T, Rule::kGroup> numbers(q);
#pragma unroll 2
  for (int64_t i = first / V + threadIdx.x; i < last; i += kBlock) {
    auto p = loadVec<T, V>(static_cast<const T *>(group.p), i);
    int64_t gradAt = i;
    if (V == 1 && group.gradPitch)
      gradAt = i / group.width * group.gradPitch + i % group.width;
    auto g = loadVec<G, V>(static_cast<const G *>(group.g), gradAt);
    Vec<T, V> s0{}, s1{};
    if constexpr (Rule::kStates > 0)
      s0 = loadVec<T, V>(static_cast<const T *>(group.s0), i);
    if constexpr (Rule::kStates > 1)
      s1 = loadVec<T, V>(static_cast<const T *>(group.s1), i);
    if (!numbers.scalars.skip)
#pragma unroll
      for (int k = 0; k < V; ++k) {
        C np = widen(p.at[k]), n0 = widen(s0.at[k]), n1 = widen(s1.at[k]);
        Rule::template apply<T, C>(numbers.q, numbers.scalars,
                                   C(widen(g.at[k])), np, n0, n1);
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
      if (V == 1 && group.copyPitch)
        storePadded<Copy>(group, i, copy.at[0]);
      else
        storeVec<Copy, V>(static_cast<Copy *>(group.copy), i, copy);
    }
  }
}

void setNumbers(const AdamGroupStepArgs &call, UpdateScalars &p) {
  p.group = call.group().dense<float>();
}
void setNumbers(const SgdGroupStepArgs &call, UpdateScalars &p) {
  p.group = call.group().dense<float>();
}
template <typename Args> void setNumbers(const Args &call, UpdateScalars &p) {
  p.lr = call.lr().dense();
}

/// What every optimizer has.
template <typename Args> void setScalars(const Args &call, UpdateScalars &p) {
  setNumbers(call, p);
  p.invScale = call.inv_scale() ? call.inv_scale()->dense() : nullptr;
  p.ok = call.ok() ? call.ok()->template dense<int32_t>() : nullptr;
}

bool isAligned(const Group &g) {
  auto aligned = [](const void *at) {
    return reinterpret_cast<uintptr_t>(at) % 16 == 0;
  };
  return g.n % 4 == 0 && !g.gradPitch && !g.copyPitch && aligned(g.p) &&
         aligned(g.g) && aligned(g.s0) && aligned(g.s1) && aligned(g.pOut) &&
         aligned(g.s0Out) && aligned(g.s1Out) && aligned(g.copy);
}

/// Layouts of the gradient and of the copy, or null.
void setPads(Group &group, const TensorDesc &grad, const TensorView *copy) {
  group.width = int32_t(grad.width());
  group.gradPitch = grad.isDense() ? 0 : int32_t(grad.pitch());
  if (!copy || copy->desc.isDense())
    return;
  group.copyPitch = int32_t(copy->desc.pitch());
  group.copyRows = int32_t(copy->desc.stored().rows());
}

/// One update; `copy` is the new parameter in 16 bits, or null.
template <typename Args>
Group groupOfAdam(const Args &call, const TensorView *copy) {
  return {call.p().dense(),     call.g().start(),
          call.m().dense(),     call.v().dense(),
          call.p_out().dense(), call.m_out().dense(),
          call.v_out().dense(), copy ? copy->start() : nullptr,
          call.p().elements()};
}
Group groupOf(const AdamStepArgs &call, const TensorView *copy) {
  return groupOfAdam(call, copy);
}
Group groupOf(const AdamL2StepArgs &call, const TensorView *copy) {
  return groupOfAdam(call, copy);
}
Group groupOf(const AdamGroupStepArgs &call, const TensorView *copy) {
  return groupOfAdam(call, copy);
}
Group groupOf(const LionStepArgs &call, const TensorView *copy) {
  return {call.p().dense(),
          call.g().start(),
          call.m().dense(),
          nullptr,
          call.p_out().dense(),
          call.m_out().dense(),
          nullptr,
          copy ? copy->start() : nullptr,
          call.p().elements()};
}
/// The momentum may be absent.
template <typename Args>
Group groupOfSgd(const Args &call, const TensorView *copy) {
  return {call.p().dense(),
          call.g().start(),
          call.m() ? call.m()->dense() : nullptr,
          nullptr,
          call.p_out().dense(),
          call.m_out() ? call.m_out()->dense() : nullptr,
          nullptr,
          copy ? copy->start() : nullptr,
          call.p().elements()};
}
Group groupOf(const SgdStepArgs &call, const TensorView *copy) {
  return groupOfSgd(call, copy);
}
Group groupOf(const SgdGroupStepArgs &call, const TensorView *copy) {
  return groupOfSgd(call, copy);
}

/// The dtypes that pick a variant: all groups have the first one's.
struct UpdateTypes {
  DType grad;
  std::optional<DType> copy;
};

/// The updates of a call, which has one or many; those of many share scalars
/// and fields.
template <typename Step> struct Updates {
  std::vector<Step> steps;
  std::vector<const TensorView *> copies; ///< null without

  explicit Updates(const Step &step) : steps{step}, copies{nullptr} {}
  template <typename Pattern> explicit Updates(const Pattern &call) {
    for (size_t i = 0; i < call.numGroups(); ++i) {
      steps.push_back(call.step(i));
      auto copy = call.copy(i);
      copies.push_back(copy ? &copy->y() : nullptr);
    }
  }
  const Step &first() const { return steps.front(); }
  UpdateTypes types() const {
    return {first().g().desc.dtype,
            copies.front() ? std::optional(copies.front()->desc.dtype)
                           : std::nullopt};
  }
};

/// Fills groups and scalars; true when V = 4 fits all groups.
template <typename Step>
bool fill(const Updates<Step> &updates, UpdateParams &p) {
  uint32_t blocks = 0;
  bool aligned = true;
  p.count = int32_t(updates.steps.size());
  for (int32_t i = 0; i < p.count; ++i) {
    Group &g = p.groups[i] =
        groupOf(updates.steps[size_t(i)], updates.copies[size_t(i)]);
    setPads(g, updates.steps[size_t(i)].g().desc, updates.copies[size_t(i)]);
    aligned &= isAligned(g);
    p.firstBlock[i] = blocks;
    blocks += uint32_t((g.n + kUpdateElements - 1) / kUpdateElements);
  }
  p.firstBlock[p.count] = blocks;
  setScalars(updates.first(), p);
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
LaunchPlan planCopies(UpdateTypes types, const UpdateParams &p, bool aligned) {
  if (!types.copy)
    return planUpdate<Rule, T, G, void>(p, aligned);
  if constexpr (std::is_same_v<T, float> && !std::is_same_v<G, bf16>)
    if (types.copy == DType::F16)
      return planUpdate<Rule, T, G, f16>(p, aligned);
  if constexpr (std::is_same_v<T, float> && !std::is_same_v<G, f16>)
    if (types.copy == DType::BF16)
      return planUpdate<Rule, T, G, bf16>(p, aligned);
  return {}; // never: see above
}

/// Picks the gradient's type; all groups have one (the rows' condition).
template <typename Rule, typename T, typename Step>
LaunchPlan planRule(const Updates<Step> &updates, UpdateParams &p) {
  bool aligned = fill(updates, p);
  UpdateTypes types = updates.types();
  if constexpr (std::is_same_v<T, float>) {
    if (types.grad == DType::F16)
      return planCopies<Rule, T, f16>(types, p, aligned);
    if (types.grad == DType::BF16)
      return planCopies<Rule, T, bf16>(types, p, aligned);
  }
  return planCopies<Rule, T, T>(types, p, aligned);
}

/// adam_step and adam_update; with kL2 adam_l2_step and adam_l2_update.
template <typename T, bool kL2, typename Step>
LaunchPlan adam(const Updates<Step> &updates) {
  const auto attrs = updates.first().attrs();
  UpdateParams p{};
  p.bc = updates.first().bc().dense();
  p.beta1 = attrs.beta1;
  p.beta2 = attrs.beta2;
  p.eps = attrs.eps;
  p.decay = attrs.weight_decay;
  return planRule<Adam<kL2>, T>(updates, p);
}
template <typename T>
LaunchPlan adamStep(AdamStepArgs call, const DeviceLimits &) {
  return adam<T, false>(Updates<AdamStepArgs>(call));
}
template <typename T>
LaunchPlan adamUpdate(AdamUpdateArgs call, const DeviceLimits &) {
  return adam<T, false>(Updates<AdamStepArgs>(call));
}
template <typename T>
LaunchPlan adamL2Step(AdamL2StepArgs call, const DeviceLimits &) {
  return adam<T, true>(Updates<AdamL2StepArgs>(call));
}
template <typename T>
LaunchPlan adamL2Update(AdamL2UpdateArgs call, const DeviceLimits &) {
  return adam<T, true>(Updates<AdamL2StepArgs>(call));
}

/// adam_group_step and adam_group_update.
template <typename T>
LaunchPlan adamOfGroup(const Updates<AdamGroupStepArgs> &updates) {
  UpdateParams p{};
  p.bc = updates.first().bc().dense();
  if (updates.first().attrs().l2 != 0)
    return planRule<InGroup<Adam<true>>, T>(updates, p);
  return planRule<InGroup<Adam<false>>, T>(updates, p);
}
template <typename T>
LaunchPlan adamGroupStep(AdamGroupStepArgs call, const DeviceLimits &) {
  return adamOfGroup<T>(Updates<AdamGroupStepArgs>(call));
}
template <typename T>
LaunchPlan adamGroupUpdate(AdamGroupUpdateArgs call, const DeviceLimits &) {
  return adamOfGroup<T>(Updates<AdamGroupStepArgs>(call));
}

/// lion_step and lion_update.
template <typename T> LaunchPlan lion(const Updates<LionStepArgs> &updates) {
  LionStepAttrs attrs = updates.first().attrs();
  UpdateParams p{};
  p.beta1 = attrs.beta1;
  p.beta2 = attrs.beta2;
  p.decay = attrs.weight_decay;
  return planRule<Lion, T>(updates, p);
}
template <typename T>
LaunchPlan lionStep(LionStepArgs call, const DeviceLimits &) {
  return lion<T>(Updates<LionStepArgs>(call));
}
template <typename T>
LaunchPlan lionUpdate(LionUpdateArgs call, const DeviceLimits &) {
  return lion<T>(Updates<LionStepArgs>(call));
}

template <typename T, bool kMomentum>
LaunchPlan sgdUpdates(const Updates<SgdStepArgs> &updates) {
  SgdStepAttrs attrs = updates.first().attrs();
  UpdateParams p{};
  p.beta1 = attrs.momentum;
  p.decay = attrs.weight_decay;
  p.nesterov = attrs.nesterov != 0;
  return planRule<Sgd<kMomentum>, T>(updates, p);
}
template <typename T>
LaunchPlan sgdUpdate(SgdUpdateArgs call, const DeviceLimits &) {
  return sgdUpdates<T, false>(Updates<SgdStepArgs>(call));
}
template <typename T>
LaunchPlan momentumUpdate(MomentumUpdateArgs call, const DeviceLimits &) {
  return sgdUpdates<T, true>(Updates<SgdStepArgs>(call));
}

/// sgd_group_step, sgd_group_update and momentum_group_update.
template <typename T, bool kMomentum>
LaunchPlan sgdOfGroup(const Updates<SgdGroupStepArgs> &updates) {
  UpdateParams p{};
  p.nesterov = updates.first().attrs().nesterov != 0;
  return planRule<InGroup<Sgd<kMomentum>>, T>(updates, p);
}
template <typename T>
LaunchPlan sgdGroupStep(SgdGroupStepArgs call, const DeviceLimits &) {
  if (call.m())
    return sgdOfGroup<T, true>(Updates<SgdGroupStepArgs>(call));
  return sgdOfGroup<T, false>(Updates<SgdGroupStepArgs>(call));
}
template <typename T>
LaunchPlan sgdGroupUpdate(SgdGroupUpdateArgs call, const DeviceLimits &) {
  return sgdOfGroup<T, false>(Updates<SgdGroupStepArgs>(call));
}
template <typename T>
LaunchPlan momentumGroupUpdate(MomentumGroupUpdateArgs call,
                               const DeviceLimits &) {
  return sgdOfGroup<T, true>(Updates<SgdGroupStepArgs>(call));
}

/// One parameter, whose width is the row's.
struct SingleSgd {
  SmallUpdateParams p{};
  uint32_t blocks;
  Group &group;
  explicit SingleSgd(const SgdStepArgs &call) : group(p.groups[0]) {
    SgdStepAttrs attrs = call.attrs();
    p.count = 1;
    p.beta1 = attrs.momentum;
    p.decay = attrs.weight_decay;
    p.nesterov = attrs.nesterov != 0;
    group.p = call.p().dense();
    group.g = call.g().start();
    group.n = call.p().elements();
    group.pOut = call.p_out().dense();
    setPads(group, call.g().desc, nullptr);
    if (call.m()) {
      group.s0 = call.m()->dense();
      group.s0Out = call.m_out()->dense();
    }
    setScalars(call, p);
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
LaunchPlan sgdStep(SgdStepArgs args, const DeviceLimits &limits) {
  if (V > 1 && !args.g().desc.isDense())
    return sgdStep<T, 1>(args, limits);
  SingleSgd call(args);
  if constexpr (std::is_same_v<T, float>) {
    if (args.g().desc.dtype == DType::F16)
      return planSgd<T, f16, V>(call);
    if (args.g().desc.dtype == DType::BF16)
      return planSgd<T, bf16, V>(call);
  }
  return planSgd<T, T, V>(call);
}

} // namespace

#define AICF_KERNELS_OF_optimizer_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
