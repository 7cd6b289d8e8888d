//===- OpInfo.h - what a record says of a primitive -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The types of the tables in Ops.h, and where the operands of a call stand in
// them. The words are explained at their classes in Record.td.
//===----------------------------------------------------------------------===//
#ifndef AICF_OPINFO_H
#define AICF_OPINFO_H

#include "aicf/Types.h"

#include <optional>

namespace aicf {

enum class Presence : uint8_t { Plain, Optional, Variadic };
enum class ElementTypes : uint8_t { Any, Float, Int, I32, Bool, Number, F32, Wide };
enum class TypeRule : uint8_t {
  Checked,
  Like,
  ScalarOf,
  WideScalarOf,
  RowsOf,
  BoolLike,
  ScalarI32,
  F32Like,
  F16Like,
  BF16Like,
  F64Like
};
enum class Range : uint8_t {
  Any,
  NotNaN,
  Finite,
  Positive,
  NonNegative,
  AtLeastOne,
  BelowOne,
  Fraction,
  NonNegative31,
  AtLeastMinusOne31,
  Below31,
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

/// The fields of a record that has none.
struct NoAttrs {};

struct OperandInfo {
  std::string_view name;
  Presence presence;
  ElementTypes elementTypes;
  int8_t like; ///< position of the operand whose type it has, or -1
  /// Says of indices the position of the operand that they index (-1: they are
  /// none), the dimension (-1 is the last), and the field with a number that
  /// may stand among them, or -1.
  int8_t indexed = -1, axis = 0, exempt = -1;
};

struct ResultInfo {
  std::string_view name;
  Presence presence;
  ElementTypes elementTypes;
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
/// the record.
struct TieInfo {
  uint8_t result;
  uint8_t operand;
};

/// Whether pads of the results come from zeros alone and are zeros: all, or,
/// where the field `axis` is the last dimension, those behind the columns.
enum class KeepsZeros : uint8_t { No, InColumns, Everywhere };

/// What a primitive makes of the elements that go together.
enum class Reduction : uint8_t { None, Sum, Mean };

/// Everything about an op kind that does not depend on the call.
struct OpInfo {
  std::string_view name; ///< empty for a number that no kind has any more
  uint32_t schema;       ///< fourcc of the attr layout, 0 for none
  uint32_t attrBytes;    ///< size of the attr blob
  const FieldInfo *fields;
  size_t numFields;
  const OperandInfo *operands;
  size_t numOperands;
  const ResultInfo *results;
  size_t numResults;
  const TieInfo *ties;
  size_t numTies;
  bool hasVariadic; ///< operand 0 stands once or more
  size_t numConstraints;
  Phase phase;
  Precision precision;
  KeepsZeros keepsZeros;
  /// Each element of the one result depends on the element at the same place of
  /// each operand, and on nothing else.
  bool isElementwise;
  /// Whether the result is operand 0 summed over dimensions, and divided or
  /// not. Which dimensions, its shape and the field `axis` say, as for
  /// reduce_sum.
  Reduction reduction;

  bool isSum() const { return reduction != Reduction::None; }
};

/// Parameters that one update call takes: they travel as kernel parameters, of
/// which there are 32,764 bytes.
inline constexpr size_t kMaxUpdateGroups = 256;

/// Where the record's operands stand in a call of one primitive. Each operand
/// has one slot, which is empty if it is absent. A variadic operand comes first
/// and has one slot per value.
struct CallSlots {
  const OpInfo *info;
  size_t numVariadic; ///< slots of the variadic operand; 0 without one

  /// The slots, or nullopt if no call of the kind has so many operands.
  static constexpr std::optional<CallSlots> of(const OpInfo &info,
                                               size_t operandSlots) {
    size_t plain = info.numOperands - info.hasVariadic;
    bool fits = info.hasVariadic ? operandSlots > plain : operandSlots == plain;
    return fits ? std::optional(CallSlots{&info, operandSlots - plain})
                : std::nullopt;
  }
  /// The record's operand that stands at `slot`.
  constexpr size_t operandAt(size_t slot) const {
    if (!info->hasVariadic)
      return slot;
    return slot < numVariadic ? 0 : slot - numVariadic + 1;
  }
  /// The first slot of the record's operand `operand`.
  constexpr size_t slotOf(size_t operand) const {
    return info->hasVariadic && operand > 0 ? operand + numVariadic - 1
                                            : operand;
  }
  /// True when the result at one slot may take the storage of the operand at
  /// the other.
  constexpr bool mayShareStorage(size_t result, size_t slot) const {
    for (size_t i = 0; i < info->numTies; ++i)
      if (info->ties[i].result == result &&
          info->ties[i].operand == operandAt(slot))
        return true;
    return false;
  }
};

} // namespace aicf

#endif // AICF_OPINFO_H
