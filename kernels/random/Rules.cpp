//===- Rules.cpp - what draws of random numbers accept --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

Status dropout_c1(const DropoutView<Call> &c) { return isScalar(c.step()); }

Status uniform_c1(const UniformView<Call> &c) { return isScalar(c.step()); }
Status normal_c1(const NormalView<Call> &c) { return isScalar(c.step()); }

} // namespace aicf::rules
