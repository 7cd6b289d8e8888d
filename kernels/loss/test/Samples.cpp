//===- Samples.cpp - legal calls of the family ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {
namespace {

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
Sample wideLabels(Sample s) {
  s.ins[1].dtype = DType::I64;
  return s;
}
Sample halfLogits(Sample s) {
  s.ins[0].dtype = DType::F16;
  if (s.outs[0].rank > 0)
    s.outs[0].dtype = DType::F16;
  return s;
}

} // namespace

std::vector<KindRow> lossSamples() {
  return {
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
      KindRow{"softmax_cross_entropy", OpKind::SoftmaxCrossEntropy,
              [](auto m, auto n) { return crossEntropy(m, n, 0); }}
          .wide(),
      KindRow{"softmax_cross_entropy smoothed", OpKind::SoftmaxCrossEntropy,
              [](auto m, auto n) {
                Sample s = crossEntropy(m, n, 0.1);
                s.ins[0] = f({m, 1, n + 8}); // any rank
                s.ins[1] = {DType::I32, {m, 1}};
                return s;
              }}
          .wide(),
      KindRow{
          "softmax_cross_entropy mixed", OpKind::SoftmaxCrossEntropy,
          [](auto m, auto n) { return halfLogits(crossEntropy(m, n, 0.1)); }}
          .mixed(),
      KindRow{"softmax_cross_entropy i64", OpKind::SoftmaxCrossEntropy,
              [](auto m, auto n) { return wideLabels(crossEntropy(m, n, 0)); }}
          .wide(),
      {"softmax_cross_entropy_grad i64", OpKind::SoftmaxCrossEntropyGrad,
       [](auto m, auto n) {
         return wideLabels(crossEntropyGrad(m, n, 0.1, false));
       }},
      {"softmax_cross_entropy_grad", OpKind::SoftmaxCrossEntropyGrad,
       [](auto m, auto n) { return crossEntropyGrad(m, n, 0, false); }},
      KindRow{"softmax_cross_entropy_grad smoothed",
              OpKind::SoftmaxCrossEntropyGrad,
              [](auto m, auto n) { return crossEntropyGrad(m, n, 0.1, true); }}
          .wide(),
      KindRow{"softmax_cross_entropy_grad mixed",
              OpKind::SoftmaxCrossEntropyGrad,
              [](auto m, auto n) {
                return halfLogits(crossEntropyGrad(m, n, 0.1, true));
              }}
          .mixed(),
      {"bce_with_logits", OpKind::BceWithLogits,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({m, n})}, {f({})}, {}};
       }},
      KindRow{"bce_with_logits mixed", OpKind::BceWithLogits,
              [](auto m, auto n) {
                return Sample{{half({m, n}), f({m, n})}, {f({})}, {}};
              }}
          .mixed(),
      {"bce_with_logits_grad", OpKind::BceWithLogitsGrad,
       [](auto m, auto n) { return lossGrad(m, n, 0.25, false); }},
      KindRow{"bce_with_logits_grad mixed", OpKind::BceWithLogitsGrad,
              [](auto m, auto n) {
                Sample s = lossGrad(m, n, 0.25, true);
                s.ins[0] = s.outs[0] = half({m, n});
                return s;
              }}
          .mixed(),
      {"l1_loss", OpKind::L1Loss,
       [](auto m, auto n) {
         return Sample{{f({m, n}), f({m, n})}, {f({})}, {}};
       }},
      KindRow{"l1_loss mixed", OpKind::L1Loss,
              [](auto m, auto n) {
                return Sample{{half({m, n}), f({m, n})}, {f({})}, {}};
              }}
          .mixed(),
      {"l1_grad", OpKind::L1Grad,
       [](auto m, auto n) { return lossGrad(m, n, 0.25, false); }},
      KindRow{"l1_grad mixed", OpKind::L1Grad,
              [](auto m, auto n) {
                Sample s = lossGrad(m, n, 0.25, true);
                s.ins[0] = s.outs[0] = half({m, n});
                return s;
              }}
          .mixed(),
      KindRow{"mean", OpKind::Mean,
              [](auto m, auto n) { return Sample{{f({m, n})}, {f({})}, {}}; }}
          .wide(),
      KindRow{
          "mean mixed", OpKind::Mean,
          [](auto m, auto n) { return Sample{{half({m, n})}, {f({})}, {}}; }}
          .mixed(),
      {"count_equal", OpKind::CountEqual,
       [](auto m, auto n) {
         TensorDesc labels(DType::I32, {m, n});
         return Sample{{labels, labels}, {i32()}, {}};
       }},
      {"count_equal mixed", OpKind::CountEqual,
       [](auto m, auto n) {
         return Sample{{{DType::I32, {m, n}}, {DType::I64, {m, n}}},
                       {i32()},
                       {}};
       }},
      {"count_equal i64", OpKind::CountEqual,
       [](auto m, auto) {
         TensorDesc labels(DType::I64, {m});
         return Sample{{labels, labels}, {i32()}, {}};
       }},
      KindRow{"mse_loss mixed", OpKind::MseLoss,
              [](auto m, auto n) {
                return Sample{{half({m, n}), f({m, n})}, {f({})}, {}};
              }}
          .mixed(),
      KindRow{"mse_grad mixed", OpKind::MseGrad,
              [](auto m, auto n) {
                return Sample{{half({m, n}), f({m, n}), f({})},
                              {half({m, n})},
                              encodeAttrs(MseGradAttrs{0.25})};
              }}
          .mixed(),
  };
}

} // namespace aicf::test
