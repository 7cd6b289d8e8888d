//===- Rules.cpp - what comparisons and choices accept ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

/// Checks `value` of a view with an operand x.
template <typename View> static Status hasComparable(const View &c) {
  return isNumberOf(c.x(), "value", c.attrs().value);
}
Status equal_scalar_c1(const EqualScalarView<Call> &c) {
  return hasComparable(c);
}
Status not_equal_scalar_c1(const NotEqualScalarView<Call> &c) {
  return hasComparable(c);
}
Status less_scalar_c1(const LessScalarView<Call> &c) {
  return hasComparable(c);
}
Status less_equal_scalar_c1(const LessEqualScalarView<Call> &c) {
  return hasComparable(c);
}
Status greater_scalar_c1(const GreaterScalarView<Call> &c) {
  return hasComparable(c);
}
Status greater_equal_scalar_c1(const GreaterEqualScalarView<Call> &c) {
  return hasComparable(c);
}

Status where_c1(const WhereView<Call> &c) {
  return hasShape(c.condition(), *c.a());
}

Status masked_fill_c1(const MaskedFillView<Call> &c) {
  return hasShape(c.mask(), *c.x());
}
Status masked_fill_c2(const MaskedFillView<Call> &c) {
  return isNumberOf(c.x(), "value", c.attrs().value);
}

} // namespace aicf::rules
