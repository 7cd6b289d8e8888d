//===- Reference.cpp - Adam, SGD and Lion in f64 --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

#include <cmath>

namespace aicf::reference {
namespace {

/// What an update reads beside its group.
struct Scalars {
  double lr, invScale;
  bool ok;
  template <typename View>
  explicit Scalars(const View &c) : Scalars(c, c.lr()[0]) {}
  template <typename View>
  Scalars(const View &c, double lr)
      : lr(lr), invScale(valueOr(c.inv_scale(), 1)), ok(valueOr(c.ok(), 1) != 0) {}
};

template <typename Attrs>
void adam(const Attrs &attrs, const Scalars &s, const Tensor &bc,
          const Tensor &p, const Tensor &g, const Tensor &m, const Tensor &v,
          Tensor &pOut, Tensor &mOut, Tensor &vOut) {
  for (size_t i = 0; i < p.size(); ++i) {
    double newP = p[i], newM = m[i], newV = v[i], grad = g[i] * s.invScale;
    if (s.ok) {
      newM = attrs.beta1 * newM + (1 - attrs.beta1) * grad;
      newV = attrs.beta2 * newV + (1 - attrs.beta2) * grad * grad;
      newP -= s.lr * attrs.weight_decay * newP;
      newP -= s.lr * (newM * bc[0]) / (std::sqrt(newV * bc[1]) + attrs.eps);
    }
    pOut[i] = newP;
    mOut[i] = newM;
    vOut[i] = newV;
  }
}

/// `m` and `mOut` may be null.
void sgd(const SgdStepAttrs &attrs, const Scalars &s, const Tensor &p,
         const Tensor &g, const Tensor *m, Tensor &pOut, Tensor *mOut) {
  for (size_t i = 0; i < p.size(); ++i) {
    double newP = p[i], newM = m ? (*m)[i] : 0;
    double d = g[i] * s.invScale + attrs.weight_decay * newP;
    if (s.ok) {
      newM = attrs.momentum * newM + d;
      newP -= s.lr * (attrs.nesterov ? d + attrs.momentum * newM : newM);
    }
    pOut[i] = newP;
    if (mOut)
      (*mOut)[i] = newM;
  }
}

} // namespace

void compute(const AdamStepView<Call> &c) {
  adam(c.attrs(), Scalars(c), c.bc(), c.p(), c.g(), c.m(), c.v(), c.p_out(),
       c.m_out(), c.v_out());
}

/// Adam whose decay is in the gradient.
template <typename Attrs, typename View>
static void adamL2(Attrs attrs, Scalars s, const View &c) {
  Tensor decayed = c.g();
  fill(decayed, [&](size_t i) {
    return c.g()[i] * s.invScale + attrs.weight_decay * c.p()[i];
  });
  attrs.weight_decay = 0;
  s.invScale = 1;
  adam(attrs, s, c.bc(), c.p(), decayed, c.m(), c.v(), c.p_out(), c.m_out(),
       c.v_out());
}

void compute(const AdamL2StepView<Call> &c) { adamL2(c.attrs(), Scalars(c), c); }

void compute(const AdamGroupStepView<Call> &c) {
  const Tensor &n = c.group();
  AdamStepAttrs attrs{1 - n[2], 1 - n[3], n[4], n[1]};
  Scalars s(c, n[0]);
  if (c.attrs().l2 != 0)
    return adamL2(attrs, s, c);
  adam(attrs, s, c.bc(), c.p(), c.g(), c.m(), c.v(), c.p_out(), c.m_out(),
       c.v_out());
}

void compute(const SgdGroupStepView<Call> &c) {
  const Tensor &n = c.group();
  SgdStepAttrs attrs{c.m() ? n[2] : 0, n[1], c.attrs().nesterov};
  sgd(attrs, Scalars(c, n[0]), c.p(), c.g(), c.m(), c.p_out(), c.m_out());
}

void compute(const SgdStepView<Call> &c) {
  sgd(c.attrs(), Scalars(c), c.p(), c.g(), c.m(), c.p_out(), c.m_out());
}

void compute(const LionStepView<Call> &c) {
  LionStepAttrs attrs = c.attrs();
  Scalars s(c);
  for (size_t i = 0; i < c.p().size(); ++i) {
    double newP = c.p()[i], newM = c.m()[i], grad = c.g()[i] * s.invScale;
    if (s.ok) {
      double mixed = attrs.beta1 * newM + (1 - attrs.beta1) * grad;
      double sign = std::isnan(mixed) ? mixed : (mixed > 0) - (mixed < 0);
      newM = attrs.beta2 * newM + (1 - attrs.beta2) * grad;
      newP -= s.lr * (attrs.weight_decay * newP + sign);
    }
    c.p_out()[i] = newP;
    c.m_out()[i] = newM;
  }
}

} // namespace aicf::reference
