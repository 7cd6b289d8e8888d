//===- Optimizers.cpp - Adam, SGD and Lion to linalg ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The formulas are those of the records' texts.
//===----------------------------------------------------------------------===//

#include "lib/Conversion/AICFToLinalg/Tensors.h"

namespace aicf::linalg_bridge {

namespace {
/// Params, gradient and moments as operands, and the scalars of an update,
/// which are read once, in front of the loops. `rate` holds the learning rate,
/// first of all numbers where it has several.
struct Update {
  TensorBuilder &t;
  Type compute;
  SmallVector<Read> operands;
  SmallVector<RankedTensorType> results;
  Scalar lr;
  std::optional<Scalar> inverse, ok;

  template <typename Adaptor>
  Update(TensorBuilder &t, Adaptor adaptor, ValueRange trained, Value rate)
      : t(t), compute(t.computeType(adaptor.getP().getType())),
        operands{TensorBuilder::all(adaptor.getG())},
        lr(typeOf(rate).getRank() == 0 ? scalar(rate) : number(rate, 0)) {
    for (Value tensor : trained) {
      operands.push_back(TensorBuilder::all(tensor));
      results.push_back(typeOf(tensor));
    }
    if (adaptor.getInvScale())
      inverse = scalar(adaptor.getInvScale());
    if (adaptor.getOk()) {
      Scalar flag = t.read(cast<Tensor>(adaptor.getOk()), {});
      ok = flag != flag.constant(0);
    }
  }

  Scalar scalar(Value tensor, ValueRange at = {}) {
    return t.read(cast<Tensor>(tensor), at).to(compute);
  }
  Scalar number(Value tensor, int64_t i) {
    Value at = arith::ConstantIndexOp::create(t.builder, t.loc, i);
    return scalar(tensor, at);
  }

  /// `body` gets the gradient, scaled, and the old values, and gives the new.
  SmallVector<Value>
  build(function_ref<Scalars(Scalar, ArrayRef<Scalar>)> body) {
    return t.map(operands, results, [&](ArrayRef<Scalar> in) {
      Scalar grad = inverse ? in[0] * *inverse : in[0];
      Scalars next = body(grad, in.drop_front());
      for (size_t i = 0; ok && i < next.size(); ++i)
        next[i] = ok->pick(next[i], in[i + 1]);
      return next;
    });
  }
};
} // namespace

namespace {
/// The numbers of Adam: doubles, or Scalars of a group.
template <typename Number> struct AdamNumbers {
  Number beta1, rest1, beta2, rest2, eps, decay;
};
} // namespace

/// With `inGradient` the decay is in the gradient.
template <typename Adaptor, typename Number>
static SmallVector<Value> lowerAdam(Update &update, Adaptor adaptor,
                                    const AdamNumbers<Number> &n,
                                    bool inGradient) {
  Scalar correction1 = update.number(adaptor.getBc(), 0),
         correction2 = update.number(adaptor.getBc(), 1);
  return update.build([&](Scalar g, ArrayRef<Scalar> old) -> Scalars {
    if (inGradient)
      g = g + n.decay * old[0];
    Scalar m = n.beta1 * old[1] + n.rest1 * g;
    Scalar v = n.beta2 * old[2] + n.rest2 * g * g;
    Scalar kept = inGradient ? old[0] : old[0] * (1 - update.lr * n.decay);
    Scalar p = kept - update.lr * (m * correction1) /
                          (sqrt(v * correction2) + n.eps);
    return {p, m, v};
  });
}
/// adam_step or adam_l2_step.
template <typename Op>
static SmallVector<Value> lowerAdamStep(TensorBuilder &t, Op op,
                                        typename Op::Adaptor adaptor,
                                        bool inGradient) {
  double beta1 = op.getBeta1().convertToDouble(),
         beta2 = op.getBeta2().convertToDouble();
  AdamNumbers<double> numbers{beta1, 1 - beta1, beta2, 1 - beta2,
                              op.getEps().convertToDouble(),
                              op.getWeightDecay().convertToDouble()};
  Update update(t, adaptor, {adaptor.getP(), adaptor.getM(), adaptor.getV()},
                adaptor.getLr());
  return lowerAdam(update, adaptor, numbers, inGradient);
}
static SmallVector<Value> lower(TensorBuilder &t, AdamStepOp op,
                                AdamStepOp::Adaptor adaptor) {
  return lowerAdamStep(t, op, adaptor, false);
}
static SmallVector<Value> lower(TensorBuilder &t, AdamL2StepOp op,
                                AdamL2StepOp::Adaptor adaptor) {
  return lowerAdamStep(t, op, adaptor, true);
}
static SmallVector<Value> lower(TensorBuilder &t, AdamGroupStepOp op,
                                AdamGroupStepOp::Adaptor adaptor) {
  Update update(t, adaptor, {adaptor.getP(), adaptor.getM(), adaptor.getV()},
                adaptor.getGroup());
  auto number = [&](int64_t i) { return update.number(adaptor.getGroup(), i); };
  Scalar rest1 = number(2), rest2 = number(3);
  AdamNumbers<Scalar> numbers{1 - rest1, rest1,     1 - rest2,
                              rest2,     number(4), number(1)};
  return lowerAdam(update, adaptor, numbers, op.getL2());
}

template <typename Op, typename Adaptor, typename Number>
static SmallVector<Value> lowerSgd(TensorBuilder &t, Op op, Adaptor adaptor,
                                   Value rate,
                                   function_ref<Number(Update &)> getMomentum,
                                   function_ref<Number(Update &)> getDecay) {
  SmallVector<Value> trained = {adaptor.getP()};
  if (adaptor.getM())
    trained.push_back(adaptor.getM());
  Update update(t, adaptor, trained, rate);
  Number momentum = getMomentum(update), decay = getDecay(update);
  auto results = update.build([&](Scalar g, ArrayRef<Scalar> old) -> Scalars {
    Scalar d = g + decay * old[0];
    if (old.size() == 1)
      return {old[0] - update.lr * d};
    Scalar m = momentum * old[1] + d;
    Scalar along = op.getNesterov() ? d + momentum * m : m;
    return {old[0] - update.lr * along, m};
  });
  results.resize(2); // null where absent
  return results;
}
static SmallVector<Value> lower(TensorBuilder &t, SgdStepOp op,
                                SgdStepOp::Adaptor adaptor) {
  return lowerSgd<SgdStepOp, SgdStepOp::Adaptor, double>(
      t, op, adaptor, adaptor.getLr(),
      [&](Update &) { return op.getMomentum().convertToDouble(); },
      [&](Update &) { return op.getWeightDecay().convertToDouble(); });
}
static SmallVector<Value> lower(TensorBuilder &t, SgdGroupStepOp op,
                                SgdGroupStepOp::Adaptor adaptor) {
  return lowerSgd<SgdGroupStepOp, SgdGroupStepOp::Adaptor, Scalar>(
      t, op, adaptor, adaptor.getGroup(),
      [&](Update &u) { return u.number(adaptor.getGroup(), 2); },
      [&](Update &u) { return u.number(adaptor.getGroup(), 1); });
}

static SmallVector<Value> lower(TensorBuilder &t, LionStepOp op,
                                LionStepOp::Adaptor adaptor) {
  double beta1 = op.getBeta1().convertToDouble(),
         beta2 = op.getBeta2().convertToDouble(),
         decay = op.getWeightDecay().convertToDouble();
  Update update(t, adaptor, {adaptor.getP(), adaptor.getM()},
                adaptor.getLr());
  return update.build([&](Scalar g, ArrayRef<Scalar> old) -> Scalars {
    Scalar direction = sign(beta1 * old[1] + (1 - beta1) * g);
    Scalar decayed = old[0] * (1 - update.lr * decay);
    return {decayed - update.lr * direction, beta2 * old[1] + (1 - beta2) * g};
  });
}

void addOptimizers(RewritePatternSet &patterns) {
  addLowerings<AdamStepOp, AdamL2StepOp, AdamGroupStepOp, SgdStepOp,
               SgdGroupStepOp, LionStepOp>(patterns);
}

} // namespace aicf::linalg_bridge
