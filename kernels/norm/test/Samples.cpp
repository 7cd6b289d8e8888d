//===- Samples.cpp - legal calls of the family ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {

std::vector<KindRow> normSamples() {
  return {
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
      {"reduce_mean 0", OpKind::ReduceMean,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({n})}, encodeAttrs(ReduceMeanAttrs{0})};
       }},
      {"reduce_mean middle", OpKind::ReduceMean,
       [](auto m, auto n) {
         return Sample{
             {f({3, m, n})}, {f({3, 1, n})}, encodeAttrs(ReduceMeanAttrs{1})};
       }},
      {"reduce_mean 1", OpKind::ReduceMean,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({m})}, encodeAttrs(ReduceMeanAttrs{1})};
       }},
      {"reduce_max 0", OpKind::ReduceMax,
       [](auto m, auto n) {
         return Sample{{f({m, n})},
                       {f({n}), TensorDesc(DType::I32, {n})},
                       encodeAttrs(ReduceMaxAttrs{0})};
       }},
      {"reduce_max 1", OpKind::ReduceMax,
       [](auto m, auto n) {
         return Sample{{f({m, n})},
                       {f({m, 1}), TensorDesc(DType::I32, {m, 1})},
                       encodeAttrs(ReduceMaxAttrs{1})};
       }},
      {"reduce_min middle", OpKind::ReduceMin,
       [](auto m, auto n) {
         return Sample{{f({3, m, n})},
                       {f({3, n}), TensorDesc(DType::I32, {3, n})},
                       encodeAttrs(ReduceMinAttrs{1})};
       }},
      {"reduce_min all", OpKind::ReduceMin,
       [](auto m, auto n) {
         return Sample{{f({m, n})},
                       {f({}), TensorDesc(DType::I32, {})},
                       encodeAttrs(ReduceMinAttrs{1})};
       }},
      {"extremum_bwd 1", OpKind::ExtremumBwd,
       [](auto m, auto n) {
         return Sample{{f({m}), TensorDesc(DType::I32, {m})},
                       {f({m, n})},
                       encodeAttrs(ExtremumBwdAttrs{1})};
       }},
      {"extremum_bwd i64", OpKind::ExtremumBwd,
       [](auto m, auto n) {
         return Sample{{f({n}), TensorDesc(DType::I64, {n})},
                       {f({m, n})},
                       encodeAttrs(ExtremumBwdAttrs{0})};
       }},
      {"extremum_bwd middle", OpKind::ExtremumBwd,
       [](auto m, auto n) {
         return Sample{{f({3, n}), TensorDesc(DType::I32, {3, n})},
                       {f({3, m, n})},
                       encodeAttrs(ExtremumBwdAttrs{1})};
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
      KindRow{"layer_norm", OpKind::LayerNorm,
              [](auto m, auto n) {
                return Sample{{f({m, n}), f({n}), f({n})},
                              {f({m, n}), f({m}), f({m})},
                              encodeAttrs(LayerNormAttrs{1e-5})};
              }}
          .within(1e-4),
      KindRow{"layer_norm rank 1", OpKind::LayerNorm,
              [](auto, auto n) {
                return Sample{{f({n}), f({n}), f({n})},
                              {f({n}), f({}), f({})},
                              encodeAttrs(LayerNormAttrs{1e-5})};
              }}
          .within(1e-4),
      KindRow{"layer_norm_bwd", OpKind::LayerNormBwd,
              [](auto m, auto n) {
                return Sample{{f({m, n}), f({m, n}), f({n}), f({m}), f({m})},
                              {f({m, n}), f({n}), f({n})},
                              {}};
              }}
          .within(1e-4),
  };
}

} // namespace aicf::test
