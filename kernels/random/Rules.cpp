//===- Rules.cpp - what draws of random numbers accept --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Base/Element.h"
#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

Status dropout_c1(const DropoutView<Call> &c) { return isScalar(c.step()); }

Status uniform_c1(const UniformView<Call> &c) { return isScalar(c.step()); }
Status uniform_c2(const UniformView<Call> &c) {
  UniformAttrs attrs = c.attrs();
  DType dtype = wide(c.y()->dtype);
  if (attrs.low <= attrs.high && isFiniteAs(dtype, attrs.high - attrs.low))
    return {};
  return makeError(StatusCode::InvalidArgument, "low is ",
                   formatNumber(attrs.low), " and high is ",
                   formatNumber(attrs.high),
                   ", expected low <= high and a difference that ",
                   nameOf(dtype), " holds");
}
Status normal_c1(const NormalView<Call> &c) { return isScalar(c.step()); }

} // namespace aicf::rules
