//===- Samples.cpp - legal calls of the family -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {

/// A function of x, or its gradient op, with fields.
template <typename Attrs>
static KindRow row(const char *name, OpKind kind, Attrs attrs) {
  return {name, kind, [=](int64_t m, int64_t n) {
            Sample sample;
            sample.ins.assign(infoOf(kind).numOperands, f({m, n}));
            sample.outs = {f({m, n})};
            sample.attrs = encodeAttrs(attrs);
            return sample;
          }};
}

std::vector<KindRow> activationSamples() {
  return {
      row("elu", OpKind::Elu, EluAttrs{1.5}),
      row("elu_bwd", OpKind::EluBwd, EluBwdAttrs{1.5}),
      row("leaky_relu", OpKind::LeakyRelu, LeakyReluAttrs{0.25}),
      row("leaky_relu_bwd", OpKind::LeakyReluBwd, LeakyReluBwdAttrs{0.25}),
      row("hardtanh", OpKind::Hardtanh, HardtanhAttrs{-0.5, 1.0}),
      row("hardtanh_bwd", OpKind::HardtanhBwd, HardtanhBwdAttrs{-0.5, 1.0}),
      row("softplus", OpKind::Softplus, SoftplusAttrs{2.0, 3.0}),
      row("softplus_bwd", OpKind::SoftplusBwd, SoftplusBwdAttrs{2.0, 3.0}),
  };
}

} // namespace aicf::test
