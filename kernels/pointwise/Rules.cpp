//===- Rules.cpp - what pointwise primitives accept -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

Status bias_add_c1(const BiasAddView<Call> &c) {
  AICF_RETURN_IF_ERROR(hasRank(c.b(), 1));
  return hasElement(c.b(), c.y()->dtype);
}

Status bias_add_c2(const BiasAddView<Call> &c) {
  int64_t axis = c.attrs().axis, rank = c.y()->rank;
  return isNumber("axis", double(axis), rank > 0 && axis >= -1 && axis < rank,
                  "-1 or a dimension of y");
}

Status bias_add_c3(const BiasAddView<Call> &c) {
  int64_t axis = c.attrs().axis;
  return hasShape(c.b(), {c.y()->dims[axis < 0 ? c.y()->rank - 1 : axis]});
}

Status scale_c1(const ScaleView<Call> &c) {
  return isNumberOf(c.x(), "factor", c.attrs().factor);
}
Status fill_like_c1(const FillLikeView<Call> &c) {
  return isNumberOf(c.x(), "value", c.attrs().value);
}

Status cast_c1(const CastView<Call> &c) { return hasShape(c.y(), *c.x()); }

} // namespace aicf::rules
