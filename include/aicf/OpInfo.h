//===- OpInfo.h - what a record says of a primitive -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The types of the tables in Ops.h, and where the operands of a call stand in
// them. The words are explained at their classes in AICFRTBase.td.
//===----------------------------------------------------------------------===//
#ifndef AICF_OPINFO_H
#define AICF_OPINFO_H

#include "aicf/Types.h"

#include <optional>

namespace aicf {

enum class Presence : uint8_t { Plain, Optional, Grouped };
enum class Elements : uint8_t { Any, Float, Int, I32 };
enum class TypeRule : uint8_t {
  Checked,
  Like,
  ScalarOf,
  WideScalarOf,
  RowsOf,
  Flag
};
enum class Range : uint8_t {
  Any,
  Finite,
  NonNegative,
  AtLeastOne,
  BelowOne,
  Fraction,
  Positive31,
  ZeroOrOne
};
enum class Phase : uint8_t { Forward, Backward, Guard, Counter, Update, Data };
/// Phases of the update half of a step: optimizers, counters, and what depends
/// on a count alone.
constexpr bool isUpdateHalf(Phase phase) {
  return phase == Phase::Update || phase == Phase::Counter;
}
enum class Precision : uint8_t { Narrow, Keep, Wide };
enum class Scaling : uint8_t { None, Linear, Sum, Seed };

/// The fields of a record that has none.
struct NoAttrs {};

struct OperandInfo {
  std::string_view name;
  Presence presence;
  Elements elements;
  int8_t like; ///< position of the operand whose type it has, or -1
};

struct ResultInfo {
  std::string_view name;
  Presence presence;
  Elements elements;
  TypeRule rule;
  uint8_t of; ///< position of the operand that `rule` refers to
};

/// One field of an attr blob; `format` is Python's struct character.
struct FieldInfo {
  std::string_view name;
  char format;
  uint32_t offset; ///< bytes
  Range range;
  bool hasDefault;
  double defaultValue;
};

/// Result `result` may take over the storage of operand `operand`; positions in
/// the record, within each group for grouped ones.
struct TieInfo {
  uint8_t result;
  uint8_t operand;
};

/// Everything about an op kind that does not depend on the call.
struct OpInfo {
  std::string_view name;
  uint32_t schema;    ///< fourcc of the attr layout, 0 for none
  uint32_t attrBytes; ///< size of the attr blob
  const FieldInfo *fields;
  size_t numFields;
  const OperandInfo *operands;
  size_t numOperands;
  const ResultInfo *results;
  size_t numResults;
  const TieInfo *ties;
  size_t numTies;
  size_t groupOperands, groupResults; ///< how many are grouped; they come first
  bool
      hasCopies; ///< a call may have one more result a group, behind all groups
  size_t numConstraints;
  Phase phase;
  Precision precision;
  Scaling scaling;
};

/// Parameters that one update call takes: they travel as kernel parameters, of
/// which there are 32,764 bytes.
inline constexpr size_t kMaxUpdateGroups = 256;

/// A rounded copy of a new parameter: see OpInfo::hasCopies.
inline constexpr ResultInfo kCopyResult = {
    "copy", Presence::Plain, Elements::Float, TypeRule::Checked, 0};

/// The slots of one call: where each operand and result stands. A slot of an
/// absent operand is there, and empty.
///   operands  groups of `groupOperands`, then the others
///   results   groups of `groupResults`, then a copy a group or none, then the
///             others
struct CallSlots {
  const OpInfo *info;
  size_t groups; ///< 1 where the record has none

  /// Nothing where no call of the kind has so many operand slots.
  static constexpr std::optional<CallSlots> of(const OpInfo &info,
                                               size_t operandSlots) {
    size_t plain = info.numOperands - info.groupOperands;
    if (info.groupOperands == 0)
      return operandSlots == plain ? std::optional(CallSlots{&info, 1})
                                   : std::nullopt;
    if (operandSlots < plain + info.groupOperands ||
        (operandSlots - plain) % info.groupOperands != 0)
      return std::nullopt;
    return CallSlots{&info, (operandSlots - plain) / info.groupOperands};
  }

  constexpr size_t groupedResults() const {
    return groups * info->groupResults;
  }
  constexpr size_t plainResults() const {
    return info->numResults - info->groupResults;
  }
  /// True when a call may have so many result slots.
  constexpr bool takesResults(size_t slots) const {
    size_t least = groupedResults() + plainResults();
    return slots == least || (info->hasCopies && slots == least + groups);
  }
  /// The record's operand that stands at `slot`.
  constexpr size_t operandAt(size_t slot) const {
    size_t grouped = groups * info->groupOperands;
    return slot < grouped ? slot % info->groupOperands
                          : slot - grouped + info->groupOperands;
  }
  /// The result that stands at `slot` of `slots`, a number that takesResults().
  constexpr const ResultInfo &result(size_t slot, size_t slots) const {
    if (slot < groupedResults())
      return info->results[slot % info->groupResults];
    size_t firstPlain = slots - plainResults();
    return slot < firstPlain
               ? kCopyResult
               : info->results[slot - firstPlain + info->groupResults];
  }
  /// The slot of the record's operand `operand`, in group `group`.
  constexpr size_t slotOf(size_t operand, size_t group) const {
    return operand < info->groupOperands
               ? group * info->groupOperands + operand
               : operand + (groups - 1) * info->groupOperands;
  }
  /// True when the result at one slot may take the storage of the operand at
  /// the other.
  constexpr bool mayShareStorage(size_t result, size_t resultSlots,
                                 size_t operand) const {
    const ResultInfo &r = this->result(result, resultSlots);
    size_t o = operandAt(operand);
    bool isGrouped = r.presence == Presence::Grouped && o < info->groupOperands;
    if (isGrouped &&
        result / info->groupResults != operand / info->groupOperands)
      return false;
    for (size_t i = 0; i < info->numTies; ++i)
      if (&info->results[info->ties[i].result] == &r &&
          info->ties[i].operand == o)
        return true;
    return false;
  }
};

} // namespace aicf

#endif // AICF_OPINFO_H
