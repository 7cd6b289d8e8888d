//===- Rules.cpp - what functions with bounds accept -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

Status clamp_c1(const ClampView<Call> &c) { return areInOrder(c.attrs().min, c.attrs().max); }
Status clamp_c2(const ClampView<Call> &c) {
  AICF_RETURN_IF_ERROR(isNumberOf(c.x(), "min", c.attrs().min, true));
  return isNumberOf(c.x(), "max", c.attrs().max, true);
}
Status clamp_bwd_c1(const ClampBwdView<Call> &c) { return areInOrder(c.attrs().min, c.attrs().max); }

Status add_scalar_c1(const AddScalarView<Call> &c) {
  return isNumberOf(c.x(), "value", c.attrs().value);
}

} // namespace aicf::rules
