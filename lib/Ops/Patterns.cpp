//===- Patterns.cpp - bodies that kernel families take --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/Patterns.h"
#include "lib/Ops/BodyRules.h"

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
  /// The value number at a place; kAbsentValue where nothing stands.
  int32_t operand(PlaceInfo place, size_t group) const {
    return body.steps[form.stepAt(place.element, group)].operands[place.slot];
  }
  int32_t result(PlaceInfo place, size_t group) const {
    return int32_t(form.firstResultOf(body, place.element, group)) + place.slot;
  }
  bool isThere(PlaceInfo place) const {
    return form.stepOf[place.element] >= 0;
  }
  size_t numGroups() const { return form.numGroups; }
  size_t groupOf(size_t step) const { return step / form.stride; }
  /// The place of a slot of a step; where the pattern binds it to another
  /// operand, that one's.
  PlaceInfo placeOf(size_t step, size_t slot) const {
    PlaceInfo place{0, uint8_t(slot)};
    while (form.stepOf[place.element] != int8_t(step % form.stride))
      ++place.element;
    for (const BindingInfo &b : pattern.bindings)
      if (!b.isResult && b.operand == place)
        return b.to;
    return place;
  }

private:
  /// Checks bindings of elements that are there; the target of a binding is
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
      size_t step = group * form.stride + s;
      const std::vector<int32_t> &operands = body.steps[step].operands;
      for (size_t slot = 0; slot < operands.size(); ++slot)
        if (operands[slot] >= int32_t(body.numOperands) &&
            !isBoundToResult(placeOf(step, slot)))
          return false;
    }
    return true;
  }
  /// Takes a place as placeOf() gives it: what is bound to an operand is that
  /// one.
  bool isBoundToResult(PlaceInfo place) const {
    for (const BindingInfo &b : pattern.bindings)
      if (b.operand == place)
        return true;
    return false;
  }
  bool presencesHold(size_t group) const {
    for (const PresenceInfo &p : pattern.batch->presences)
      if ((operand(p.operand, group) != kAbsentValue) != p.isThere)
        return false;
    return true;
  }
  /// Fields and shared operands as in the first group. (No group reads what
  /// another one makes: what is bound is bound to its own.) Whether an optional
  /// operand is there, all groups share or the pattern says.
  bool isLikeFirst(size_t group) const {
    for (size_t s = 0; s < form.stride; ++s)
      if (body.steps[group * form.stride + s].attrs != body.steps[s].attrs)
        return false;
    if (pattern.batch)
      for (PlaceInfo place : pattern.batch->shared)
        if (operand(place, group) != operand(place, 0))
          return false;
    return true;
  }
  /// What is read inside is yielded if the pattern keeps it; all else is.
  bool yieldsHold() const {
    std::vector<bool> isRead(body.numValues()), isYielded(isRead.size());
    for (const BodyStep &step : body.steps)
      for (int32_t value : step.operands)
        if (value != kAbsentValue)
          isRead[size_t(value)] = true;
    for (uint32_t value : body.results)
      isYielded[value] = true;
    for (size_t group = 0; group < form.numGroups; ++group) {
      for (PlaceInfo kept : pattern.keeps)
        if (!isYielded[size_t(result(kept, group))])
          return false;
      for (Span<const PlaceInfo> both : {pattern.keeps, pattern.mayKeep})
        for (PlaceInfo kept : both)
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
  PatternForm form;
  size_t numSteps = body.steps.size();
  if (pattern.elements.size() > kMaxElements) // aicf-tblgen refuses it
    return std::nullopt;
  for (size_t e = 0; e < pattern.elements.size(); ++e) {
    const ElementInfo &element = pattern.elements[e];
    bool isThere =
        form.stride < numSteps && body.steps[form.stride].kind == element.kind;
    if (!isThere && !element.isOptional)
      return std::nullopt;
    form.madeBefore[e] = uint8_t(form.numMade);
    form.stepOf[e] = int8_t(isThere ? int(form.stride) : -1);
    if (isThere)
      form.numMade += body.steps[form.stride++].numResults();
  }
  form.numGroups = numSteps / form.stride;
  size_t most = pattern.batch ? pattern.batch->maxGroups : 1;
  if (numSteps % form.stride != 0 || form.numGroups > most)
    return std::nullopt;
  for (size_t i = form.stride; i < numSteps; ++i)
    if (body.steps[i].kind != body.steps[i % form.stride].kind)
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
  return matchPattern(pattern, body).has_value();
}

/// A primitive's ties are those of its record.
static void addRecordTies(const Body &body, BodyFacts &facts) {
  const BodyStep &step = body.steps.front();
  CallSlots slots = *CallSlots::of(infoOf(step.kind), step.operands.size());
  for (size_t r = 0; r < body.results.size(); ++r)
    for (size_t slot = 0; slot < step.operands.size(); ++slot)
      if (step.operands[slot] != kAbsentValue &&
          slots.mayShareStorage(body.results[r] - body.numOperands, slot))
        facts.ties[r].push_back(uint32_t(step.operands[slot]));
}

namespace {
/// The ties of a pattern that hold in a body. A pattern says which operands a
/// result may overwrite, each by itself: a kernel is done with that operand, at
/// the element that it writes. Whatever else of the body reads the same value,
/// a slot of another meaning or another group, may do so later.
class PatternTies {
public:
  PatternTies(const PatternInfo &pattern, const Match &match, const Body &body)
      : pattern(pattern), match(match), body(body), readers(body.numOperands) {
    for (size_t step = 0; step < body.steps.size(); ++step)
      for (size_t slot = 0; slot < body.steps[step].operands.size(); ++slot) {
        int32_t value = body.steps[step].operands[slot];
        if (value >= 0 && value < int32_t(body.numOperands))
          readers[size_t(value)].push_back({uint32_t(step), uint32_t(slot)});
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
        if (r < facts.ties.size() && operand != kAbsentValue &&
            isReadByTiesAlone(tie.result, group, size_t(operand)))
          facts.ties[r].push_back(uint32_t(operand));
      }
  }

private:
  struct Reader {
    uint32_t step, slot;
  };
  /// Every slot that reads `operand` is of this group, and the pattern ties
  /// `result` to it, too.
  bool isReadByTiesAlone(PlaceInfo result, size_t group, size_t operand) const {
    for (Reader reader : readers[operand])
      if (match.groupOf(reader.step) != group ||
          !isTied(result, match.placeOf(reader.step, reader.slot)))
        return false;
    return true;
  }
  bool isTied(PlaceInfo result, PlaceInfo operand) const {
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
  if (body.steps.size() == 1) {
    facts.pattern = PatternId(body.steps.front().kind);
    addRecordTies(body, facts);
    return facts;
  }
  for (size_t i = 0; i < allPatterns().size() && !facts.pattern; ++i)
    if (auto match = matchPattern(allPatterns()[i], body)) {
      facts.pattern = PatternId(kNumOpKinds + i);
      PatternTies(allPatterns()[i], *match, body).addTo(facts);
    }
  return facts;
}

} // namespace aicf
