//===- Family.h - workspace of losses ---------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_LOSS_FAMILY_H
#define AICF_KERNELS_LOSS_FAMILY_H

#include "kernels/ReductionSize.h"
#include "kernels/RuleCall.h"

namespace aicf::families {

/// A partial sum (f64) a block.
inline constexpr uint64_t kMseWorkspaceBytes = uint64_t(1) << 20;

inline uint64_t mseWorkspace(const MseLossView<rules::Call> &c) {
  int64_t elements = c.pred()->elements() + c.target()->elements();
  return elements <= kSingleBlockElements ? 0 : kMseWorkspaceBytes;
}
inline uint64_t mseWorkspace(const MseLossGradView<rules::Call> &c) {
  return mseWorkspace(c.loss());
}

} // namespace aicf::families

#endif // AICF_KERNELS_LOSS_FAMILY_H
