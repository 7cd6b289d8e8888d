//===- Losses.cpp - losses and their gradients to linalg ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The formulas are those of the records' texts. They are summed in f64.
//===----------------------------------------------------------------------===//

#include "lib/Conversion/AICFToLinalg/Tensors.h"

#include <limits>

namespace aicf::linalg_bridge {
/// The mean of `term` over all elements, as `result`'s type.
static Value meanOf(TensorBuilder &t, ArrayRef<Read> operands, Value result,
                    function_ref<Scalar(ArrayRef<Scalar>)> term) {
  RankedTensorType type = operands[0].tensor.getType();
  Tensor sum = t.reduce(
      operands, type.getShape(), {}, 0,
      [&](Scalar sum, ArrayRef<Scalar> in) { return sum + term(in); },
      /*inDouble=*/true);
  return t.map({TensorBuilder::all(sum)}, typeOf(result),
               [&](ArrayRef<Scalar> in) {
                 return in[0] / double(type.getNumElements());
               });
}

template <typename Op>
static SmallVector<Value> lossOf(TensorBuilder &t, Op op,
                                 typename Op::Adaptor adaptor,
                                 function_ref<Scalar(Scalar, Scalar)> term) {
  return {meanOf(t,
                 {TensorBuilder::all(adaptor.getPred()),
                  TensorBuilder::all(adaptor.getTarget())},
                 op.getLoss(),
                 [&](ArrayRef<Scalar> in) { return term(in[0], in[1]); })};
}

/// scale · slope [· loss_scale]; `numerator` / elements unless it is given.
template <typename Op>
static SmallVector<Value> gradOf(TensorBuilder &t, Op op,
                                 typename Op::Adaptor adaptor, double numerator,
                                 function_ref<Scalar(Scalar, Scalar)> slope) {
  RankedTensorType type = typeOf(adaptor.getPred());
  double scale = op.getScale() ? op.getScale()->convertToDouble()
                               : numerator / double(type.getNumElements());
  SmallVector<Read> in = {TensorBuilder::all(adaptor.getPred()),
                          TensorBuilder::all(adaptor.getTarget())};
  if (adaptor.getLossScale())
    in.push_back(TensorBuilder::one(adaptor.getLossScale()));
  return {t.map(in, typeOf(op.getDpred()), [&](ArrayRef<Scalar> in) {
    Scalar factor = in.size() > 2 ? scale * in[2] : in[0].constant(scale);
    return factor * slope(in[0], in[1]);
  })};
}

static SmallVector<Value> lower(TensorBuilder &t, MseLossOp op,
                                MseLossOp::Adaptor adaptor) {
  return lossOf(t, op, adaptor, [](Scalar pred, Scalar target) {
    Scalar d = pred - target;
    return d * d;
  });
}
static SmallVector<Value> lower(TensorBuilder &t, MseGradOp op,
                                MseGradOp::Adaptor adaptor) {
  return gradOf(t, op, adaptor, 2, sub);
}
static SmallVector<Value> lower(TensorBuilder &t, L1LossOp op,
                                L1LossOp::Adaptor adaptor) {
  return lossOf(t, op, adaptor,
                [](Scalar pred, Scalar target) { return abs(pred - target); });
}
static SmallVector<Value> lower(TensorBuilder &t, L1GradOp op,
                                L1GradOp::Adaptor adaptor) {
  return gradOf(t, op, adaptor, 1,
                [](Scalar pred, Scalar target) { return sign(pred - target); });
}
static SmallVector<Value> lower(TensorBuilder &t, BceWithLogitsOp op,
                                BceWithLogitsOp::Adaptor adaptor) {
  return lossOf(t, op, adaptor, [](Scalar pred, Scalar target) {
    return maximum(pred, pred.constant(0)) - pred * target +
           log1p(exp(0 - abs(pred)));
  });
}
static SmallVector<Value> lower(TensorBuilder &t, BceWithLogitsGradOp op,
                                BceWithLogitsGradOp::Adaptor adaptor) {
  return gradOf(t, op, adaptor, 1, [](Scalar pred, Scalar target) {
    return 1 / (exp(0 - pred) + 1) - target;
  });
}

static SmallVector<Value> lower(TensorBuilder &t, MeanOp op,
                                MeanOp::Adaptor adaptor) {
  return {meanOf(t, {TensorBuilder::all(adaptor.getX())}, op.getY(),
                 [](ArrayRef<Scalar> in) { return in[0]; })};
}

static SmallVector<Value> lower(TensorBuilder &t, CountEqualOp op,
                                CountEqualOp::Adaptor adaptor) {
  return {t.reduce(
      {TensorBuilder::all(adaptor.getA()), TensorBuilder::all(adaptor.getB())},
      typeOf(adaptor.getA()).getShape(), {}, t.filled(typeOf(op.getCount()), 0),
      [&](Scalar count, ArrayRef<Scalar> in) {
        Type i64 = t.builder.getI64Type(); // one may be i32
        return (in[0].to(i64) == in[1].to(i64)).pick(count + 1, count);
      })};
}

namespace {
/// softmax_cross_entropy and its gradient, row by row.
struct CrossEntropy {
  TensorBuilder &t;
  Read logits, labels;
  RankedTensorType type;
  int64_t rank;
  double smoothing;
  int64_t ignored;
  Tensor most, sum; ///< of each row: its largest, Σ exp(x - most)

  template <typename Op>
  CrossEntropy(TensorBuilder &t, Op op, typename Op::Adaptor adaptor)
      : t(t), logits(TensorBuilder::all(adaptor.getLogits())),
        labels(TensorBuilder::rows(adaptor.getLabels(),
                                   logits.tensor.getType().getRank())),
        type(logits.tensor.getType()), rank(type.getRank()),
        smoothing(op.getLabelSmoothing().convertToDouble()),
        ignored(int64_t(op.getIgnoreIndex())) {
    most = t.reduce(
        {logits}, type.getShape(), labels.loops,
        -std::numeric_limits<double>::infinity(),
        [](Scalar most, ArrayRef<Scalar> in) { return maximum(most, in[0]); });
    sum = t.reduce({logits, row(most)}, type.getShape(), labels.loops, 0,
                   [](Scalar sum, ArrayRef<Scalar> in) {
                     return sum + exp(in[0] - in[1]);
                   });
  }

  double classes() const { return double(type.getShape().back()); }
  Read row(Value tensor) const { return TensorBuilder::rows(tensor, rank); }
  Scalar isIgnored(Scalar label) const {
    Type wide = t.builder.getI64Type();
    return label.to(wide) == label.to(wide).integer(ignored);
  }
  /// `value`; of an ignored row 0, of one whose label is not a class NaN.
  Scalar ofRow(Scalar label, Scalar value) const {
    Scalar isClass = (label > -1) & (label < classes());
    Scalar nan = value.constant(std::numeric_limits<double>::quiet_NaN());
    return isIgnored(label).pick(value.constant(0), isClass.pick(value, nan));
  }
  /// How many rows count, f64.
  Tensor count() const {
    return t.reduce(
        {TensorBuilder::all(labels.tensor)}, labels.tensor.getType().getShape(),
        {}, 0,
        [&](Scalar sum, ArrayRef<Scalar> in) {
          return isIgnored(in[0]).pick(sum, sum + 1);
        },
        /*inDouble=*/true);
  }
};
} // namespace

static SmallVector<Value> lower(TensorBuilder &t, SoftmaxCrossEntropyOp op,
                                SoftmaxCrossEntropyOp::Adaptor adaptor) {
  CrossEntropy c(t, op, adaptor);
  // A masked class is infinite, but 0 times it nothing: a sum of what is
  // picked.
  Tensor rows = t.reduce(
      {c.logits, c.row(c.most), c.row(c.sum), c.labels}, c.type.getShape(),
      c.labels.loops, 0, [&](Scalar sum, ArrayRef<Scalar> in) {
        Scalar minusLog = log(in[2]) - (in[0] - in[1]);
        Scalar isLabel = t.index(c.rank - 1, in[3].type()) == in[3];
        Scalar share =
            isLabel.pick((1 - c.smoothing) * minusLog, minusLog.constant(0));
        if (c.smoothing > 0)
          share = share + c.smoothing / c.classes() * minusLog;
        return sum + share;
      });
  Read label = TensorBuilder::all(c.labels.tensor);
  Tensor total = t.reduce(
      {TensorBuilder::all(rows), label}, rows.getType().getShape(), {}, 0,
      [&](Scalar sum, ArrayRef<Scalar> in) {
        return sum + c.ofRow(in[1], in[0]);
      },
      /*inDouble=*/true);
  return {t.map({TensorBuilder::all(total), TensorBuilder::all(c.count())},
                typeOf(op.getLoss()),
                [](ArrayRef<Scalar> in) { return in[0] / in[1]; })};
}

static SmallVector<Value> lower(TensorBuilder &t, SoftmaxCrossEntropyGradOp op,
                                SoftmaxCrossEntropyGradOp::Adaptor adaptor) {
  CrossEntropy c(t, op, adaptor);
  Type compute = c.sum.getType().getElementType();
  SmallVector<Read> in = {c.logits, c.row(c.most), c.row(c.sum), c.labels,
                          TensorBuilder::one(t.convert(c.count(), compute))};
  if (adaptor.getLossScale())
    in.push_back(TensorBuilder::one(adaptor.getLossScale()));
  return {t.map(in, c.type, [&](ArrayRef<Scalar> in) {
    Scalar isLabel = t.index(c.rank - 1, in[3].type()) == in[3];
    double rest = c.smoothing / c.classes();
    Scalar target = isLabel.pick(in[0].constant(1 - c.smoothing + rest),
                                 in[0].constant(rest));
    Scalar factor = in.size() > 5 ? in[5] / in[4] : 1 / in[4];
    return c.ofRow(in[3], factor * (exp(in[0] - in[1]) / in[2] - target));
  })};
}

void addLosses(RewritePatternSet &patterns) {
  addLowerings<MseLossOp, MseGradOp, L1LossOp, L1GradOp, BceWithLogitsOp,
               BceWithLogitsGradOp, MeanOp, CountEqualOp, SoftmaxCrossEntropyOp,
               SoftmaxCrossEntropyGradOp>(patterns);
}

} // namespace aicf::linalg_bridge
