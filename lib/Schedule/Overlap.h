//===- Overlap.h - byte ranges against lifetimes ----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Used by the compiler's verify pass and by the plan loader.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_SCHEDULE_OVERLAP_H
#define AICF_LIB_SCHEDULE_OVERLAP_H

#include "lib/Schedule/HappensBefore.h"

#include <optional>

namespace aicf {

/// Bytes [begin, end) of a segment and the calls that access them.
struct PlacedRange {
  uint64_t begin = 0, end = 0;
  const AccessSet *accesses = nullptr; ///< not empty
};

/// A pair of ranges that share bytes although neither's accesses all happen
/// before the other's; nothing if there is none. O(n log n): ranges that share
/// an address form a chain under happens-before, so only neighbours in the
/// chain are compared.
std::optional<std::pair<size_t, size_t>>
findConflict(Span<const PlacedRange> ranges, const HappensBefore &order);

} // namespace aicf

#endif // AICF_LIB_SCHEDULE_OVERLAP_H
