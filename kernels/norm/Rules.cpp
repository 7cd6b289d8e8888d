//===- Rules.cpp - what sums and normalisation accept ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

static bool isDimension(int64_t axis, const TensorDesc &of) {
  return axis >= 0 && axis < of.rank;
}

/// `large` without dimension `axis`, or without those up to it.
static TensorDesc withoutAxis(const TensorDesc &large, int64_t axis,
                              bool leading) {
  size_t from = leading ? 0 : size_t(axis), dropped = size_t(axis) + 1 - from;
  TensorDesc small = large;
  small.rank = uint8_t(large.rank - dropped);
  for (size_t i = from; i < small.rank; ++i)
    small.dims[i] = large.dims[i + dropped];
  return small;
}

/// What a reduction inside a body leaves; absent for an axis that x has not.
template <typename View> static TensorDesc reducedInside(const View &c) {
  const int64_t axis = c.attrs().axis;
  return isDimension(axis, *c.x())
             ? withoutAxis(c.x()->dense(), axis, /*leading=*/false)
             : TensorDesc::absent();
}

/// C3 of reduce_sum and of what has its shapes.
static Status isSummed(const Operand &small, const TensorDesc &large,
                       int64_t axis) {
  TensorDesc kept = large;
  kept.dims[axis] = 1;
  if (small->sameShape(kept) ||
      small->sameShape(withoutAxis(large, axis, /*leading=*/true)))
    return {};
  return hasShape(small, withoutAxis(large, axis, /*leading=*/false));
}

Status reduce_sum_c1(const ReduceSumView<Call> &c) {
  int64_t axis = c.attrs().axis;
  return isNumber("axis", double(axis), isDimension(axis, *c.x()),
                  "a dimension of x");
}

Status reduce_sum_c2(const ReduceSumView<Call> &c) {
  return hasElement(c.y(), c.x()->dtype);
}

Status reduce_sum_c3(const ReduceSumView<Call> &c) {
  return isSummed(c.y(), *c.x(), c.attrs().axis);
}

Status reduce_mean_c1(const ReduceMeanView<Call> &c) {
  int64_t axis = c.attrs().axis;
  return isNumber("axis", double(axis), isDimension(axis, *c.x()),
                  "a dimension of x");
}
Status reduce_mean_c2(const ReduceMeanView<Call> &c) {
  return hasElement(c.y(), c.x()->dtype);
}
Status reduce_mean_c3(const ReduceMeanView<Call> &c) {
  return isSummed(c.y(), *c.x(), c.attrs().axis);
}

/// C4 of reduce_max and reduce_min.
template <typename View> static Status isCounted(const View &c) {
  AICF_RETURN_IF_ERROR(hasShape(c.index(), *c.y()));
  int64_t compared = c.x()->elements() / c.y()->elements();
  if (compared <= INT32_MAX)
    return {};
  return makeError(StatusCode::ShapeMismatch, c.x().text(), " is ",
                   c.x()->toString(), ": the reduced dimensions have ",
                   compared, " elements, expected fewer than 2147483648");
}

#define AICF_EXTREMUM_RULES(OP, VIEW)                                          \
  Status OP##_c1(const VIEW##View<Call> &c) {                                  \
    int64_t axis = c.attrs().axis;                                             \
    return isNumber("axis", double(axis), isDimension(axis, *c.x()),           \
                    "a dimension of x");                                       \
  }                                                                            \
  Status OP##_c2(const VIEW##View<Call> &c) {                                  \
    return hasElement(c.y(), c.x()->dtype);                                    \
  }                                                                            \
  Status OP##_c3(const VIEW##View<Call> &c) {                                  \
    return isSummed(c.y(), *c.x(), c.attrs().axis);                            \
  }                                                                            \
  Status OP##_c4(const VIEW##View<Call> &c) { return isCounted(c); }
AICF_EXTREMUM_RULES(reduce_max, ReduceMax)
AICF_EXTREMUM_RULES(reduce_min, ReduceMin)
#undef AICF_EXTREMUM_RULES

Status extremum_bwd_c1(const ExtremumBwdView<Call> &c) {
  int64_t axis = c.attrs().axis;
  return isNumber("axis", double(axis), isDimension(axis, *c.dx()),
                  "a dimension of dx");
}
Status extremum_bwd_c2(const ExtremumBwdView<Call> &c) {
  return hasElement(c.dx(), c.dy()->dtype);
}
Status extremum_bwd_c3(const ExtremumBwdView<Call> &c) {
  return isSummed(c.dy(), *c.dx(), c.attrs().axis);
}
Status extremum_bwd_c4(const ExtremumBwdView<Call> &c) {
  return hasShape(c.index(), *c.dy());
}

Status expand_c1(const ExpandView<Call> &c) {
  int64_t axis = c.attrs().axis;
  return isNumber("axis", double(axis), isDimension(axis, *c.y()),
                  "a dimension of y");
}
Status expand_c2(const ExpandView<Call> &c) {
  return hasElement(c.y(), c.x()->dtype);
}
Status expand_c3(const ExpandView<Call> &c) {
  return isSummed(c.x(), *c.y(), c.attrs().axis);
}

TensorDesc infer_reduce_sum_y(const ReduceSumView<Call> &c) {
  return reducedInside(c);
}
TensorDesc infer_reduce_mean_y(const ReduceMeanView<Call> &c) {
  return reducedInside(c);
}
TensorDesc infer_expand_y(const ExpandView<Call> &c) {
  const TensorDesc *reduced = c->reducedOnTheWayTo(c.x(), c.attrs().axis);
  return reduced ? TensorDesc(c.x()->dtype, reduced->shape())
                 : TensorDesc::absent();
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
