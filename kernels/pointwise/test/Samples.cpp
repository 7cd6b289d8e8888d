//===- Samples.cpp - legal calls of the family ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {

std::vector<KindRow> pointwiseSamples() {
  return {
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
      {"scale", OpKind::Scale,
       [](auto m, auto n) {
         return Sample{{f({m, n})}, {f({m, n})}, encodeAttrs(ScaleAttrs{-1.5})};
       }},
      {"fill_like", OpKind::FillLike,
       [](auto m, auto n) {
         return Sample{
             {f({m, n})}, {f({m, n})}, encodeAttrs(FillLikeAttrs{0.25})};
       }},
      KindRow{"cast", OpKind::Cast,
              [](auto m, auto n) {
                return Sample{{f({m, n})}, {half({m, n})}, {}};
              }}
          .mixed(),
      KindRow{"cast wider", OpKind::Cast,
              [](auto m, auto n) {
                return Sample{{half({m, n})}, {f({m, n})}, {}};
              }}
          .mixed(),
  };
}

} // namespace aicf::test
