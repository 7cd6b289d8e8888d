//===- Rules.cpp - what functions with bounds accept -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

#include <cmath>

namespace aicf::rules {

Status clamp_c1(const ClampView<Call> &c) {
  return areInOrder(c.attrs().min, c.attrs().max);
}
Status clamp_c2(const ClampView<Call> &c) {
  auto isBound = [&](const char *field, double value) {
    return std::isinf(value) ? Status() : isNumberOf(c.x(), field, value);
  };
  AICF_RETURN_IF_ERROR(isBound("min", c.attrs().min));
  return isBound("max", c.attrs().max);
}
Status clamp_bwd_c1(const ClampBwdView<Call> &c) {
  return areInOrder(c.attrs().min, c.attrs().max);
}

Status div_scalar_c1(const DivScalarView<Call> &c) {
  return isNumber("value", c.attrs().value, c.attrs().value != 0,
                  "a number that is not 0");
}

Status add_scalar_c1(const AddScalarView<Call> &c) {
  return isNumberOf(c.x(), "value", c.attrs().value);
}

} // namespace aicf::rules
