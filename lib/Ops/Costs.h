//===- Costs.h - what work costs on a device --------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The numbers by which passes and families decide what is faster. They decide
// neither what a plan computes nor whether it runs: a kernel's `takes` cannot
// see them, so a plan loads and keeps its bits whatever they become. What
// decides bits is in the families' Schedule.h. `aicf-plan costs` prints them.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_COSTS_H
#define AICF_LIB_OPS_COSTS_H

#include "aicf/Span.h"
#include "aicf/Types.h"

#include <string>
#include <string_view>

namespace aicf {

/// X(member, name in text, unit or "", what it says). In the order of the
/// pipeline; those behind `multiprocessors` are of a GPU's kernels alone.
#define AICF_COSTS(X)                                                          \
  X(callBytes, "call_bytes", "bytes",                                          \
    "a call takes as long as moving so many")                                  \
  X(narrowProductBytes, "narrow_product_bytes", "bytes",                       \
    "a product of one column or term with an operand or result as large "      \
    "becomes elementwise; -1: none does")                                      \
  X(tiledRowBytes, "tiled_row_bytes", "bytes",                                 \
    "shorter rows of a transposed tensor are read element by element")         \
  X(copiedViews, "copied_views", "",                                           \
    "so many views of one argument, or more, are copied together")             \
  X(cachedBytes, "cached_bytes", "bytes",                                      \
    "what a call moves stays in a cache up to so many")                        \
  X(nearCalls, "near_calls", "",                                               \
    "a value may live over so many calls more for a fusion")                   \
  X(repeatedPrimitives, "repeated_primitives", "",                             \
    "at most so many are computed again to move less")                         \
  X(freeBytes, "free_bytes", "bytes",                                          \
    "for so many of temps no stream waits")                                    \
  X(multiprocessors, "multiprocessors", "", "blocks that run at a time")       \
  X(smallProductTiles, "small_product_tiles", "",                              \
    "tiles of 32x32 of a multiprocessor, up to which a product is small")      \
  X(smallBatchTiles, "small_batch_tiles", "", "the same of batches")           \
  X(smallProductDepth, "small_product_depth", "",                              \
    "terms of a sum, up to which a product is small")                          \
  X(smallProductWork, "small_product_work", "",                                \
    "tiles times terms, up to which a product is small")                       \
  X(sumElements, "sum_elements", "",                                           \
    "sums of more elements need many results, or several blocks for one")      \
  X(manySums, "many_sums", "",                                                 \
    "results of a multiprocessor, from which on they are many")                \
  X(groupTurns, "group_turns", "",                                             \
    "turns that a group of threads takes at most for its rows")                \
  X(groupReductions, "group_reductions", "", "reductions of a group at most")  \
  X(groupFunctions, "group_functions", "",                                     \
    "functions in the text of a group's kernel at most, which ptxas compiles") \
  X(groupElements, "group_elements", "",                                       \
    "primitives of rows with more elements become a text")

struct Costs {
  std::string_view name; ///< of the profile
  DeviceKind device = DeviceKind::CPU;
  std::string_view origin; ///< where the numbers come from
#define AICF_COST(MEMBER, NAME, UNIT, WHAT) int64_t MEMBER = 0;
  AICF_COSTS(AICF_COST)
#undef AICF_COST

  /// One line a number: its name, the number, its unit, what it says.
  std::string toString() const;
};

/// One of the numbers, for who prints them or is given some by name.
struct CostField {
  using Member = int64_t Costs::*;
  std::string_view name, unit, what;
  Member member;
};
Span<const CostField> costFields();
/// The field of a name, or nullptr.
const CostField *findCostField(std::string_view name);

/// The profiles; the first one of a device is its default.
Span<const Costs> allCosts();
/// The first profile of all for a device that has none.
const Costs &defaultCosts(DeviceKind device);
/// The profile of a name, or nullptr.
const Costs *findCosts(std::string_view name);

} // namespace aicf

#endif // AICF_LIB_OPS_COSTS_H
