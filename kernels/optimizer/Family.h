//===- Family.h - which updates one launch takes ----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_OPTIMIZER_FAMILY_H
#define AICF_KERNELS_OPTIMIZER_FAMILY_H

#include "kernels/RuleCall.h"

namespace aicf::families {

/// Gradients of one type; copies, if any, of one type, the gradients' if that
/// is 16-bit, of f32 parameters.
template <typename View> bool groupsFit(const View &c) {
  if (c.numGroups() > kMaxUpdateGroups)
    return false;
  DType grad = c.g(0)->dtype;
  const rules::Operand *copy = c.copies(0);
  for (size_t i = 0; i < c.numGroups(); ++i) {
    if (c.g(i)->dtype != grad)
      return false;
    if (copy && ((*c.copies(i))->dtype != (*copy)->dtype ||
                 (rules::isHalf(grad) && (*copy)->dtype != grad)))
      return false;
  }
  return !copy || c.p(0)->dtype == DType::F32;
}

} // namespace aicf::families

#endif // AICF_KERNELS_OPTIMIZER_FAMILY_H
