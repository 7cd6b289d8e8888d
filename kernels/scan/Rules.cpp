//===- Rules.cpp - what cumsum accepts -------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

Status cumsum_c1(const CumsumView<Call> &c) {
  int64_t axis = c.attrs().axis;
  return isNumber("axis", double(axis), axis < c.x()->rank, "a dimension of x");
}

} // namespace aicf::rules
