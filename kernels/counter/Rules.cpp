//===- Rules.cpp - what counters, loss scale and guards accept ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

Status all_finite_c1(const AllFiniteView<Call> &c) {
  for (size_t i = 1; i < c.numGrad(); ++i)
    AICF_RETURN_IF_ERROR(hasElement(c.grad(i), c.grad(0)->dtype));
  return {};
}

Status global_norm_c1(const GlobalNormView<Call> &c) {
  for (size_t i = 1; i < c.numGrad(); ++i)
    AICF_RETURN_IF_ERROR(hasElement(c.grad(i), c.grad(0)->dtype));
  return {};
}

Status clip_factor_c1(const ClipFactorView<Call> &c) {
  return isScalar(c.norm());
}
Status clip_factor_c2(const ClipFactorView<Call> &c) {
  return ifThere(c.inv_scale(), hasType, *c.norm());
}

Status loss_scale_update_c1(const LossScaleUpdateView<Call> &c) {
  AICF_RETURN_IF_ERROR(isScalar(c.scale()));
  AICF_RETURN_IF_ERROR(isScalar(c.streak()));
  return isScalar(c.ok());
}

Status step_inc_c1(const StepIncView<Call> &c) {
  AICF_RETURN_IF_ERROR(isScalar(c.step()));
  return ifThere(c.ok(), isScalar);
}

Status bias_corr_c1(const BiasCorrView<Call> &c) { return isScalar(c.step()); }

Status bias_corr_c2(const BiasCorrView<Call> &c) {
  return hasShape(c.bc(), {2});
}

Status group_bias_corr_c1(const GroupBiasCorrView<Call> &c) {
  AICF_RETURN_IF_ERROR(isScalar(c.step()));
  return hasShape(c.group(), {5});
}
Status group_bias_corr_c2(const GroupBiasCorrView<Call> &c) {
  return hasShape(c.bc(), {2});
}

/// 16 bits have no room for a curve: it is cast where it is read.
template <typename View> static Status isRateOfStep(const View &c) {
  AICF_RETURN_IF_ERROR(isScalar(c.step()));
  AICF_RETURN_IF_ERROR(isScalar(c.lr()));
  return hasElement(c.lr(), wide(c.lr()->dtype));
}

Status learning_rate_c1(const LearningRateView<Call> &c) {
  return isRateOfStep(c);
}

Status learning_rate_c2(const LearningRateView<Call> &c) {
  int64_t steps = c.attrs().steps, warmup = c.attrs().warmup;
  return isNumber("steps", double(steps), steps == 0 || steps > warmup,
                  ("0 or more than warmup, " + std::to_string(warmup)).c_str());
}

Status step_decay_c1(const StepDecayView<Call> &c) { return isRateOfStep(c); }

Status polynomial_decay_c1(const PolynomialDecayView<Call> &c) {
  return isRateOfStep(c);
}

Status rate_table_c1(const RateTableView<Call> &c) {
  AICF_RETURN_IF_ERROR(isScalar(c.step()));
  AICF_RETURN_IF_ERROR(hasRank(c.table(), 1));
  return hasElement(c.table(), wide(c.table()->dtype));
}

} // namespace aicf::rules
