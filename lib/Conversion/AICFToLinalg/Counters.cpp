//===- Counters.cpp - counters, loss scale, guards to linalg --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The formulas are those of the records' texts; what they compute in f64 is
// computed in f64 here.
//===----------------------------------------------------------------------===//

#include "lib/Conversion/AICFToLinalg/Tensors.h"

#include <cmath>
#include <limits>

namespace aicf::linalg_bridge {

/// `combine` over the elements of all operands, from `init` on.
static Tensor overAll(TensorBuilder &t, ValueRange operands, Tensor init,
                      TensorBuilder::Combine combine) {
  for (Value operand : operands)
    init = t.reduce({TensorBuilder::all(operand)}, typeOf(operand).getShape(),
                    {}, init, combine);
  return init;
}

static SmallVector<Value> lower(TensorBuilder &t, AllFiniteOp op,
                                AllFiniteOp::Adaptor adaptor) {
  Tensor yes = t.filled(typeOf(op.getOk()), 1);
  return {
      overAll(t, adaptor.getGrads(), yes, [](Scalar ok, ArrayRef<Scalar> in) {
        double most = std::numeric_limits<double>::infinity();
        return (abs(in[0]) < most).pick(ok, ok.constant(0));
      })};
}

static SmallVector<Value> lower(TensorBuilder &t, GlobalNormOp op,
                                GlobalNormOp::Adaptor adaptor) {
  RankedTensorType type = typeOf(op.getNorm());
  Tensor zero = t.filled(ofElement(type, t.builder.getF64Type()), 0);
  Tensor squares =
      overAll(t, adaptor.getGrads(), zero, [](Scalar sum, ArrayRef<Scalar> in) {
        return sum + in[0] * in[0];
      });
  return {t.map({TensorBuilder::all(squares)}, type,
                [](ArrayRef<Scalar> in) { return sqrt(in[0]); })};
}

static SmallVector<Value> lower(TensorBuilder &t, ClipFactorOp op,
                                ClipFactorOp::Adaptor adaptor) {
  SmallVector<Read> in = {TensorBuilder::one(adaptor.getNorm())};
  if (adaptor.getInvScale())
    in.push_back(TensorBuilder::one(adaptor.getInvScale()));
  double most = op.getMaxNorm().convertToDouble();
  return {t.map(in, typeOf(op.getFactor()), [&](ArrayRef<Scalar> in) {
    Scalar inverse = in.size() > 1 ? in[1] : in[0].constant(1);
    Scalar clip = most / (in[0] * inverse + 1e-6);
    return inverse * minimum(clip, clip.constant(1));
  })};
}

static SmallVector<Value> lower(TensorBuilder &t, LossScaleUpdateOp op,
                                LossScaleUpdateOp::Adaptor adaptor) {
  double growth = op.getGrowthFactor().convertToDouble(),
         backoff = op.getBackoffFactor().convertToDouble();
  int64_t interval = op.getGrowthInterval();
  return t.map(
      {TensorBuilder::one(adaptor.getScale()),
       TensorBuilder::one(adaptor.getStreak()),
       TensorBuilder::one(adaptor.getOk())},
      {typeOf(op.getScaleOut()), typeOf(op.getStreakOut())},
      [&](ArrayRef<Scalar> in) -> Scalars {
        Scalar scale = in[0], streak = in[1] + 1;
        Scalar isOk = in[2] != in[2].constant(0);
        Scalar grows = isOk & (streak == streak.integer(interval));
        Scalar next =
            isOk.pick(grows.pick(scale * growth, scale), scale * backoff);
        Scalar least = next.constant(0x1p-24), most = next.constant(0x1p126);
        next = (next > least).pick((next > most).pick(most, next), least);
        Scalar zero = streak.constant(0);
        return {next, isOk.pick(grows.pick(zero, streak), zero)};
      });
}

static SmallVector<Value> lower(TensorBuilder &t, StepIncOp op,
                                StepIncOp::Adaptor adaptor) {
  SmallVector<Read> in = {TensorBuilder::one(adaptor.getStep())};
  if (adaptor.getOk())
    in.push_back(TensorBuilder::one(adaptor.getOk()));
  return {t.map(in, typeOf(op.getStepOut()), [&](ArrayRef<Scalar> in) {
    unsigned bits = in[0].type().getIntOrFloatBitWidth();
    Scalar last = in[0].integer(llvm::maxIntN(bits));
    Scalar next = (in[0] == last).pick(in[0], in[0] + 1);
    return in.size() < 2 ? next
                         : (in[1] != in[1].constant(0)).pick(next, in[0]);
  })};
}

static SmallVector<Value> lower(TensorBuilder &t, BiasCorrOp op,
                                BiasCorrOp::Adaptor adaptor) {
  double logs[2] = {std::log(op.getBeta1().convertToDouble()),
                    std::log(op.getBeta2().convertToDouble())};
  return {t.map({TensorBuilder::one(adaptor.getStep())}, typeOf(op.getBc()),
                [&](ArrayRef<Scalar> in) {
                  Scalar steps = in[0].to(t.builder.getF64Type());
                  Scalar i = t.index(0, t.builder.getI64Type());
                  Scalar logBeta = (i == i.constant(0))
                                       .pick(steps.constant(logs[0]),
                                             steps.constant(logs[1]));
                  return 1 / (0 - expm1(steps * logBeta));
                })};
}

static SmallVector<Value> lower(TensorBuilder &t, GroupBiasCorrOp op,
                                GroupBiasCorrOp::Adaptor adaptor) {
  Type f64 = t.builder.getF64Type();
  auto rest = [&](int64_t i) {
    Value at = arith::ConstantIndexOp::create(t.builder, t.loc, i);
    return t.read(cast<Tensor>(adaptor.getGroup()), at).to(f64);
  };
  Scalar rest1 = rest(2), rest2 = rest(3);
  return {t.map({TensorBuilder::one(adaptor.getStep())}, typeOf(op.getBc()),
                [&](ArrayRef<Scalar> in) {
                  Scalar i = t.index(0, t.builder.getI64Type());
                  Scalar own = (i == i.constant(0)).pick(rest1, rest2);
                  Scalar logBeta = log1p(0 - own);
                  return 1 / (0 - expm1(in[0].to(f64) * logBeta));
                })};
}

static SmallVector<Value> lower(TensorBuilder &t, LearningRateOp op,
                                LearningRateOp::Adaptor adaptor) {
  double start = op.getStart().convertToDouble(),
         peak = op.getPeak().convertToDouble(),
         end = op.getEnd().convertToDouble(), warmup = double(op.getWarmup()),
         steps = double(op.getSteps());
  return {t.map(
      {TensorBuilder::one(adaptor.getStep())}, typeOf(op.getLr()),
      [&](ArrayRef<Scalar> in) {
        Scalar at = in[0].to(t.builder.getF64Type());
        Scalar lr = at.constant(peak);
        if (steps > 0) {
          Scalar f = (at - warmup) / (steps - warmup);
          constexpr double kPi = 3.141592653589793;
          lr = op.getCosine() ? (peak - end) * ((cos(kPi * f) + 1) / 2) + end
                              : (end - peak) * f + peak;
          lr = (at < steps).pick(lr, at.constant(end));
        }
        if (warmup > 0)
          lr = (at > warmup).pick(lr, (peak - start) * (at / warmup) + start);
        return lr;
      })};
}

static SmallVector<Value> lower(TensorBuilder &t, StepDecayOp op,
                                StepDecayOp::Adaptor adaptor) {
  return {t.map({TensorBuilder::one(adaptor.getStep())}, typeOf(op.getLr()),
                [&](ArrayRef<Scalar> in) {
                  Scalar past = in[0].to(t.builder.getI64Type());
                  past = maximum(past, past.integer(1)) - past.integer(1);
                  Scalar whole = past - past % past.integer(op.getEvery());
                  Scalar stairs =
                      whole.to(t.builder.getF64Type()) / double(op.getEvery());
                  return op.getStart().convertToDouble() *
                         pow(op.getFactor().convertToDouble(), stairs);
                })};
}

static SmallVector<Value> lower(TensorBuilder &t, PolynomialDecayOp op,
                                PolynomialDecayOp::Adaptor adaptor) {
  double start = op.getStart().convertToDouble(),
         end = op.getEnd().convertToDouble(), steps = double(op.getSteps());
  return {t.map(
      {TensorBuilder::one(adaptor.getStep())}, typeOf(op.getLr()),
      [&](ArrayRef<Scalar> in) {
        Scalar at = in[0].to(t.builder.getF64Type());
        at = minimum(maximum(at, at.constant(0)), at.constant(steps));
        Scalar left = 1.0 - at / steps;
        return (start - end) * pow(left, op.getPower().convertToDouble()) + end;
      })};
}

static SmallVector<Value> lower(TensorBuilder &t, RateTableOp op,
                                RateTableOp::Adaptor adaptor) {
  auto table = cast<Tensor>(adaptor.getTable());
  int64_t rows = table.getType().getDimSize(0);
  return {t.map({TensorBuilder::one(adaptor.getStep())}, typeOf(op.getLr()),
                [&](ArrayRef<Scalar> in) {
                  Scalar row = in[0].to(t.builder.getI64Type());
                  row =
                      minimum(maximum(row, row.integer(1)), row.integer(rows));
                  row = row - row.integer(1);
                  Value at = arith::IndexCastOp::create(
                      t.builder, t.loc, t.builder.getIndexType(), row.get());
                  return t.read(table, {at});
                })};
}

void addCounters(RewritePatternSet &patterns) {
  addLowerings<AllFiniteOp, GlobalNormOp, ClipFactorOp, LossScaleUpdateOp,
               StepIncOp, BiasCorrOp, GroupBiasCorrOp, LearningRateOp, StepDecayOp,
               PolynomialDecayOp, RateTableOp>(patterns);
}

} // namespace aicf::linalg_bridge
