//===- Optimizers.cpp - step count, loss scale, Adam, SGD -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Formulas: the op descriptions in AICFRTOps.td. With ok = 0 the results are
// the old values, bit for bit.
//===----------------------------------------------------------------------===//

#include "KernelDecls.h"
#include "Parallel.h"
#include "aicf/Support/LossScale.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace aicf::cpu {
namespace {

template <typename T> void stepInc(const LaunchArgs &args) {
  bool ok = args.ins.size() < 2 || *args.in<int32_t>(1) != 0;
  T step = *args.in<T>(0);
  bool counts = ok && step < std::numeric_limits<T>::max();
  *args.out<T>(0) = step + (counts ? 1 : 0);
}

/// 1/(1 - beta^t) without cancellation.
double biasCorrection(double beta, double t) {
  return 1 / -std::expm1(t * std::log(beta));
}

template <typename Int, typename T> void biasCorr(const LaunchArgs &args) {
  auto attrs = args.attrsAs<BiasCorrAttrs>();
  double t = double(*args.in<Int>(0));
  args.out<T>(0)[0] = T(biasCorrection(attrs.beta1, t));
  args.out<T>(0)[1] = T(biasCorrection(attrs.beta2, t));
}

template <typename T> void lossScaleUpdate(const LaunchArgs &args) {
  auto attrs = args.attrsAs<LossScaleUpdateAttrs>();
  T scale = *args.in<T>(0);
  int32_t streak = *args.in<int32_t>(1), ok = *args.in<int32_t>(2);
  if (!ok) {
    scale = T(double(scale) * attrs.backoff_factor);
    streak = 0;
  } else if (int64_t(streak) + 1 >= attrs.growth_interval) {
    scale = T(double(scale) * attrs.growth_factor);
    streak = 0;
  } else {
    ++streak;
  }
  *args.out<T>(0) = clampLossScale(scale);
  *args.out<int32_t>(1) = streak;
}

/// The optional scalars of an optimizer call.
template <typename T> struct Gate {
  bool skip = false;
  T invScale = T(1.0f);
  int moment;

  Gate(const LaunchArgs &args, OpKind kind) {
    TensorDesc descs[8];
    for (size_t i = 0; i < args.ins.size(); ++i)
      descs[i] = args.ins[i].desc;
    OptimizerOperands at =
        optimizerOperands(kind, {descs, args.ins.size()}, args.outs.size());
    if (at.invScale >= 0)
      invScale = *args.in<T>(size_t(at.invScale));
    if (at.ok >= 0)
      skip = *args.in<int32_t>(size_t(at.ok)) == 0;
    moment = at.moment;
  }
};

/// Results are the old values; in place there is nothing to do.
void keepOld(const LaunchArgs &args, size_t result, size_t operand) {
  if (args.outs[result].data != args.ins[operand].data)
    std::memcpy(args.outs[result].data, args.ins[operand].data,
                args.ins[operand].desc.numBytes());
}

template <typename T, typename Grad> void adamStepOf(const LaunchArgs &args) {
  auto attrs = args.attrsAs<AdamStepAttrs>();
  Gate<T> gate(args, OpKind::AdamStep);
  if (gate.skip) {
    keepOld(args, 0, 0);
    keepOld(args, 1, 2);
    keepOld(args, 2, 3);
    return;
  }
  const T *p = args.in<T>(0), *m = args.in<T>(2), *v = args.in<T>(3);
  const T *bc = args.in<T>(4);
  const Grad *g = args.in<Grad>(1);
  T *pOut = args.out<T>(0), *mOut = args.out<T>(1), *vOut = args.out<T>(2);
  T lr = *args.in<T>(5), bc1 = bc[0], bc2 = bc[1];
  T beta1 = T(attrs.beta1), beta2 = T(attrs.beta2), eps = T(attrs.eps);
  T rest1 = T(1 - attrs.beta1), rest2 = T(1 - attrs.beta2);
  T keep = T(1 - double(lr) * attrs.weight_decay);
  parallelElements(args.numElements(0), args.numThreads,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       T grad = T(g[i]) * gate.invScale;
                       T newM = beta1 * m[i] + rest1 * grad;
                       T newV = beta2 * v[i] + rest2 * grad * grad;
                       T newP = p[i] * keep - lr * (newM * bc1) /
                                                  (std::sqrt(newV * bc2) + eps);
                       mOut[i] = newM;
                       vOut[i] = newV;
                       pOut[i] = newP;
                     }
                   });
}

/// Calls `body` with a value of the gradient's type: T's own, or a 16-bit one.
template <typename T, typename Body>
void withGradType(const LaunchArgs &args, Body body) {
  if (args.ins[1].desc.dtype == DType::F16)
    body(Half());
  else if (args.ins[1].desc.dtype == DType::BF16)
    body(BFloat());
  else
    body(T());
}

template <typename T> void adamStep(const LaunchArgs &args) {
  withGradType<T>(args,
                  [&](auto grad) { adamStepOf<T, decltype(grad)>(args); });
}

template <typename T, typename Grad>
void sgdStepOf(const LaunchArgs &args, Compute<T> lr) {
  using C = Compute<T>;
  auto attrs = args.attrsAs<SgdStepAttrs>();
  Gate<T> gate(args, OpKind::SgdStep);
  if (gate.skip) {
    keepOld(args, 0, 0);
    if (gate.moment >= 0)
      keepOld(args, 1, size_t(gate.moment));
    return;
  }
  const T *p = args.in<T>(0);
  const Grad *g = args.in<Grad>(1);
  const T *m = gate.moment >= 0 ? args.in<T>(size_t(gate.moment)) : nullptr;
  T *pOut = args.out<T>(0), *mOut = m ? args.out<T>(1) : nullptr;
  C decay = C(attrs.weight_decay), momentum = C(attrs.momentum);
  bool nesterov = attrs.nesterov != 0;
  parallelElements(
      args.numElements(0), args.numThreads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          C direction = C(g[i]) * C(gate.invScale) + decay * C(p[i]);
          if (m) {
            C moment = momentum * C(m[i]) + direction;
            mOut[i] = moment;
            direction = nesterov ? direction + momentum * moment : moment;
          }
          pOut[i] = C(p[i]) - lr * direction;
        }
      });
}

template <typename T> void sgdStepOnDevice(const LaunchArgs &args) {
  Compute<T> lr = *args.in<T>(2);
  withGradType<T>(args,
                  [&](auto grad) { sgdStepOf<T, decltype(grad)>(args, lr); });
}

} // namespace

AICF_DEFINE_KERNEL(step_inc_i32_v0, stepInc<int32_t>)
AICF_DEFINE_KERNEL(step_inc_i64_v0, stepInc<int64_t>)
AICF_DEFINE_KERNEL(bias_corr_i32_f32_v0, biasCorr<int32_t, float>)
AICF_DEFINE_KERNEL(bias_corr_i32_f64_v0, biasCorr<int32_t, double>)
AICF_DEFINE_KERNEL(bias_corr_i64_f32_v0, biasCorr<int64_t, float>)
AICF_DEFINE_KERNEL(bias_corr_i64_f64_v0, biasCorr<int64_t, double>)
AICF_DEFINE_KERNEL(loss_scale_update_f32_v1, lossScaleUpdate<float>)
AICF_DEFINE_KERNEL(loss_scale_update_f64_v1, lossScaleUpdate<double>)
AICF_DEFINE_KERNEL(adam_step_f32_v0, adamStep<float>)
AICF_DEFINE_KERNEL(adam_step_f64_v0, adamStep<double>)
AICF_DEFINE_KERNEL(sgd_step_f32_v0, sgdStepOnDevice<float>)
AICF_DEFINE_KERNEL(sgd_step_f64_v0, sgdStepOnDevice<double>)
AICF_DEFINE_KERNEL(sgd_step_f16_v0, sgdStepOnDevice<Half>)
AICF_DEFINE_KERNEL(sgd_step_bf16_v0, sgdStepOnDevice<BFloat>)

} // namespace aicf::cpu
