//===- Family.h - workspaces over all gradients -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_COUNTER_FAMILY_H
#define AICF_KERNELS_COUNTER_FAMILY_H

#include "kernels/Schedule.h"
#include "lib/Ops/RuleCall.h"

namespace aicf::families {

/// Operands of one launch: they travel as kernel parameters, of which there are
/// 32,764 bytes.
inline constexpr size_t kMaxGradients = 256;
/// A verdict (i32) a block.
inline constexpr uint64_t kVerdictsBytes = uint64_t(1) << 20;

/// A partial sum (f64) a block.
inline constexpr uint64_t kPartialSquaresBytes = uint64_t(1) << 20;

/// Whether one block reads all gradients.
template <typename View> bool isOneBlock(const View &c) {
  int64_t elements = 0;
  for (size_t i = 0; i < c.numGrad(); ++i)
    elements += c.grad(i)->elements();
  return elements <= kSingleBlockElements && c.numGrad() <= kMaxGradients;
}
inline uint64_t verdictsWorkspace(const AllFiniteView<rules::Call> &c) {
  return isOneBlock(c) ? 0 : kVerdictsBytes;
}
inline uint64_t partialSquaresWorkspace(const GlobalNormView<rules::Call> &c) {
  return isOneBlock(c) ? 0 : kPartialSquaresBytes;
}

} // namespace aicf::families

#endif // AICF_KERNELS_COUNTER_FAMILY_H
