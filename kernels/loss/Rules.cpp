//===- Rules.cpp - what losses accept -------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

/// C2 of the gradients of means.
template <typename Grad> static Status hasScaleOfTarget(const Grad &c) {
  return ifThere(c.loss_scale(), hasType, TensorDesc(c.target()->dtype, {}));
}

Status mse_loss_c1(const MseLossView<Call> &c) {
  return hasTypeOrIsNarrower(c.pred(), c.target());
}
Status mse_grad_c1(const MseGradView<Call> &c) {
  return hasTypeOrIsNarrower(c.pred(), c.target());
}
Status mse_grad_c2(const MseGradView<Call> &c) { return hasScaleOfTarget(c); }

Status bce_with_logits_c1(const BceWithLogitsView<Call> &c) {
  return hasTypeOrIsNarrower(c.pred(), c.target());
}
Status bce_with_logits_grad_c1(const BceWithLogitsGradView<Call> &c) {
  return hasTypeOrIsNarrower(c.pred(), c.target());
}
Status bce_with_logits_grad_c2(const BceWithLogitsGradView<Call> &c) {
  return hasScaleOfTarget(c);
}

Status l1_loss_c1(const L1LossView<Call> &c) {
  return hasTypeOrIsNarrower(c.pred(), c.target());
}
Status l1_grad_c1(const L1GradView<Call> &c) {
  return hasTypeOrIsNarrower(c.pred(), c.target());
}
Status l1_grad_c2(const L1GradView<Call> &c) { return hasScaleOfTarget(c); }

Status count_equal_c1(const CountEqualView<Call> &c) {
  if (c.a()->elements() <= INT32_MAX)
    return {};
  return makeError(StatusCode::ShapeMismatch, c.a().text(), " is ",
                   c.a()->toString(), " of ", c.a()->elements(),
                   " elements, expected fewer than 2147483648");
}

Status count_equal_c2(const CountEqualView<Call> &c) {
  return hasShape(c.b(), c.a()->shape());
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
double
default_bce_with_logits_grad_scale(const BceWithLogitsGradView<Call> &c) {
  return 1.0 / double(c.pred()->elements());
}
double default_l1_grad_scale(const L1GradView<Call> &c) {
  return 1.0 / double(c.pred()->elements());
}

} // namespace aicf::rules
