//===- Rules.cpp - every rule of the family, violated once -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/RuleCases.h"

namespace aicf::test {

std::vector<RuleCase> activationRuleCases() {
  return {
      {"selu", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
      {"prelu", "", Code::ShapeMismatch, in("slope", {6}), "operand 1 (slope)"},
      {"elu", "", Code::InvalidArgument, attr(&EluAttrs::alpha, INFINITY),
       "alpha"},
      {"elu_bwd", "", Code::InvalidArgument, attr(&EluBwdAttrs::alpha, NAN),
       "alpha"},
      {"leaky_relu", "", Code::InvalidArgument,
       attr(&LeakyReluAttrs::slope, INFINITY), "slope"},
      {"leaky_relu_bwd", "", Code::InvalidArgument,
       attr(&LeakyReluBwdAttrs::slope, NAN), "slope"},
      {"hardtanh", "", Code::InvalidArgument,
       attr(&HardtanhAttrs::min, -INFINITY), "min"},
      {"hardtanh", "", Code::InvalidArgument,
       attr(&HardtanhAttrs::max, INFINITY), "max"},
      {"hardtanh", "C1", Code::InvalidArgument, attr(&HardtanhAttrs::min, 2.0)},
      {"hardtanh_bwd", "", Code::InvalidArgument,
       attr(&HardtanhBwdAttrs::min, NAN), "min"},
      {"hardtanh_bwd", "", Code::InvalidArgument,
       attr(&HardtanhBwdAttrs::max, NAN), "max"},
      {"hardtanh_bwd", "C1", Code::InvalidArgument,
       attr(&HardtanhBwdAttrs::min, 2.0)},
      {"softplus", "", Code::InvalidArgument, attr(&SoftplusAttrs::beta, 0.0),
       "beta is 0, expected a finite number > 0"},
      {"softplus", "", Code::InvalidArgument,
       attr(&SoftplusAttrs::threshold, INFINITY), "threshold"},
      {"softplus_bwd", "", Code::InvalidArgument,
       attr(&SoftplusBwdAttrs::beta, -1.0), "beta"},
      {"softplus_bwd", "", Code::InvalidArgument,
       attr(&SoftplusBwdAttrs::threshold, NAN), "threshold"},
  };
}

} // namespace aicf::test
