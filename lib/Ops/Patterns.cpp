//===- Patterns.cpp - bodies that kernel families take --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/Patterns.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Ops/Graphs.h"

namespace aicf {
namespace {

// clang-format off
#define AICF_PATTERN_TABLES
#include "lib/Ops/Patterns.inc"
// clang-format on

/// One way in which a body may lie in a pattern.
class Match {
public:
  Match(const PatternInfo &pattern, const Body &body, PatternForm form)
      : pattern(pattern), body(body), form(form) {}

  bool holds() const {
    for (size_t group = 0; group < form.numGroups; ++group)
      if (!bindingsHold(group) || !readsInsideAreBound(group) ||
          !isLikeFirst(group) || (pattern.batch && !presencesHold(group)))
        return false;
    return yieldsHold();
  }
  /// The value number in a node's slot, or kAbsentValue.
  int32_t operand(NodeSlot where, size_t group) const {
    return body.primitives[form.primitiveAt(where.node, group)]
        .operands[where.slot];
  }
  int32_t result(NodeSlot where, size_t group) const {
    return int32_t(form.firstResultOf(body, where.node, group)) + where.slot;
  }
  bool isThere(NodeSlot where) const {
    return form.primitiveOf[where.node] >= 0;
  }
  size_t numGroups() const { return form.numGroups; }
  size_t groupOf(size_t primitive) const { return primitive / form.stride; }
  /// The node and slot of a primitive's slot; where the pattern binds it to
  /// another operand, that one's.
  NodeSlot nodeSlotOf(size_t primitive, size_t slot) const {
    NodeSlot where{0, uint8_t(slot)};
    while (form.primitiveOf[where.node] != int8_t(primitive % form.stride))
      ++where.node;
    for (const BindingInfo &b : pattern.bindings)
      if (!b.isResult && b.operand == where)
        return b.to;
    return where;
  }

private:
  /// Checks bindings of nodes that are there; the target of a binding is
  /// never optional.
  bool bindingsHold(size_t group) const {
    for (const BindingInfo &b : pattern.bindings) {
      if (!isThere(b.operand))
        continue;
      int32_t value = operand(b.operand, group);
      if (value != (b.isResult ? result(b.to, group) : operand(b.to, group)))
        return false;
    }
    return true;
  }
  /// A slot that reads a value of the body is one that the pattern binds to it:
  /// the kernel has no memory to read any other from.
  bool readsInsideAreBound(size_t group) const {
    for (size_t s = 0; s < form.stride; ++s) {
      size_t primitive = group * form.stride + s;
      const std::vector<int32_t> &operands =
          body.primitives[primitive].operands;
      for (size_t slot = 0; slot < operands.size(); ++slot)
        if (operands[slot] >= int32_t(body.numOperands) &&
            !isBoundToResult(nodeSlotOf(primitive, slot)))
          return false;
    }
    return true;
  }
  /// Takes what nodeSlotOf() gives: what is bound to an operand is
  /// that one.
  bool isBoundToResult(NodeSlot where) const {
    for (const BindingInfo &b : pattern.bindings)
      if (b.operand == where)
        return true;
    return false;
  }
  bool presencesHold(size_t group) const {
    for (const PresenceInfo &p : pattern.batch->presences)
      if ((operand(p.operand, group) != kAbsentValue) != p.isThere)
        return false;
    return true;
  }
  /// Fields, unless they are a group's own, and shared operands as in the first
  /// group. (No group reads what another one makes: what is bound is bound to
  /// its own.) Whether an optional operand is there, all groups share or the
  /// pattern says.
  bool isLikeFirst(size_t group) const {
    const bool hasOwnFields = pattern.batch && pattern.batch->hasOwnFields;
    for (size_t s = 0; s < form.stride && !hasOwnFields; ++s)
      if (body.primitives[group * form.stride + s].attrs !=
          body.primitives[s].attrs)
        return false;
    if (pattern.batch)
      for (NodeSlot where : pattern.batch->shared)
        if (operand(where, group) != operand(where, 0))
          return false;
    return true;
  }
  /// What is read inside is yielded if the pattern keeps it; all else is.
  bool yieldsHold() const {
    std::vector<bool> isRead(body.numValues()), isYielded(isRead.size());
    for (const Primitive &primitive : body.primitives)
      for (int32_t value : primitive.operands)
        if (value != kAbsentValue)
          isRead[size_t(value)] = true;
    for (uint32_t value : body.results)
      isYielded[value] = true;
    for (size_t group = 0; group < form.numGroups; ++group) {
      for (NodeSlot kept : pattern.keeps)
        if (!isYielded[size_t(result(kept, group))])
          return false;
      for (Span<const NodeSlot> both : {pattern.keeps, pattern.mayKeep})
        for (NodeSlot kept : both)
          isRead[size_t(result(kept, group))] = false;
    }
    for (size_t value = 0; value < isRead.size(); ++value)
      if (isRead[value] && isYielded[value])
        return false;
    return true;
  }

  const PatternInfo &pattern;
  const Body &body;
  PatternForm form;
};

std::optional<Match> matchPattern(const PatternInfo &pattern,
                                  const Body &body) {
  auto form = formOf(pattern, body);
  if (!form)
    return std::nullopt;
  Match match(pattern, body, *form);
  return match.holds() ? std::optional(match) : std::nullopt;
}

} // namespace

std::optional<PatternForm> formOf(const PatternInfo &pattern,
                                  const Body &body) {
  if (pattern.graph)
    return std::nullopt;
  PatternForm form;
  size_t numPrimitives = body.primitives.size();
  // aicf-tblgen refuses more, which GCC cannot know.
  size_t numNodes = std::min(pattern.nodes.size(), size_t(kMaxNodes));
  for (size_t e = 0; e < numNodes; ++e) {
    const NodeInfo &node = pattern.nodes[e];
    bool isThere = form.stride < numPrimitives &&
                   body.primitives[form.stride].kind == node.kind;
    if (!isThere && !node.isOptional)
      return std::nullopt;
    form.madeBefore[e] = uint8_t(form.numMade);
    form.primitiveOf[e] = int8_t(isThere ? int(form.stride) : -1);
    if (isThere)
      form.numMade += body.primitives[form.stride++].numResults();
  }
  form.numGroups = numPrimitives / form.stride;
  size_t most = pattern.batch ? pattern.batch->maxGroups : 1;
  if (numPrimitives % form.stride != 0 || form.numGroups > most)
    return std::nullopt;
  for (size_t i = form.stride; i < numPrimitives; ++i)
    if (body.primitives[i].kind != body.primitives[i % form.stride].kind)
      return std::nullopt;
  return form;
}

Span<const PatternInfo> allPatterns() {
  return {kPatterns, sizeof(kPatterns) / sizeof(kPatterns[0])};
}

const PatternInfo *patternOf(PatternId id) {
  return id < kNumOpKinds ? nullptr : &kPatterns[id - kNumOpKinds];
}

std::string_view nameOfPattern(PatternId id) {
  const PatternInfo *pattern = patternOf(id);
  return pattern ? pattern->name : nameOf(OpKind(id));
}

bool matches(const PatternInfo &pattern, const Body &body) {
  return pattern.graph ? isGraph(pattern, body)
                       : matchPattern(pattern, body).has_value();
}

/// A primitive's ties are those of its record.
static void addRecordTies(const Body &body, BodyFacts &facts) {
  const Primitive &primitive = body.primitives.front();
  CallSlots slots =
      *CallSlots::of(infoOf(primitive.kind), primitive.operands.size());
  for (size_t r = 0; r < body.results.size(); ++r)
    for (size_t slot = 0; slot < primitive.operands.size(); ++slot)
      if (primitive.operands[slot] != kAbsentValue &&
          slots.mayShareStorage(body.results[r] - body.numOperands, slot))
        facts.ties[r].push_back(uint32_t(primitive.operands[slot]));
}

/// A graph's kernel reads at a place all that it reads there before it writes.
/// What is left of reductions is read by many threads and written by one, at
/// any time.
static void addGraphTies(const Body &body, BodyFacts &facts) {
  const std::vector<Extent> extents = graphExtents(body);
  auto mayTie = [&](uint32_t value) { return extents[value] == Extent::Whole; };
  for (size_t r = 0; r < body.results.size(); ++r)
    for (uint32_t operand = 0; operand < body.numOperands; ++operand)
      if (mayTie(body.results[r]) && mayTie(operand))
        facts.ties[r].push_back(operand);
}

namespace {
/// The ties of a pattern that hold in a body. A pattern says which operands a
/// result may overwrite, each by itself: a kernel is done with that operand, at
/// the element that it writes. Whatever else of the body reads the same value,
/// a slot of another meaning or another group, may do so later. Where the
/// result is there, so is the operand.
class PatternTies {
public:
  PatternTies(const PatternInfo &pattern, const Match &match, const Body &body)
      : pattern(pattern), match(match), body(body), readers(body.numOperands) {
    for (size_t primitive = 0; primitive < body.primitives.size(); ++primitive)
      for (size_t slot = 0; slot < body.primitives[primitive].operands.size();
           ++slot) {
        int32_t value = body.primitives[primitive].operands[slot];
        if (value >= 0 && value < int32_t(body.numOperands))
          readers[size_t(value)].push_back(
              {uint32_t(primitive), uint32_t(slot)});
      }
  }

  void addTo(BodyFacts &facts) const {
    std::vector<size_t> resultOf(body.numValues(), body.results.size());
    for (size_t r = 0; r < body.results.size(); ++r)
      resultOf[body.results[r]] = r;
    for (const PatternTieInfo &tie : pattern.ties)
      for (size_t group = 0; group < match.numGroups(); ++group) {
        size_t r = resultOf[size_t(match.result(tie.result, group))];
        int32_t operand = match.operand(tie.operand, group);
        if (r < facts.ties.size() &&
            isReadByTiesAlone(tie.result, group, size_t(operand)))
          facts.ties[r].push_back(uint32_t(operand));
      }
  }

private:
  struct Reader {
    uint32_t primitive, slot;
  };
  /// Every slot that reads `operand` is of this group, and the pattern ties
  /// `result` to it, too.
  bool isReadByTiesAlone(NodeSlot result, size_t group, size_t operand) const {
    for (Reader reader : readers[operand])
      if (match.groupOf(reader.primitive) != group ||
          !isTied(result, match.nodeSlotOf(reader.primitive, reader.slot)))
        return false;
    return true;
  }
  bool isTied(NodeSlot result, NodeSlot operand) const {
    for (const PatternTieInfo &tie : pattern.ties)
      if (tie.result == result && tie.operand == operand)
        return true;
    return false;
  }

  const PatternInfo &pattern;
  const Match &match;
  const Body &body;
  std::vector<std::vector<Reader>> readers; ///< of each operand
};
} // namespace

BodyFacts factsOf(const Body &body) {
  BodyFacts facts;
  facts.numMade = valuesMade(body).size();
  facts.ties.resize(body.results.size());
  if (body.primitives.size() == 1) {
    facts.pattern = PatternId(body.primitives.front().kind);
    addRecordTies(body, facts);
    return facts;
  }
  for (size_t i = 0; i < allPatterns().size() && !facts.pattern; ++i) {
    const PatternInfo &pattern = allPatterns()[i];
    if (pattern.graph && isGraph(pattern, body)) {
      facts.pattern = PatternId(kNumOpKinds + i);
      addGraphTies(body, facts);
    } else if (auto match = matchPattern(pattern, body)) {
      facts.pattern = PatternId(kNumOpKinds + i);
      PatternTies(pattern, *match, body).addTo(facts);
    }
  }
  return facts;
}

} // namespace aicf
