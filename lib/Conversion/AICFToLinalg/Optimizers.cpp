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
/// which are read once, in front of the loops.
struct Update {
  TensorBuilder &t;
  Type compute;
  SmallVector<Read> operands;
  SmallVector<RankedTensorType> results;
  Scalar lr;
  std::optional<Scalar> inverse, ok;

  template <typename Adaptor>
  Update(TensorBuilder &t, Adaptor adaptor, ValueRange trained)
      : t(t), compute(t.computeType(adaptor.getP().getType())),
        operands{TensorBuilder::all(adaptor.getG())},
        lr(scalar(adaptor.getLr())) {
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

/// adam_step, or with `inGradient` adam_l2_step.
template <typename Op>
static SmallVector<Value> lowerAdam(TensorBuilder &t, Op op,
                                    typename Op::Adaptor adaptor,
                                    bool inGradient) {
  double beta1 = op.getBeta1().convertToDouble(),
         beta2 = op.getBeta2().convertToDouble(),
         eps = op.getEps().convertToDouble(),
         decay = op.getWeightDecay().convertToDouble();
  Update update(t, adaptor, {adaptor.getP(), adaptor.getM(), adaptor.getV()});
  auto correction = [&](int64_t i) {
    Value at = arith::ConstantIndexOp::create(t.builder, t.loc, i);
    return update.scalar(adaptor.getBc(), at);
  };
  Scalar correction1 = correction(0), correction2 = correction(1);
  return update.build([&](Scalar g, ArrayRef<Scalar> old) -> Scalars {
    if (inGradient)
      g = g + decay * old[0];
    Scalar m = beta1 * old[1] + (1 - beta1) * g;
    Scalar v = beta2 * old[2] + (1 - beta2) * g * g;
    Scalar kept = inGradient ? old[0] : old[0] * (1 - update.lr * decay);
    Scalar p =
        kept - update.lr * (m * correction1) / (sqrt(v * correction2) + eps);
    return {p, m, v};
  });
}
static SmallVector<Value> lower(TensorBuilder &t, AdamStepOp op,
                                AdamStepOp::Adaptor adaptor) {
  return lowerAdam(t, op, adaptor, false);
}
static SmallVector<Value> lower(TensorBuilder &t, AdamL2StepOp op,
                                AdamL2StepOp::Adaptor adaptor) {
  return lowerAdam(t, op, adaptor, true);
}

static SmallVector<Value> lower(TensorBuilder &t, SgdStepOp op,
                                SgdStepOp::Adaptor adaptor) {
  double momentum = op.getMomentum().convertToDouble(),
         decay = op.getWeightDecay().convertToDouble();
  SmallVector<Value> trained = {adaptor.getP()};
  if (adaptor.getM())
    trained.push_back(adaptor.getM());
  Update update(t, adaptor, trained);
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

static SmallVector<Value> lower(TensorBuilder &t, LionStepOp op,
                                LionStepOp::Adaptor adaptor) {
  double beta1 = op.getBeta1().convertToDouble(),
         beta2 = op.getBeta2().convertToDouble(),
         decay = op.getWeightDecay().convertToDouble();
  Update update(t, adaptor, {adaptor.getP(), adaptor.getM()});
  return update.build([&](Scalar g, ArrayRef<Scalar> old) -> Scalars {
    Scalar direction = sign(beta1 * old[1] + (1 - beta1) * g);
    Scalar decayed = old[0] * (1 - update.lr * decay);
    return {decayed - update.lr * direction, beta2 * old[1] + (1 - beta2) * g};
  });
}

void addOptimizers(RewritePatternSet &patterns) {
  addLowerings<AdamStepOp, AdamL2StepOp, SgdStepOp, LionStepOp>(patterns);
}

} // namespace aicf::linalg_bridge
