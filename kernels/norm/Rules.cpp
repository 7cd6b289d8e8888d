//===- Rules.cpp - what sums and normalisation accept ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/RuleCall.h"

namespace aicf::rules {

Status reduce_sum_c1(const ReduceSumView<Call> &c) {
  int64_t axis = c.attrs().axis;
  return isNumber("axis", double(axis), axis >= 0 && axis < c.x()->rank,
                  "a dimension of x");
}

Status reduce_sum_c2(const ReduceSumView<Call> &c) {
  return hasElement(c.y(), c.x()->dtype);
}

Status reduce_sum_c3(const ReduceSumView<Call> &c) {
  auto axis = size_t(c.attrs().axis);
  TensorDesc dropped = *c.x(), kept = *c.x();
  kept.dims[axis] = 1;
  --dropped.rank;
  for (size_t i = axis; i < dropped.rank; ++i)
    dropped.dims[i] = kept.dims[i + 1];
  return c.y()->sameShape(kept) ? Status() : hasShape(c.y(), dropped);
}

Status layer_norm_c1(const LayerNormView<Call> &c) {
  return hasLastDimension(c.x());
}

Status layer_norm_c2(const LayerNormView<Call> &c) {
  AICF_RETURN_IF_ERROR(hasShape(c.gamma(), {widthOf(*c.x())}));
  return hasShape(c.beta(), {widthOf(*c.x())});
}

Status layer_norm_c3(const LayerNormView<Call> &c) {
  AICF_RETURN_IF_ERROR(hasElement(c.gamma(), c.x()->dtype));
  return hasElement(c.beta(), c.x()->dtype);
}

Status layer_norm_bwd_c1(const LayerNormBwdView<Call> &c) {
  AICF_RETURN_IF_ERROR(hasLastDimension(c.x()));
  return hasType(c.dy(), *c.x());
}

Status layer_norm_bwd_c2(const LayerNormBwdView<Call> &c) {
  return hasShape(c.gamma(), {widthOf(*c.x())});
}

Status layer_norm_bwd_c3(const LayerNormBwdView<Call> &c) {
  AICF_RETURN_IF_ERROR(hasShape(c.mean(), rowsOf(*c.x())));
  return hasShape(c.rstd(), rowsOf(*c.x()));
}

Status layer_norm_bwd_c4(const LayerNormBwdView<Call> &c) {
  AICF_RETURN_IF_ERROR(hasElement(c.gamma(), c.x()->dtype));
  AICF_RETURN_IF_ERROR(hasElement(c.mean(), c.x()->dtype));
  return hasElement(c.rstd(), c.x()->dtype);
}

} // namespace aicf::rules
