//===- Family.h - workspace of losses ---------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_LOSS_FAMILY_H
#define AICF_KERNELS_LOSS_FAMILY_H

#include "kernels/RowLength.h"
#include "kernels/loss/Schedule.h"
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

/// Cross-entropy of long rows: at most so many counts of rows (f64), and a
/// partial sum and count (f64) for each of 8 blocks per multiprocessor.
inline constexpr int64_t kMaxRowCounts = 256;
inline constexpr uint64_t kRowLossWorkspaceBytes =
    8 * kMaxRowCounts + 8 * 16 * kMultiprocessors;

/// The loss and the gradient are those of one target for each row.
inline bool
haveOneTarget(const SoftmaxCrossEntropyLossGradView<rules::Call> &c) {
  return c.loss().attrs().label_smoothing == c.grad().attrs().label_smoothing &&
         c.loss().attrs().ignore_index == c.grad().attrs().ignore_index;
}

} // namespace aicf::families

#endif // AICF_KERNELS_LOSS_FAMILY_H
