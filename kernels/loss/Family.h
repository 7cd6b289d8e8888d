//===- Family.h - workspace of losses ---------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_LOSS_FAMILY_H
#define AICF_KERNELS_LOSS_FAMILY_H

#include "kernels/ReductionSize.h"
#include "kernels/RowLength.h"
#include "lib/Ops/RuleCall.h"

namespace aicf::families {

/// A partial sum (f64) a block.
inline constexpr uint64_t kLossWorkspaceBytes = uint64_t(1) << 20;

/// The workspace of a mean over the elements of all these operands, in bytes.
template <typename... Operands>
uint64_t lossWorkspace(const Operands &...operands) {
  int64_t elements = (0 + ... + operands->elements());
  return elements <= kSingleBlockElements ? 0 : kLossWorkspaceBytes;
}

} // namespace aicf::families

#endif // AICF_KERNELS_LOSS_FAMILY_H
