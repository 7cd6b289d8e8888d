//===- Cpu.cpp - Adam, SGD and Lion on the CPU ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Formulas: the records in kernels/optimizer/Family.td. With ok = 0 the
// results are the old values, bit for bit.
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"

#include <cmath>
#include <cstring>

namespace aicf::cpu {
namespace {

/// The scalars that every optimizer has; with ok = 0 nothing is updated.
template <typename T> struct Gate {
  bool skip = false;
  T invScale = T(1.0f);

  template <typename Args> explicit Gate(const Args &call) {
    if (const TensorView *scale = call.inv_scale())
      invScale = *scale->template dense<T>();
    if (const TensorView *ok = call.ok())
      skip = *ok->template dense<int32_t>() == 0;
  }
};

/// The result is the old value; in place there is nothing to do.
void keepOld(const TensorView &result, const TensorView &old) {
  if (result.dense() != old.dense())
    std::memcpy(result.dense(), old.dense(), old.desc.spanBytes());
}

/// Calls `body` with a value of the gradient's type: T's own, or a 16-bit one.
template <typename T, typename Body>
void withGradType(const TensorView &grad, Body body) {
  if (grad.desc.dtype == DType::F16)
    body(Half());
  else if (grad.desc.dtype == DType::BF16)
    body(BFloat());
  else
    body(T());
}

/// A root, a division, four loads and three stores.
constexpr int64_t kAdamWeight = 4;

/// What all calls of Adam have. Their loops are compiled once for each type.
struct AdamTensors {
  const TensorView &p, &g, &m, &v, &bc, &pOut, &mOut, &vOut;
  int numThreads;

  template <typename Args>
  explicit AdamTensors(const Args &call)
      : p(call.p()), g(call.g()), m(call.m()), v(call.v()), bc(call.bc()),
        pOut(call.p_out()), mOut(call.m_out()), vOut(call.v_out()),
        numThreads(call->numThreads) {}
};

/// adam_step, or with kL2 adam_l2_step.
template <typename T, typename Grad, bool kL2>
void adamStepOf(const AdamTensors &call, const Gate<T> &gate,
                const AdamStepAttrs &attrs, T lr) {
  if (gate.skip) {
    keepOld(call.pOut, call.p);
    keepOld(call.mOut, call.m);
    keepOld(call.vOut, call.v);
    return;
  }
  const T *p = call.p.dense<T>(), *m = call.m.dense<T>(),
          *v = call.v.dense<T>();
  const T *bc = call.bc.dense<T>();
  const Grad *g = call.g.dense<Grad>();
  T *pOut = call.pOut.dense<T>(), *mOut = call.mOut.dense<T>();
  T *vOut = call.vOut.dense<T>();
  T bc1 = bc[0], bc2 = bc[1], invScale = gate.invScale;
  T beta1 = T(attrs.beta1), beta2 = T(attrs.beta2), eps = T(attrs.eps);
  T rest1 = T(1 - attrs.beta1), rest2 = T(1 - attrs.beta2);
  T keep = kL2 ? T(1) : T(1 - double(lr) * attrs.weight_decay);
  T decay = T(attrs.weight_decay);
  parallelElements(
      call.p.desc.elements(), call.numThreads,
      [=](int64_t i) {
        T grad = T(g[i]) * invScale;
        if constexpr (kL2)
          grad = grad + decay * p[i];
        T newM = beta1 * m[i] + rest1 * grad;
        T newV = beta2 * v[i] + rest2 * grad * grad;
        T newP =
            p[i] * keep - lr * (newM * bc1) / (std::sqrt(newV * bc2) + eps);
        mOut[i] = newM;
        vOut[i] = newV;
        pOut[i] = newP;
      },
      kAdamWeight);
}

template <typename T, bool kL2, typename Args>
void adamOf(const Args &call, const AdamStepAttrs &attrs, T lr) {
  withGradType<T>(call.g(), [&](auto grad) {
    adamStepOf<T, decltype(grad), kL2>(AdamTensors(call), Gate<T>(call), attrs,
                                       lr);
  });
}
template <typename T> void adamStep(AdamStepArgs call) {
  adamOf<T, false>(call, call.attrs(), *call.lr().dense<T>());
}
template <typename T> void adamL2Step(AdamL2StepArgs call) {
  AdamL2StepAttrs own = call.attrs();
  AdamStepAttrs attrs{own.beta1, own.beta2, own.eps, own.weight_decay};
  adamOf<T, true>(call, attrs, *call.lr().dense<T>());
}
template <typename T> void adamGroupStep(AdamGroupStepArgs call) {
  const float *n = call.group().dense<float>();
  AdamStepAttrs attrs{1 - double(n[2]), 1 - double(n[3]), n[4], n[1]};
  if (call.attrs().l2 != 0)
    return adamOf<T, true>(call, attrs, T(n[0]));
  adamOf<T, false>(call, attrs, T(n[0]));
}

struct SgdTensors {
  const TensorView &p, &g, &pOut;
  const TensorView *m, *mOut; ///< null without a moment
  int numThreads;

  template <typename Args>
  explicit SgdTensors(const Args &call)
      : p(call.p()), g(call.g()), pOut(call.p_out()), m(call.m()),
        mOut(call.m_out()), numThreads(call->numThreads) {}
};

/// `lr` in the type that T computes in.
template <typename T, typename Grad>
void sgdStepOf(const SgdTensors &call, const Gate<T> &gate,
               const SgdStepAttrs &attrs, Compute<T> lr) {
  using C = Compute<T>;
  if (gate.skip) {
    keepOld(call.pOut, call.p);
    if (call.m)
      keepOld(*call.mOut, *call.m);
    return;
  }
  const T *p = call.p.dense<T>();
  const Grad *g = call.g.dense<Grad>();
  T *pOut = call.pOut.dense<T>();
  C decay = C(attrs.weight_decay), momentum = C(attrs.momentum),
    invScale = C(gate.invScale);
  auto directionOf = [=](int64_t i) {
    return C(g[i]) * invScale + decay * C(p[i]);
  };
  if (!call.m)
    return parallelElements(
        call.p.desc.elements(), call.numThreads,
        [=](int64_t i) { pOut[i] = C(p[i]) - lr * directionOf(i); });
  const T *m = call.m->dense<T>();
  T *mOut = call.mOut->dense<T>();
  bool nesterov = attrs.nesterov != 0;
  parallelElements(call.p.desc.elements(), call.numThreads, [=](int64_t i) {
    C direction = directionOf(i);
    C moment = momentum * C(m[i]) + direction;
    mOut[i] = moment;
    pOut[i] =
        C(p[i]) - lr * (nesterov ? direction + momentum * moment : moment);
  });
}

template <typename T, typename Args>
void sgdOf(const Args &call, const SgdStepAttrs &attrs, Compute<T> lr) {
  withGradType<T>(call.g(), [&](auto grad) {
    sgdStepOf<T, decltype(grad)>(SgdTensors(call), Gate<T>(call), attrs, lr);
  });
}
template <typename T> void sgdStep(SgdStepArgs call) {
  sgdOf<T>(call, call.attrs(), *call.lr().dense<T>());
}
template <typename T> void sgdGroupStep(SgdGroupStepArgs call) {
  const float *n = call.group().dense<float>();
  SgdStepAttrs attrs{n[2], n[1], call.attrs().nesterov};
  sgdOf<T>(call, attrs, T(n[0]));
}

template <typename T, typename Grad> void lionStepOf(LionStepArgs call) {
  LionStepAttrs attrs = call.attrs();
  Gate<T> gate(call);
  if (gate.skip) {
    keepOld(call.p_out(), call.p());
    keepOld(call.m_out(), call.m());
    return;
  }
  const T *p = call.p().dense<T>(), *m = call.m().dense<T>();
  const Grad *g = call.g().dense<Grad>();
  T *pOut = call.p_out().dense<T>(), *mOut = call.m_out().dense<T>();
  T lr = *call.lr().dense<T>(), beta1 = T(attrs.beta1), beta2 = T(attrs.beta2);
  T rest1 = T(1 - attrs.beta1), rest2 = T(1 - attrs.beta2);
  T keep = T(1 - double(lr) * attrs.weight_decay);
  parallelElements(call.p().elements(), call->numThreads, [=](int64_t i) {
    T grad = T(g[i]) * gate.invScale;
    T mixed = beta1 * m[i] + rest1 * grad;
    T sign = mixed > 0 ? T(1) : mixed < 0 ? T(-1) : mixed; // 0 or NaN
    mOut[i] = beta2 * m[i] + rest2 * grad;
    pOut[i] = p[i] * keep - lr * sign;
  });
}

template <typename T> void lionStep(LionStepArgs call) {
  withGradType<T>(call.g(),
                  [&](auto grad) { lionStepOf<T, decltype(grad)>(call); });
}

} // namespace

#define AICF_KERNELS_OF_optimizer_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
