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

Sample optimizer(OpKind kind, int64_t m, int64_t n, bool hasMoment,
                 bool hasOptional) {
  TensorDesc p = f({m, n});
  Sample s;
  if (kind == OpKind::AdamStep || kind == OpKind::AdamL2Step) {
    s = {{p, p, p, p, f({2}), f({})},
         {p, p, p},
         encodeAttrs(AdamStepAttrs{0.9, 0.999, 1e-8, 0.01})};
  } else if (kind == OpKind::AdamGroupStep) {
    s = {{p, p, p, p, f({2}), f({5})},
         {p, p, p},
         encodeAttrs(AdamGroupStepAttrs{!hasMoment})};
  } else if (kind == OpKind::SgdGroupStep) {
    TensorDesc moment = hasMoment ? p : TensorDesc::absent();
    s = {{p, p, f({3}), moment},
         {p, moment},
         encodeAttrs(SgdGroupStepAttrs{hasMoment})};
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

} // namespace

std::vector<KindRow> optimizerSamples() {
  return {
      {"adam_step", OpKind::AdamStep,
       [](auto m, auto n) {
         return optimizer(OpKind::AdamStep, m, n, true, false);
       }},
      {"adam_l2_step", OpKind::AdamL2Step,
       [](auto m, auto n) {
         return optimizer(OpKind::AdamL2Step, m, n, true, false);
       }},
      {"adam_l2_step gated", OpKind::AdamL2Step,
       [](auto m, auto n) {
         return optimizer(OpKind::AdamL2Step, m, n, true, true);
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
      {"adam_group_step", OpKind::AdamGroupStep,
       [](auto m, auto n) {
         return optimizer(OpKind::AdamGroupStep, m, n, true, false);
       }},
      {"adam_group_step l2 gated", OpKind::AdamGroupStep,
       [](auto m, auto n) {
         return optimizer(OpKind::AdamGroupStep, m, n, false, true);
       }},
      {"sgd_group_step", OpKind::SgdGroupStep,
       [](auto m, auto n) {
         return optimizer(OpKind::SgdGroupStep, m, n, false, false);
       }},
      {"sgd_group_step nesterov gated", OpKind::SgdGroupStep,
       [](auto m, auto n) {
         return optimizer(OpKind::SgdGroupStep, m, n, true, true);
       }},
      {"lion_step", OpKind::LionStep,
       [](auto m, auto n) {
         return optimizer(OpKind::LionStep, m, n, true, false);
       }},
      {"lion_step gated", OpKind::LionStep,
       [](auto m, auto n) {
         return optimizer(OpKind::LionStep, m, n, true, true);
       }},
      KindRow{"lion_step mixed", OpKind::LionStep,
              [](auto m, auto n) {
                Sample s = optimizer(OpKind::LionStep, m, n, true, true);
                s.ins[1].dtype = DType::F16;
                return s;
              }}
          .mixed(),
      KindRow{"adam_step mixed", OpKind::AdamStep,
              [](auto m, auto n) {
                Sample s = optimizer(OpKind::AdamStep, m, n, true, true);
                s.ins[1].dtype = DType::F16;
                return s;
              }}
          .mixed(),
      KindRow{"adam_group_step mixed", OpKind::AdamGroupStep,
              [](auto m, auto n) {
                Sample s = optimizer(OpKind::AdamGroupStep, m, n, true, true);
                s.ins[1].dtype = DType::F16;
                return s;
              }}
          .mixed(),
      KindRow{"sgd_group_step mixed", OpKind::SgdGroupStep,
              [](auto m, auto n) {
                Sample s = optimizer(OpKind::SgdGroupStep, m, n, true, false);
                s.ins[1].dtype = DType::F16;
                return s;
              }}
          .mixed(),
      KindRow{"sgd_step mixed", OpKind::SgdStep,
              [](auto m, auto n) {
                Sample s = optimizer(OpKind::SgdStep, m, n, true, false);
                s.ins[1].dtype = DType::F16;
                return s;
              }}
          .mixed(),
  };
}

} // namespace aicf::test
