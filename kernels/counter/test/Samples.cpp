//===- Samples.cpp - legal calls of the family ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {

std::vector<KindRow> counterSamples() {
  return {
      {"all_finite", OpKind::AllFinite,
       [](auto m, auto n) { return Sample{{f({m, n}), f({n})}, {i32()}, {}}; }},
      KindRow{"global_norm", OpKind::GlobalNorm,
              [](auto m, auto n) {
                return Sample{{f({m, n}), f({n})}, {f({})}, {}};
              }}
          .wide(),
      KindRow{"global_norm mixed", OpKind::GlobalNorm,
              [](auto m, auto n) {
                return Sample{{half({m, n}), half({n})}, {f({})}, {}};
              }}
          .mixed(),
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
      {"group_bias_corr", OpKind::GroupBiasCorr,
       [](auto, auto) {
         return Sample{{{DType::I64, {}}, f({5})}, {f({2})}, {}};
       }},
      KindRow{"learning_rate linear", OpKind::LearningRate,
              [](auto, auto) {
                return Sample{
                    {{DType::I64, {}}},
                    {f({})},
                    encodeAttrs(LearningRateAttrs{0.5, 0.5, 0.1, 0, 100, 0})};
              }}
          .wide(),
      KindRow{"learning_rate warm-up", OpKind::LearningRate,
              [](auto, auto) {
                return Sample{
                    {{DType::I64, {}}},
                    {f({})},
                    encodeAttrs(LearningRateAttrs{0.1, 0.5, 0.1, 100, 0, 0})};
              }}
          .wide(),
      KindRow{"learning_rate cosine", OpKind::LearningRate,
              [](auto, auto) {
                return Sample{
                    {{DType::I64, {}}},
                    {f({})},
                    encodeAttrs(LearningRateAttrs{0, 0.5, 0.1, 1, 9, 1})};
              }}
          .wide(),
      KindRow{"learning_rate over", OpKind::LearningRate,
              [](auto, auto) {
                return Sample{
                    {{DType::I32, {}}},
                    {f({})},
                    encodeAttrs(LearningRateAttrs{0.5, 0.5, 0.1, 0, 1, 1})};
              }}
          .wide(),
      KindRow{"step_decay", OpKind::StepDecay,
              [](auto, auto) {
                return Sample{{{DType::I64, {}}},
                              {f({})},
                              encodeAttrs(StepDecayAttrs{0.5, 0.9, 2})};
              }}
          .wide(),
      KindRow{"polynomial_decay", OpKind::PolynomialDecay,
              [](auto, auto) {
                return Sample{
                    {{DType::I64, {}}},
                    {f({})},
                    encodeAttrs(PolynomialDecayAttrs{0.5, 0.1, 9, 2})};
              }}
          .wide(),
      KindRow{"polynomial_decay flat", OpKind::PolynomialDecay,
              [](auto, auto) {
                return Sample{
                    {{DType::I32, {}}},
                    {f({})},
                    encodeAttrs(PolynomialDecayAttrs{0.5, 0.1, 1, 0})};
              }}
          .wide(),
      KindRow{"rate_table", OpKind::RateTable,
              [](auto m, auto n) {
                return Sample{{{DType::I64, {}}, f({m * n})}, {f({})}, {}};
              }}
          .wide(),
  };
}

} // namespace aicf::test
