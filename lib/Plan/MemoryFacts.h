//===- MemoryFacts.h - what values cost or spare ----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For reports. Reads a verified plan; nothing of it is stored there.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_PLAN_MEMORYFACTS_H
#define AICF_LIB_PLAN_MEMORYFACTS_H

#include "aicf/Plan.h"

namespace aicf {

/// Why a value takes memory, or takes none of its own.
enum class MemoryUse : uint8_t {
  Save, ///< a temp that forward makes and backward reads
  View, ///< a call reads elements of another value where they lie
  Part  ///< a call writes elements of another value where they belong
};

struct MemoryFact {
  MemoryUse use;
  uint32_t value; ///< its number
  /// What a save holds; what a copy of a view or part would take.
  uint64_t bytes;
};

/// Returns what is known of the values of an entry, the largest first; of values
/// of equal size the one with the lower number.
std::vector<MemoryFact> memoryFactsOf(const Plan &plan, const PlanEntry &entry);

} // namespace aicf

#endif // AICF_LIB_PLAN_MEMORYFACTS_H
