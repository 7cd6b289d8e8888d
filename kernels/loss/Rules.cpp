//===- Rules.cpp - what losses accept -------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/RuleCall.h"

namespace aicf::rules {

Status mse_loss_c1(const MseLossView<Call> &c) {
  return hasTypeOrIsNarrower(c.pred(), c.target());
}
Status mse_grad_c1(const MseGradView<Call> &c) {
  return hasTypeOrIsNarrower(c.pred(), c.target());
}

Status mse_grad_c2(const MseGradView<Call> &c) {
  return ifThere(c.loss_scale(), hasType, TensorDesc(c.target()->dtype, {}));
}

Status softmax_cross_entropy_c1(const SoftmaxCrossEntropyView<Call> &c) {
  return hasLastDimension(c.logits());
}
Status softmax_cross_entropy_c2(const SoftmaxCrossEntropyView<Call> &c) {
  return hasShape(c.labels(), rowsOf(*c.logits()));
}
Status
softmax_cross_entropy_grad_c1(const SoftmaxCrossEntropyGradView<Call> &c) {
  return hasLastDimension(c.logits());
}
Status
softmax_cross_entropy_grad_c2(const SoftmaxCrossEntropyGradView<Call> &c) {
  return hasShape(c.labels(), rowsOf(*c.logits()));
}
Status
softmax_cross_entropy_grad_c3(const SoftmaxCrossEntropyGradView<Call> &c) {
  return ifThere(c.loss_scale(), hasType,
                 TensorDesc(wide(c.logits()->dtype), {}));
}

/// The gradient of mse_loss.
double default_mse_grad_scale(const MseGradView<Call> &c) {
  return 2.0 / double(c.pred()->elements());
}

} // namespace aicf::rules
