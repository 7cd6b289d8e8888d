//===- Rules.cpp - what pad and concat accept -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

static Status isAxis(int64_t axis, const Operand &of) {
  return isNumber("axis", double(axis), axis >= 0 && axis < of->rank,
                  ("a dimension of " + std::string(of.name)).c_str());
}

Status pad_c1(const PadView<Call> &c) { return isAxis(c.attrs().axis, c.x()); }
Status pad_c2(const PadView<Call> &c) {
  return hasElement(c.y(), c.x()->dtype);
}
Status pad_c3(const PadView<Call> &c) {
  auto [axis, begin, step] = c.attrs();
  TensorDesc padded = c.x()->dense();
  if (axis < c.y()->rank)
    padded.dims[axis] = c.y()->dims[axis];
  AICF_RETURN_IF_ERROR(hasShape(c.y(), padded));
  int64_t last = begin + (c.x()->dims[axis] - 1) * step; // below 2^62
  if (last < c.y()->dims[axis])
    return {};
  return makeError(StatusCode::ShapeMismatch, c.y().text(), " is ",
                   c.y()->toString(), ", but the last index of ", c.x().text(),
                   ", ", c.x()->toString(), ", in dimension ", axis,
                   " would become ", last);
}

Status concat_c1(const ConcatView<Call> &c) {
  return isAxis(c.attrs().axis, c.part(0));
}
Status concat_c2(const ConcatView<Call> &c) {
  DType dtype = c.part(0)->dtype;
  for (size_t i = 1; i < c.numPart(); ++i)
    AICF_RETURN_IF_ERROR(hasElement(c.part(i), dtype));
  return hasElement(c.y(), dtype);
}
Status concat_c3(const ConcatView<Call> &c) {
  int64_t axis = c.attrs().axis;
  TensorDesc whole = c.part(0)->dense();
  for (size_t i = 1; i < c.numPart(); ++i) {
    TensorDesc like = whole;
    if (axis < c.part(i)->rank)
      like.dims[axis] = c.part(i)->dims[axis];
    AICF_RETURN_IF_ERROR(hasShape(c.part(i), like));
    whole.dims[axis] += c.part(i)->dims[axis];
  }
  return hasShape(c.y(), whole);
}

} // namespace aicf::rules
