//===- Rules.cpp - what optimizers accept ---------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {
namespace {

/// lr and, if it is there, inv_scale: 0-d of the parameters' element type.
template <typename Optimizer> Status scalars(const Optimizer &c, DType dtype) {
  AICF_RETURN_IF_ERROR(hasType(c.lr(), TensorDesc(dtype, {})));
  return ifThere(c.inv_scale(), hasType, TensorDesc(dtype, {}));
}

Status biasCorrection(const Operand &bc, DType dtype) {
  return hasType(bc, TensorDesc(dtype, {2}));
}

/// C1 of a single optimizer on one group.
Status group(const Operand &p, const Operand &g,
             const std::optional<Operand> &m,
             const std::optional<Operand> &v = {}) {
  AICF_RETURN_IF_ERROR(hasTypeOrIsNarrower(g, p));
  AICF_RETURN_IF_ERROR(ifThere(m, hasType, *p));
  return ifThere(v, hasType, *p);
}

} // namespace

Status adam_step_c1(const AdamStepView<Call> &c) {
  return group(c.p(), c.g(), c.m(), c.v());
}
Status adam_step_c2(const AdamStepView<Call> &c) {
  AICF_RETURN_IF_ERROR(biasCorrection(c.bc(), c.p()->dtype));
  return scalars(c, c.p()->dtype);
}
Status adam_step_c3(const AdamStepView<Call> &c) {
  return ifThere(c.ok(), isScalar);
}

Status adam_l2_step_c1(const AdamL2StepView<Call> &c) {
  return group(c.p(), c.g(), c.m(), c.v());
}
Status adam_l2_step_c2(const AdamL2StepView<Call> &c) {
  AICF_RETURN_IF_ERROR(biasCorrection(c.bc(), c.p()->dtype));
  return scalars(c, c.p()->dtype);
}
Status adam_l2_step_c3(const AdamL2StepView<Call> &c) {
  return ifThere(c.ok(), isScalar);
}

/// group is [`numbers`], and inv_scale, if it is there, a scalar of p's type.
template <typename Step> static Status groupScalars(const Step &c, int64_t numbers) {
  AICF_RETURN_IF_ERROR(hasShape(c.group(), {numbers}));
  return ifThere(c.inv_scale(), hasType, TensorDesc(c.p()->dtype, {}));
}

Status adam_group_step_c1(const AdamGroupStepView<Call> &c) {
  return group(c.p(), c.g(), c.m(), c.v());
}
Status adam_group_step_c2(const AdamGroupStepView<Call> &c) {
  AICF_RETURN_IF_ERROR(biasCorrection(c.bc(), c.p()->dtype));
  return groupScalars(c, 5);
}
Status adam_group_step_c3(const AdamGroupStepView<Call> &c) {
  return ifThere(c.ok(), isScalar);
}

Status sgd_group_step_c1(const SgdGroupStepView<Call> &c) {
  return group(c.p(), c.g(), c.m());
}
Status sgd_group_step_c2(const SgdGroupStepView<Call> &c) { return groupScalars(c, 3); }
Status sgd_group_step_c3(const SgdGroupStepView<Call> &c) {
  return ifThere(c.ok(), isScalar);
}
Status sgd_group_step_c4(const SgdGroupStepView<Call> &c) {
  return isNumber("nesterov", c.attrs().nesterov, c.m() || c.attrs().nesterov == 0,
                  "0 without m");
}

Status sgd_step_c1(const SgdStepView<Call> &c) {
  return group(c.p(), c.g(), c.m());
}
Status sgd_step_c2(const SgdStepView<Call> &c) {
  return scalars(c, c.p()->dtype);
}
Status sgd_step_c3(const SgdStepView<Call> &c) {
  return ifThere(c.ok(), isScalar);
}
Status sgd_step_c4(const SgdStepView<Call> &c) {
  SgdStepAttrs attrs = c.attrs();
  AICF_RETURN_IF_ERROR(isNumber("momentum", attrs.momentum,
                                c.m() || attrs.momentum == 0, "0 without m"));
  return isNumber("nesterov", attrs.nesterov, c.m() || attrs.nesterov == 0,
                  "0 without m");
}

Status lion_step_c1(const LionStepView<Call> &c) {
  return group(c.p(), c.g(), c.m());
}
Status lion_step_c2(const LionStepView<Call> &c) {
  return scalars(c, c.p()->dtype);
}
Status lion_step_c3(const LionStepView<Call> &c) {
  return ifThere(c.ok(), isScalar);
}

} // namespace aicf::rules
