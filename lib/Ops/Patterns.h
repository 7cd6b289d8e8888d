//===- Patterns.h - bodies that kernel families take ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The shape of a body, without types: one primitive, or a pattern of several
// that a family's record declares (BodyPattern in KernelFamily.td). Asked by
// the kernel table, by fusion and by the loader, which refuses a body of no
// pattern. Matching is deterministic and linear in the body.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_PATTERNS_H
#define AICF_LIB_OPS_PATTERNS_H

#include "aicf/Body.h"
#include "aicf/Span.h"

#include <optional>

namespace aicf {

struct NodeInfo {
  std::string_view name;
  OpKind kind;
  bool isOptional;
};
/// An operand slot, or a result, of a node.
struct NodeSlot {
  uint8_t node, slot;
  bool operator==(const NodeSlot &o) const {
    return node == o.node && slot == o.slot;
  }
};
/// The operand is that result (`isResult`), or the same value as that operand.
struct BindingInfo {
  NodeSlot operand, to;
  bool isResult;
};
/// An optional operand that is there, or is not.
struct PresenceInfo {
  NodeSlot operand;
  bool isThere;
};
/// The result may take the operand's storage, if nothing but operands that it
/// is tied to reads that one.
struct PatternTieInfo {
  NodeSlot result, operand;
};

/// What a pattern says whose nodes stand many times.
struct BatchInfo {
  size_t maxGroups;
  Span<const PresenceInfo> presences;
  Span<const NodeSlot> shared; ///< operands that all groups share
  bool hasOwnFields = false;   ///< fields of one group need not be another's
};

/// Limits of a pattern that takes any elementwise primitives: with sums of them
/// if maxSums is not 0, with reductions inside if maxReductions is not, and with
/// a product if the pattern has a node.
struct GraphInfo {
  size_t maxPrimitives, maxOperands, maxResults, maxSums, maxReductions;
};

struct PatternInfo {
  std::string_view name;
  Span<const NodeInfo> nodes;
  Span<const BindingInfo> bindings;
  /// Results that are read inside and are, or may be, results of the call.
  Span<const NodeSlot> keeps, mayKeep;
  Span<const PatternTieInfo> ties;
  const BatchInfo *batch; ///< null: the nodes stand once
  const GraphInfo *graph; ///< null: `nodes` says which primitives
};

inline constexpr size_t kMaxNodes = 8;

/// How the nodes of a pattern lie in a body.
struct PatternForm {
  size_t numGroups = 0;
  /// Primitives of one group, and values that they make.
  size_t stride = 0, numMade = 0;
  /// The primitive of each node in its group, -1 where it is absent, and how
  /// many values those before it make.
  int8_t primitiveOf[kMaxNodes] = {};
  uint8_t madeBefore[kMaxNodes] = {};

  /// The primitive of a node that is there, and the number of its first result.
  size_t primitiveAt(size_t node, size_t group) const {
    return group * stride + size_t(primitiveOf[node]);
  }
  uint32_t firstResultOf(const Body &body, size_t node, size_t group) const {
    return body.numOperands + uint32_t(group * numMade) + madeBefore[node];
  }
};

/// Where the nodes of `pattern` are, by kinds alone: optional ones are there
/// if their kind comes next. Nothing for a graph, which names no nodes.
std::optional<PatternForm> formOf(const PatternInfo &pattern, const Body &body);

/// A body's pattern: the number of a kind for one primitive, else
/// kNumOpKinds + the position in allPatterns().
using PatternId = uint16_t;
Span<const PatternInfo> allPatterns();
/// The pattern with this number, null for a single primitive.
const PatternInfo *patternOf(PatternId id);
/// "gemm" or "gemm_bias".
std::string_view nameOfPattern(PatternId id);
/// Returns true if `body`, in normal form, is one of those that `pattern`
/// describes; one group of a batch alone is.
bool matches(const PatternInfo &pattern, const Body &body);

/// What follows from a body in normal form alone.
struct BodyFacts {
  /// The pattern that takes the body, or nullopt.
  std::optional<PatternId> pattern;
  /// How many of the values that it makes somebody reads, or are results.
  size_t numMade = 0;
  /// For each result of the call the operands whose storage it may take: those
  /// of a record's or a pattern's ties that no other slot of the body reads; of
  /// a graph all.
  std::vector<std::vector<uint32_t>> ties;

  bool mayShareStorage(size_t result, size_t operand) const {
    for (uint32_t tied : ties[result])
      if (tied == operand)
        return true;
    return false;
  }
};
BodyFacts factsOf(const Body &body);

// clang-format off
#define AICF_PATTERN_NUMBERS
#include "lib/Ops/Patterns.inc"
// clang-format on

} // namespace aicf

#endif // AICF_LIB_OPS_PATTERNS_H
