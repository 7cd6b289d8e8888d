//===- SampleCalls.cpp - legal calls of every kind ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Common/SampleCalls.h"
#include "aicf/OpCall.h"

#include <algorithm>

namespace aicf::test {
namespace {

TensorDesc f(std::vector<int64_t> shape) { return {DType::F32, shape}; }
TensorDesc half(std::vector<int64_t> shape) { return {DType::F16, shape}; }
TensorDesc i32() { return {DType::I32, {}}; }

Sample gemm(int64_t m, int64_t n, int transA, int transB) {
  int64_t k = (m + n) / 2 + 1;
  return {{transA ? f({k, m}) : f({m, k}), transB ? f({n, k}) : f({k, n})},
          {f({m, n})},
          encodeAttrs(GemmAttrs{transA, transB})};
}

Sample optimizer(OpKind kind, int64_t m, int64_t n, bool hasMoment,
                 bool hasOptional) {
  TensorDesc p = f({m, n});
  Sample s;
  if (kind == OpKind::AdamStep) {
    s = {{p, p, p, p, f({2}), f({})},
         {p, p, p},
         encodeAttrs(AdamStepAttrs{0.9, 0.999, 1e-8, 0.01})};
  } else if (kind == OpKind::LionStep) {
    s = {{p, p, p, f({})}, {p, p}, encodeAttrs(LionStepAttrs{0.9, 0.99, 0.01})};
  } else {
    TensorDesc moment = hasMoment ? p : TensorDesc::absent();
    s = {{p, p, f({}), moment},
         {p, moment},
         encodeAttrs(SgdStepAttrs{hasMoment ? 0.9 : 0, 0.1, hasMoment})};
  }
  if (hasOptional) {
    s.ins.push_back(f({}));
    s.ins.push_back(i32());
  }
  return s;
}

/// One of the means over pred and target, and its gradient.
Sample lossGrad(int64_t m, int64_t n, double scale, bool hasLossScale) {
  static_assert(sizeof(L1GradAttrs) == sizeof(MseGradAttrs) &&
                    sizeof(BceWithLogitsGradAttrs) == sizeof(MseGradAttrs),
                "each has a scale");
  Sample s{
      {f({m, n}), f({m, n})}, {f({m, n})}, encodeAttrs(MseGradAttrs{scale})};
  if (hasLossScale)
    s.ins.push_back(f({}));
  return s;
}

/// A label a row; goldens.py makes integers below 8, all of them classes.
Sample crossEntropy(int64_t m, int64_t n, double smoothing) {
  return {{f({m, n + 8}), {DType::I32, {m}}},
          {f({})},
          encodeAttrs(SoftmaxCrossEntropyAttrs{smoothing, -100})};
}
Sample crossEntropyGrad(int64_t m, int64_t n, double smoothing,
                        bool hasLossScale) {
  Sample s{{f({m, n + 8}), {DType::I32, {m}}},
           {f({m, n + 8})},
           encodeAttrs(SoftmaxCrossEntropyGradAttrs{smoothing, -100})};
  if (hasLossScale)
    s.ins.push_back(f({}));
  return s;
}
Sample halfLogits(Sample s) {
  s.ins[0].dtype = DType::F16;
  if (s.outs[0].rank > 0)
    s.outs[0].dtype = DType::F16;
  return s;
}

/// Operands and result of one shape and type, as most pointwise functions have:
/// the record says all that a sample needs.
KindRow uniformRow(OpKind kind) {
  auto make = [kind](int64_t m, int64_t n) {
    Sample sample;
    sample.ins.assign(infoOf(kind).numOperands, f({m, n}));
    sample.outs = {f({m, n})};
    return sample;
  };
  return {std::string(nameOf(kind)), kind, make};
}

std::vector<KindRow> makeRows() {
  std::vector<KindRow> all = {
      {"gemm NN", OpKind::Gemm,
       [](auto m, auto n) { return gemm(m, n, 0, 0); }},
      {"gemm NT", OpKind::Gemm,
       [](auto m, auto n) { return gemm(m, n, 0, 1); }},
      {"gemm TN", OpKind::Gemm,
       [](auto m, auto n) { return gemm(m, n, 1, 0); }},
      {"gemm TT", OpKind::Gemm,
       [](auto m, auto n) { return gemm(m, n, 1, 1); }},
      {"bias_add last", OpKind::BiasAdd,
       [](auto m, auto n) {
         return Sample{
             {f({m, n}), f({n})}, {f({m, n})}, encodeAttrs(BiasAddAttrs{-1})};
       }},
      {"bias_add first", OpKind::BiasAdd,
       [](auto m, auto n) {
         return Sample{
             {f({m, n}), f({m})}, {f({m, n})}, encodeAttrs(BiasAddAttrs{0})};
       }},
      {"bias_add middle", OpKind::BiasAdd,
       [](auto m, auto n) {
         return Sample{{f({2, m, n}), f({m})},
                       {f({2, m, n})},
                       encodeAttrs(BiasAddAttrs{1})};
       }},
      {"bias_add rows", OpKind::BiasAdd,
       [](auto m, auto n) {
         return Sample{{f({2, m, n}), f({n})},
                       {f({2, m, n})},
                       encodeAttrs(BiasAddAttrs{-1})};
       }},
      {"relu rows", OpKind::Relu,
       [](auto m, auto n) {
         return Sample{{f({2, m, n})}, {f({2, m, n})}, {}};
       }},
      {"relu_bwd rows", OpKind::ReluBwd,
       [](auto m, auto n) {
         return Sample{{f({2, m, n}), f({2, m, n})}, {f({2, m, n})}, {}};
       }},
      {"gelu erf", OpKind::Gelu,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({m, n})}, encodeAttrs(GeluAttrs{0})};
       }},
      {"gelu tanh", OpKind::Gelu,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({m, n})}, encodeAttrs(GeluAttrs{1})};
       }},
      {"gelu_bwd erf", OpKind::GeluBwd,
       [](auto m, auto n) {
         return Sample{
             {f({m, n}), f({m, n})}, {f({m, n})}, encodeAttrs(GeluBwdAttrs{0})};
       }},
      {"gelu_bwd tanh", OpKind::GeluBwd,
       [](auto m, auto n) {
         return Sample{
             {f({m, n}), f({m, n})}, {f({m, n})}, encodeAttrs(GeluBwdAttrs{1})};
       }},
      {"copy", OpKind::Copy,
       [](auto m, auto n) { return Sample{{f({m, n})}, {f({m, n})}, {}}; }},
      {"copy_saved", OpKind::CopySaved,
       [](auto m, auto n) { return Sample{{f({m, n})}, {f({m, n})}, {}}; }},
      {"mse_loss", OpKind::MseLoss,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({m, n})}, {f({})}, {}};
       }},
      {"mse_grad", OpKind::MseGrad,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({m, n})},
                       {f({m, n})},
                       encodeAttrs(MseGradAttrs{0.25})};
       }},
      {"mse_grad scaled", OpKind::MseGrad,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({m, n}), f({})},
                       {f({m, n})},
                       encodeAttrs(MseGradAttrs{2.0 / double(m * n)})};
       }},
      {"softmax_cross_entropy", OpKind::SoftmaxCrossEntropy,
       [](auto m, auto n) { return crossEntropy(m, n, 0); }, 1e-5, false, true},
      {"softmax_cross_entropy smoothed", OpKind::SoftmaxCrossEntropy,
       [](auto m, auto n) {
         Sample s = crossEntropy(m, n, 0.1);
         s.ins[0] = f({m, 1, n + 8}); // any rank
         s.ins[1] = {DType::I32, {m, 1}};
         return s;
       },
       1e-5, false, true},
      {"softmax_cross_entropy mixed", OpKind::SoftmaxCrossEntropy,
       [](auto m, auto n) { return halfLogits(crossEntropy(m, n, 0.1)); }, 1e-5,
       true},
      {"softmax_cross_entropy_grad", OpKind::SoftmaxCrossEntropyGrad,
       [](auto m, auto n) { return crossEntropyGrad(m, n, 0, false); }},
      {"softmax_cross_entropy_grad smoothed", OpKind::SoftmaxCrossEntropyGrad,
       [](auto m, auto n) { return crossEntropyGrad(m, n, 0.1, true); }, 1e-5,
       false, true},
      {"softmax_cross_entropy_grad mixed", OpKind::SoftmaxCrossEntropyGrad,
       [](auto m, auto n) {
         return halfLogits(crossEntropyGrad(m, n, 0.1, true));
       },
       1e-5, true},
      {"bce_with_logits", OpKind::BceWithLogits,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({m, n})}, {f({})}, {}};
       }},
      {"bce_with_logits mixed", OpKind::BceWithLogits,
       [](auto m, auto n) {
         return Sample{{half({m, n}), f({m, n})}, {f({})}, {}};
       },
       1e-5, true},
      {"bce_with_logits_grad", OpKind::BceWithLogitsGrad,
       [](auto m, auto n) { return lossGrad(m, n, 0.25, false); }},
      {"bce_with_logits_grad mixed", OpKind::BceWithLogitsGrad,
       [](auto m, auto n) {
         Sample s = lossGrad(m, n, 0.25, true);
         s.ins[0] = s.outs[0] = half({m, n});
         return s;
       },
       1e-5, true},
      {"l1_loss", OpKind::L1Loss,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({m, n})}, {f({})}, {}};
       }},
      {"l1_loss mixed", OpKind::L1Loss,
       [](auto m, auto n) {
         return Sample{{half({m, n}), f({m, n})}, {f({})}, {}};
       },
       1e-5, true},
      {"l1_grad", OpKind::L1Grad,
       [](auto m, auto n) { return lossGrad(m, n, 0.25, false); }},
      {"l1_grad mixed", OpKind::L1Grad,
       [](auto m, auto n) {
         Sample s = lossGrad(m, n, 0.25, true);
         s.ins[0] = s.outs[0] = half({m, n});
         return s;
       },
       1e-5, true},
      {"mean", OpKind::Mean,
       [](auto m, auto n) { return Sample{{f({m, n})}, {f({})}, {}}; }, 1e-5,
       false, true},
      {"mean mixed", OpKind::Mean,
       [](auto m, auto n) { return Sample{{half({m, n})}, {f({})}, {}}; }, 1e-5,
       true},
      {"count_equal", OpKind::CountEqual,
       [](auto m, auto n) {
         TensorDesc labels(DType::I32, {m, n});
         return Sample{{labels, labels}, {i32()}, {}};
       }},
      {"count_equal i64", OpKind::CountEqual,
       [](auto m, auto) {
         TensorDesc labels(DType::I64, {m});
         return Sample{{labels, labels}, {i32()}, {}};
       }},
      {"softmax", OpKind::Softmax,
       [](auto m, auto n) { return Sample{{f({m, n})}, {f({m, n})}, {}}; }},
      {"softmax rank 3", OpKind::Softmax,
       [](auto m, auto n) {
         return Sample{{f({2, m, n})}, {f({2, m, n})}, {}};
       }},
      {"softmax_bwd", OpKind::SoftmaxBwd,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({m, n})}, {f({m, n})}, {}};
       }},
      {"argmax", OpKind::Argmax,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {{DType::I32, {m}}}, {}};
       }},
      {"argmax rank 1", OpKind::Argmax,
       [](auto, auto n) { return Sample{{f({n})}, {i32()}, {}}; }},
      {"dropout", OpKind::Dropout,
       [](auto m, auto n) {
         return Sample{{f({m, n}), {DType::I64, {}}},
                       {f({m, n})},
                       encodeAttrs(DropoutAttrs{0.25, 7})};
       }},
      {"dropout i32", OpKind::Dropout,
       [](auto m, auto n) {
         return Sample{{f({m, n}), i32()},
                       {f({m, n})},
                       encodeAttrs(DropoutAttrs{0.75, -1})};
       }},
      {"reduce_sum 0", OpKind::ReduceSum,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({n})}, encodeAttrs(ReduceSumAttrs{0})};
       }},
      {"reduce_sum 1", OpKind::ReduceSum,
       [](auto m, auto n) {
         return Sample{
             {f({m, n})}, {f({m, 1})}, encodeAttrs(ReduceSumAttrs{1})};
       }},
      {"reduce_sum 1 dropped", OpKind::ReduceSum,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({m})}, encodeAttrs(ReduceSumAttrs{1})};
       }},
      {"reduce_sum middle", OpKind::ReduceSum,
       [](auto m, auto n) {
         return Sample{
             {f({3, m, n})}, {f({3, n})}, encodeAttrs(ReduceSumAttrs{1})};
       }},
      {"reduce_sum leading", OpKind::ReduceSum,
       [](auto m, auto n) {
         return Sample{
             {f({2, m, n})}, {f({n})}, encodeAttrs(ReduceSumAttrs{1})};
       }},
      {"reduce_sum all", OpKind::ReduceSum,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({})}, encodeAttrs(ReduceSumAttrs{1})};
       }},
      {"expand 0", OpKind::Expand,
       [](auto m, auto n) {
         return Sample{{f({n})}, {f({m, n})}, encodeAttrs(ExpandAttrs{0})};
       }},
      {"expand 1", OpKind::Expand,
       [](auto m, auto n) {
         return Sample{{f({m, 1})}, {f({m, n})}, encodeAttrs(ExpandAttrs{1})};
       }},
      {"expand middle", OpKind::Expand,
       [](auto m, auto n) {
         return Sample{
             {f({3, n})}, {f({3, m, n})}, encodeAttrs(ExpandAttrs{1})};
       }},
      {"expand leading", OpKind::Expand,
       [](auto m, auto n) {
         return Sample{{f({n})}, {f({3, m, n})}, encodeAttrs(ExpandAttrs{1})};
       }},
      {"expand all", OpKind::Expand,
       [](auto m, auto n) {
         return Sample{{f({})}, {f({m, n})}, encodeAttrs(ExpandAttrs{1})};
       }},
      {"layer_norm", OpKind::LayerNorm,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({n}), f({n})},
                       {f({m, n}), f({m}), f({m})},
                       encodeAttrs(LayerNormAttrs{1e-5})};
       },
       1e-4},
      {"layer_norm rank 1", OpKind::LayerNorm,
       [](auto, auto n) {
         return Sample{{f({n}), f({n}), f({n})},
                       {f({n}), f({}), f({})},
                       encodeAttrs(LayerNormAttrs{1e-5})};
       },
       1e-4},
      {"layer_norm_bwd", OpKind::LayerNormBwd,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({m, n}), f({n}), f({m}), f({m})},
                       {f({m, n}), f({n}), f({n})},
                       {}};
       },
       1e-4},
      {"all_finite", OpKind::AllFinite,
       [](auto m, auto n) { return Sample{{f({m, n}), f({n})}, {i32()}, {}}; }},
      {"global_norm", OpKind::GlobalNorm,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({n})}, {f({})}, {}};
       },
       1e-5, false, true},
      {"global_norm mixed", OpKind::GlobalNorm,
       [](auto m, auto n) {
         return Sample{{half({m, n}), half({n})}, {f({})}, {}};
       },
       1e-5, true},
      {"clip_factor", OpKind::ClipFactor,
       [](auto, auto) {
         return Sample{{f({})}, {f({})}, encodeAttrs(ClipFactorAttrs{0.5})};
       }},
      {"clip_factor scaled", OpKind::ClipFactor,
       [](auto, auto) {
         return Sample{
             {f({}), f({})}, {f({})}, encodeAttrs(ClipFactorAttrs{0.5})};
       }},
      {"loss_scale_update", OpKind::LossScaleUpdate,
       [](auto m, auto) {
         return Sample{{f({}), i32(), i32()},
                       {f({}), i32()},
                       encodeAttrs(LossScaleUpdateAttrs{2, 0.5, m})};
       }},
      {"step_inc", OpKind::StepInc,
       [](auto, auto) {
         return Sample{{{DType::I64, {}}}, {{DType::I64, {}}}, {}};
       }},
      {"step_inc i32 ok", OpKind::StepInc,
       [](auto, auto) { return Sample{{i32(), i32()}, {i32()}, {}}; }},
      {"bias_corr", OpKind::BiasCorr,
       [](auto, auto) {
         return Sample{{{DType::I64, {}}},
                       {f({2})},
                       encodeAttrs(BiasCorrAttrs{0.9, 0.999})};
       }},
      {"bias_corr i32", OpKind::BiasCorr,
       [](auto, auto) {
         return Sample{
             {i32()}, {f({2})}, encodeAttrs(BiasCorrAttrs{0.9, 0.999})};
       }},
      {"adam_step", OpKind::AdamStep,
       [](auto m, auto n) {
         return optimizer(OpKind::AdamStep, m, n, true, false);
       }},
      {"adam_step gated", OpKind::AdamStep,
       [](auto m, auto n) {
         return optimizer(OpKind::AdamStep, m, n, true, true);
       }},
      {"sgd_step", OpKind::SgdStep,
       [](auto m, auto n) {
         return optimizer(OpKind::SgdStep, m, n, false, false);
       }},
      {"sgd_step gated", OpKind::SgdStep,
       [](auto m, auto n) {
         return optimizer(OpKind::SgdStep, m, n, false, true);
       }},
      {"sgd_step nesterov gated", OpKind::SgdStep,
       [](auto m, auto n) {
         return optimizer(OpKind::SgdStep, m, n, true, true);
       }},
      {"lion_step", OpKind::LionStep,
       [](auto m, auto n) {
         return optimizer(OpKind::LionStep, m, n, true, false);
       }},
      {"lion_step gated", OpKind::LionStep,
       [](auto m, auto n) {
         return optimizer(OpKind::LionStep, m, n, true, true);
       }},
      {"lion_step mixed", OpKind::LionStep,
       [](auto m, auto n) {
         Sample s = optimizer(OpKind::LionStep, m, n, true, true);
         s.ins[1].dtype = DType::F16;
         return s;
       },
       1e-5, true},
      {"gemm rows NT", OpKind::Gemm,
       [](auto m, auto n) {
         return Sample{{f({2, m, 5}), f({n, 5})},
                       {f({2, m, n})},
                       encodeAttrs(GemmAttrs{0, 1})};
       }},
      {"gemm rows TN", OpKind::Gemm,
       [](auto m, auto n) {
         return Sample{{f({2, 5, m}), f({2, 5, n})},
                       {f({m, n})},
                       encodeAttrs(GemmAttrs{1, 0})};
       }},
      {"gemm to f32", OpKind::Gemm,
       [](auto m, auto n) {
         Sample s = gemm(m, n, 1, 0);
         s.ins[0].dtype = s.ins[1].dtype = DType::F16;
         return s;
       },
       1e-5, true},
      {"mse_loss mixed", OpKind::MseLoss,
       [](auto m, auto n) {
         return Sample{{half({m, n}), f({m, n})}, {f({})}, {}};
       },
       1e-5, true},
      {"mse_grad mixed", OpKind::MseGrad,
       [](auto m, auto n) {
         return Sample{{half({m, n}), f({m, n}), f({})},
                       {half({m, n})},
                       encodeAttrs(MseGradAttrs{0.25})};
       },
       1e-5, true},
      {"adam_step mixed", OpKind::AdamStep,
       [](auto m, auto n) {
         Sample s = optimizer(OpKind::AdamStep, m, n, true, true);
         s.ins[1].dtype = DType::F16;
         return s;
       },
       1e-5, true},
      {"sgd_step mixed", OpKind::SgdStep,
       [](auto m, auto n) {
         Sample s = optimizer(OpKind::SgdStep, m, n, true, false);
         s.ins[1].dtype = DType::F16;
         return s;
       },
       1e-5, true},
      {"scale", OpKind::Scale,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({m, n})}, encodeAttrs(ScaleAttrs{-1.5})};
       }},
      {"fill_like", OpKind::FillLike,
       [](auto m, auto n) {
         return Sample{
             {f({m, n})}, {f({m, n})}, encodeAttrs(FillLikeAttrs{0.25})};
       }},
      {"learning_rate linear", OpKind::LearningRate,
       [](auto, auto) {
         return Sample{
             {{DType::I64, {}}},
             {f({})},
             encodeAttrs(LearningRateAttrs{0.5, 0.5, 0.1, 0, 100, 0})};
       },
       1e-5, false, true},
      {"learning_rate warm-up", OpKind::LearningRate,
       [](auto, auto) {
         return Sample{
             {{DType::I64, {}}},
             {f({})},
             encodeAttrs(LearningRateAttrs{0.1, 0.5, 0.1, 100, 0, 0})};
       },
       1e-5, false, true},
      {"learning_rate cosine", OpKind::LearningRate,
       [](auto, auto) {
         return Sample{{{DType::I64, {}}},
                       {f({})},
                       encodeAttrs(LearningRateAttrs{0, 0.5, 0.1, 1, 9, 1})};
       },
       1e-5, false, true},
      {"learning_rate over", OpKind::LearningRate,
       [](auto, auto) {
         return Sample{{{DType::I32, {}}},
                       {f({})},
                       encodeAttrs(LearningRateAttrs{0.5, 0.5, 0.1, 0, 1, 1})};
       },
       1e-5, false, true},
      {"step_decay", OpKind::StepDecay,
       [](auto, auto) {
         return Sample{{{DType::I64, {}}},
                       {f({})},
                       encodeAttrs(StepDecayAttrs{0.5, 0.9, 2})};
       },
       1e-5, false, true},
      {"polynomial_decay", OpKind::PolynomialDecay,
       [](auto, auto) {
         return Sample{{{DType::I64, {}}},
                       {f({})},
                       encodeAttrs(PolynomialDecayAttrs{0.5, 0.1, 9, 2})};
       },
       1e-5, false, true},
      {"polynomial_decay flat", OpKind::PolynomialDecay,
       [](auto, auto) {
         return Sample{{{DType::I32, {}}},
                       {f({})},
                       encodeAttrs(PolynomialDecayAttrs{0.5, 0.1, 1, 0})};
       },
       1e-5, false, true},
      {"rate_table", OpKind::RateTable,
       [](auto m, auto n) {
         return Sample{{{DType::I64, {}}, f({m * n})}, {f({})}, {}};
       },
       1e-5, false, true},
      {"gather_rows", OpKind::GatherRows,
       [](auto m, auto n) {
         return Sample{{f({m, n}), {DType::I32, {2 * m}}}, {f({2 * m, n})}, {}};
       }},
      {"gather_rows i64", OpKind::GatherRows,
       [](auto m, auto n) {
         return Sample{{f({m, 3, n}), {DType::I64, {5}}}, {f({5, 3, n})}, {}};
       }},
      {"shuffle", OpKind::Shuffle,
       [](auto m, auto n) {
         return Sample{{{DType::I64, {}}},
                       {{DType::I32, {m}}},
                       encodeAttrs(ShuffleAttrs{n, 7})};
       }},
      {"shuffle i32", OpKind::Shuffle,
       [](auto m, auto n) {
         return Sample{
             {i32()}, {{DType::I64, {m}}}, encodeAttrs(ShuffleAttrs{m * n, 0})};
       }},
      {"record", OpKind::Record,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({n}), i32()}, {f({m, n})}, {}};
       }},
      {"record scalar", OpKind::Record,
       [](auto m, auto) {
         return Sample{{f({m}), f({}), {DType::I64, {}}}, {f({m})}, {}};
       }},
      {"cast", OpKind::Cast,
       [](auto m, auto n) { return Sample{{f({m, n})}, {half({m, n})}, {}}; },
       1e-5, true},
      {"cast wider", OpKind::Cast,
       [](auto m, auto n) { return Sample{{half({m, n})}, {f({m, n})}, {}}; },
       1e-5, true},
  };
  for (uint16_t k = 0; k < kNumOpKinds; ++k)
    if (isUniform(OpKind(k)) &&
        std::none_of(all.begin(), all.end(), [&](const KindRow &row) {
          return row.name == nameOf(OpKind(k));
        }))
      all.push_back(uniformRow(OpKind(k)));
  return all;
}

/// Made when first asked for: other tables are made of it before main().
const std::vector<KindRow> &rows() {
  static const std::vector<KindRow> all = makeRows();
  return all;
}

} // namespace

bool isUniform(OpKind kind) {
  const OpInfo &info = infoOf(kind);
  if (!isKnown(kind) || info.numConstraints + info.numFields != 0 ||
      info.numResults != 1 || info.results[0].rule != TypeRule::Like ||
      info.results[0].of != 0)
    return false;
  for (size_t i = 0; i < info.numOperands; ++i) {
    const OperandInfo &operand = info.operands[i];
    if (operand.presence != Presence::Plain ||
        (i == 0 ? operand.elements != Elements::Float : operand.like != 0))
      return false;
  }
  return true;
}

Span<const KindRow> sampleCallRows() { return rows(); }

const KindRow &sampleCallRow(std::string_view name) {
  return *std::find_if(rows().begin(), rows().end(),
                       [&](const KindRow &row) { return row.name == name; });
}

/// The slot of the record's operand `name`; of a variadic one "grad[1]".
static size_t slotOf(const OpInfo &info, size_t numSlots,
                     std::string_view name) {
  size_t bracket = name.find('['), index = 0;
  if (bracket != std::string_view::npos)
    index = size_t(name[bracket + 1] - '0');
  for (size_t i = 0; i < info.numOperands; ++i)
    if (info.operands[i].name == name.substr(0, bracket))
      return CallSlots::of(info, numSlots)->slotOf(i) + index;
  std::abort();
}

TensorDesc &Sample::in(std::string_view name) {
  return ins.at(slotOf(infoOf(kind), ins.size(), name));
}

TensorDesc &Sample::out(std::string_view name) {
  const OpInfo &info = infoOf(kind);
  for (size_t i = 0; i < outs.size(); ++i)
    if (info.results[i].name == name)
      return outs[i];
  std::abort();
}

std::string_view operandName(const Sample &sample, size_t operand) {
  if (!sample.body) {
    const OpInfo &info = infoOf(sample.kind);
    CallSlots slots = *CallSlots::of(info, sample.ins.size());
    return info.operands[slots.operandAt(operand)].name;
  }
  for (const BodyStep &step : sample.body->steps)
    for (size_t slot = 0; slot < step.operands.size(); ++slot)
      if (step.operands[slot] == int32_t(operand))
        return infoOf(step.kind).operands[slot].name;
  std::abort();
}

Sample makeSample(const KindRow &row, int64_t m, int64_t n, DType dtype) {
  auto roundUp = [&](int64_t size) {
    return (size + row.multiple - 1) / row.multiple * row.multiple;
  };
  Sample sample = row.make(roundUp(m), roundUp(n));
  sample.kind = row.kind;
  const OpInfo &info = infoOf(row.kind);
  if (!info.hasVariadic &&
      !sample.body) // what is left out at the end is absent
    sample.ins.resize(std::max(sample.ins.size(), info.numOperands),
                      TensorDesc::absent());
  for (std::vector<TensorDesc> *descs : {&sample.ins, &sample.outs})
    for (TensorDesc &desc : *descs)
      if (isFloat(desc.dtype) && (!row.isMixed || desc.dtype == DType::F16))
        desc.dtype = dtype;
  return sample;
}

Sample toCall(const Sample &sample) {
  if (sample.body)
    return sample;
  std::vector<bool> hasOperand, hasResult;
  Sample call;
  for (const TensorDesc &desc : sample.ins) {
    hasOperand.push_back(!desc.isAbsent);
    if (!desc.isAbsent)
      call.ins.push_back(desc);
  }
  for (const TensorDesc &desc : sample.outs) {
    hasResult.push_back(!desc.isAbsent);
    if (!desc.isAbsent)
      call.outs.push_back(desc);
  }
  call.kind = sample.kind;
  call.body = std::make_shared<Body>(
      makeBody(sample.kind, sample.attrs, hasOperand, hasResult));
  return call;
}

StatusOr<TypedBody> typedBodyOf(const Sample &sample) {
  Sample call = toCall(sample);
  return TypedBody::create(call.body, call.ins, call.outs);
}

} // namespace aicf::test
