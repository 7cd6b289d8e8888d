//===- FastDivisor.h - division by a number that stays ----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_BASE_FASTDIVISOR_H
#define AICF_LIB_BASE_FASTDIVISOR_H

#include "lib/Base/HostDevice.h"

#include <cstdint>

namespace aicf {

/// Quotients of numbers below 2^31 by a product and a shift: a GPU has no
/// instruction for division (Granlund and Montgomery, "Division by Invariant
/// Integers using Multiplication", 1994).
struct FastDivisor {
  uint32_t divisor = 1, factor = 1, shift = 0;

  FastDivisor() = default;
  /// `by` is in [1, 2^31).
  explicit FastDivisor(int64_t by) : divisor(uint32_t(by)) {
    while ((uint64_t(1) << shift) < divisor)
      ++shift;
    uint64_t above = (uint64_t(1) << shift) - divisor;
    factor = uint32_t((above << 32) / divisor + 1);
  }
  AICF_HOST_DEVICE uint32_t quotient(uint32_t n) const {
    return (uint32_t(uint64_t(n) * factor >> 32) + n) >> shift;
  }
};

} // namespace aicf

#endif // AICF_LIB_BASE_FASTDIVISOR_H
