//===- Rules.cpp - what softmax and argmax accept -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

Status softmax_c1(const SoftmaxView<Call> &c) {
  return hasLastDimension(c.x());
}

Status softmax_bwd_c1(const SoftmaxBwdView<Call> &c) {
  return hasLastDimension(c.dy());
}

Status log_softmax_c1(const LogSoftmaxView<Call> &c) {
  return hasLastDimension(c.x());
}
Status log_softmax_bwd_c1(const LogSoftmaxBwdView<Call> &c) {
  return hasLastDimension(c.dy());
}

Status argmax_c1(const ArgmaxView<Call> &c) { return hasLastDimension(c.x()); }
Status argmax_c2(const ArgmaxView<Call> &c) {
  return hasShape(c.index(), rowsOf(*c.x()));
}

Status top_k_c1(const TopKView<Call> &c) { return hasLastDimension(c.x()); }
Status top_k_c2(const TopKView<Call> &c) {
  if (c.attrs().k <= widthOf(*c.x()))
    return {};
  return makeError(StatusCode::InvalidArgument, "k is ", c.attrs().k,
                   ", expected at most ", widthOf(*c.x()),
                   ", the last dimension of ", c.x().text());
}
Status top_k_c3(const TopKView<Call> &c) {
  TensorDesc expected = *c.x();
  expected.dtype = c.index()->dtype;
  expected.dims[expected.rank - 1] = c.attrs().k;
  return hasShape(c.index(), expected);
}

} // namespace aicf::rules
