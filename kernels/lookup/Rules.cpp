//===- Rules.cpp - what lookups accept -------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

/// `like` with one dimension more behind it, of `of`'s element type.
static Status hasDimensionBehind(const Operand &of, const TensorDesc &like,
                                 int64_t size) {
  TensorDesc expected = like;
  expected.dtype = of->dtype;
  if (expected.rank == kMaxRank)
    return makeError(StatusCode::ShapeMismatch, of.text(), " would have rank ",
                     int(kMaxRank) + 1, ", the limit is ", int(kMaxRank));
  expected.dims[expected.rank++] = size;
  return hasShape(of, expected);
}

Status pick_c1(const PickView<Call> &c) { return hasLastDimension(c.x()); }
Status pick_c2(const PickView<Call> &c) {
  return hasShape(c.index(), rowsOf(*c.x()));
}

Status pick_bwd_c1(const PickBwdView<Call> &c) {
  return hasShape(c.index(), *c.dy());
}
Status pick_bwd_c2(const PickBwdView<Call> &c) {
  AICF_RETURN_IF_ERROR(hasElement(c.dx(), c.dy()->dtype));
  return hasDimensionBehind(c.dx(), *c.dy(), c.attrs().size);
}

Status embedding_c1(const EmbeddingView<Call> &c) {
  return hasRank(c.table(), 2);
}
Status embedding_c2(const EmbeddingView<Call> &c) {
  AICF_RETURN_IF_ERROR(hasElement(c.y(), c.table()->dtype));
  return hasDimensionBehind(c.y(), *c.index(), widthOf(*c.table()));
}

Status embedding_bwd_c1(const EmbeddingBwdView<Call> &c) {
  AICF_RETURN_IF_ERROR(hasLastDimension(c.dy()));
  return hasShape(c.index(), rowsOf(*c.dy()));
}
Status embedding_bwd_c2(const EmbeddingBwdView<Call> &c) {
  return hasType(c.dtable(), TensorDesc(c.dy()->dtype, {c.attrs().rows,
                                                        widthOf(*c.dy())}));
}

} // namespace aicf::rules
