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

} // namespace aicf::rules
