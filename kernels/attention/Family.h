//===- Family.h - what kernels of attention take ----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ATTENTION_FAMILY_H
#define AICF_KERNELS_ATTENTION_FAMILY_H

#include "lib/Ops/RuleCall.h"

#include <cstdint>
#include <initializer_list>

namespace aicf::families {

inline constexpr uint64_t kAttentionWorkspaceBytes = uint64_t(1) << 32;

/// A number of f32 for each query of each head.
inline uint64_t rowsWorkspace(const AttentionBwdView<rules::Call> &c) {
  return 4 * uint64_t(c.lse()->elements());
}

/// Heads that are vectors of 16 bytes: up to 128 elements, at multiples of 8.
inline bool areVectors(std::initializer_list<rules::Operand> heads) {
  for (const rules::Operand &x : heads) {
    if (x->width() > 128 || x->width() % 8 != 0)
      return false;
    for (size_t i = 0; i < 3; ++i)
      if (x->dims[i] != 1 && x->stride(i) % 8 != 0)
        return false;
  }
  return true;
}
inline bool areVectorsOfHeads(const AttentionView<rules::Call> &c) {
  return areVectors({c.q(), c.k(), c.v(), c.y()});
}
inline bool areVectorsOfHeads(const AttentionBwdView<rules::Call> &c) {
  return areVectors({c.dy(), c.q(), c.k(), c.v(), c.y(), c.dq(), c.dk(), c.dv()});
}

} // namespace aicf::families

#endif // AICF_KERNELS_ATTENTION_FAMILY_H
