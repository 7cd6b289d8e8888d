//===- Family.h - which updates one launch takes ----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_OPTIMIZER_FAMILY_H
#define AICF_KERNELS_OPTIMIZER_FAMILY_H

#include "lib/Ops/RuleCall.h"

namespace aicf::families {

/// Gradients of one type; copies, if any, of one type, the gradients' if that
/// is 16-bit, of f32 parameters.
template <typename Pattern> bool groupsFit(const Pattern &c) {
  DType param = c.step(0).p()->dtype, grad = c.step(0).g()->dtype;
  std::optional<DType> copy;
  if (auto cast = c.copy(0))
    copy = cast->y()->dtype;
  for (size_t i = 0; i < c.numGroups(); ++i) {
    if (c.step(i).p()->dtype != param || c.step(i).g()->dtype != grad)
      return false;
    if (copy && c.copy(i)->y()->dtype != *copy)
      return false;
  }
  return !copy || (param == DType::F32 && rules::isHalf(*copy) &&
                   (!rules::isHalf(grad) || *copy == grad));
}

/// Gradients may be padded, and so may copies; 16-bit parameters could be,
/// which no kernel knows.
inline bool isDenseParam(const SgdStepView<rules::Call> &c) {
  return c.p()->isDense() && c.p_out()->isDense() &&
         (!c.m() || ((*c.m())->isDense() && (*c.m_out())->isDense()));
}

} // namespace aicf::families

#endif // AICF_KERNELS_OPTIMIZER_FAMILY_H
