//===- SampleBodies.cpp - calls of several primitives, from patterns ------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// No fused call is written down: every row of the first node's kind is
// continued with every row of the others' kinds, and what some kernel takes is
// a sample.
//===----------------------------------------------------------------------===//

#include "lib/Ops/KernelTable.h"
#include "unittests/Common/SampleCalls.h"

#include <algorithm>

namespace aicf::test {
namespace {

/// A row for each node; null for one that is absent.
using Choice = std::vector<const KindRow *>;

constexpr uint32_t kFirstResult = 1000000;

/// Makes the body and the types of a call from samples of its primitives.
class Composer {
public:
  Composer(const PatternInfo &pattern, const Choice &choice, bool keepsAll)
      : pattern(pattern), choice(choice), keepsAll(keepsAll) {}

  /// Nothing where the primitives do not fit together.
  std::optional<Sample> compose(int64_t m, int64_t n);

private:
  /// One primitive of one group.
  struct Part {
    Sample sample;
    std::vector<int32_t> operands;
    uint32_t firstResult = 0;
  };
  bool addGroup(size_t group, int64_t m, int64_t n);
  bool addElement(size_t group, size_t e, int64_t m, int64_t n);
  bool makePart(size_t group, size_t e, int64_t m, int64_t n);
  const TensorDesc &boundType(size_t group, const BindingInfo &b) const;
  bool isRead(size_t e, size_t result) const;
  bool isKept(size_t e, size_t result) const;

  const PatternInfo &pattern;
  const Choice &choice;
  bool keepsAll;
  Sample all;
  Body body;
  std::vector<std::vector<Part>> parts; ///< by group and node
  std::vector<TensorDesc> made;         ///< results of all primitives
  std::vector<bool> isYielded;
};

/// True when a binding reads the result inside.
bool Composer::isRead(size_t e, size_t result) const {
  for (const BindingInfo &b : pattern.bindings)
    if (b.isResult && b.to.node == e && b.to.slot == result &&
        choice[b.operand.node])
      return true;
  return false;
}

bool Composer::isKept(size_t e, size_t result) const {
  NodeSlot where{uint8_t(e), uint8_t(result)};
  auto isAmong = [&](Span<const NodeSlot> kept) {
    return std::find(kept.begin(), kept.end(), where) != kept.end();
  };
  return isAmong(pattern.keeps) || (keepsAll && isAmong(pattern.mayKeep));
}

/// The type that the pattern binds an operand to.
const TensorDesc &Composer::boundType(size_t group,
                                      const BindingInfo &b) const {
  const Sample &source = parts[group][b.to.node].sample;
  return b.isResult ? source.outs[b.to.slot] : source.ins[b.to.slot];
}

/// A sample of a node's kind whose operands have the types that they are bound
/// to: of the size of one of these, or of the size that the other nodes have.
bool Composer::makePart(size_t group, size_t e, int64_t m, int64_t n) {
  int64_t rows = m, columns = n;
  std::vector<const BindingInfo *> bindings;
  for (const BindingInfo &b : pattern.bindings)
    if (b.operand.node == e)
      bindings.push_back(&b);
  for (const BindingInfo *b : bindings) {
    if (!choice[b->to.node])
      return false;
    if (const TensorDesc &type = boundType(group, *b); type.rank >= 2) {
      rows = type.dims[type.rank - 2];
      columns = type.dims[type.rank - 1];
    }
  }
  for (auto [ofRows, ofColumns] : {std::pair(rows, columns), std::pair(m, n)}) {
    Sample sample = choice[e]->make(ofRows, ofColumns);
    if (std::all_of(bindings.begin(), bindings.end(), [&](auto *b) {
          return b->operand.slot < sample.ins.size() &&
                 sample.ins[b->operand.slot] == boundType(group, *b);
        })) {
      parts[group][e].sample = std::move(sample);
      return true;
    }
  }
  return false;
}

/// Results are numbered from kFirstResult until the number of operands is
/// known.
bool Composer::addElement(size_t group, size_t e, int64_t m, int64_t n) {
  if (!makePart(group, e, m, n))
    return false;
  std::vector<Part> &of = parts[group];
  Part &part = of[e];
  const OpInfo &info = infoOf(choice[e]->kind);
  part.sample.ins.resize(std::max(part.sample.ins.size(), info.numOperands),
                         TensorDesc::absent());
  for (size_t slot = 0; slot < part.sample.ins.size(); ++slot) {
    const TensorDesc &desc = part.sample.ins[slot];
    std::optional<int32_t> value;
    for (const BindingInfo &b : pattern.bindings) {
      if (b.operand.node != e || b.operand.slot != slot)
        continue;
      const Part &source = of[b.to.node];
      value = b.isResult ? int32_t(source.firstResult) + b.to.slot
                         : source.operands[b.to.slot];
    }
    if (group > 0)
      for (NodeSlot where : pattern.batch->shared)
        if (where.node == e && where.slot == slot)
          value = parts[0][e].operands[slot];
    if (!value && desc.isAbsent)
      value = kAbsentValue;
    if (!value) {
      value = int32_t(all.ins.size());
      all.ins.push_back(desc);
    }
    part.operands.push_back(*value);
  }
  part.firstResult = kFirstResult + uint32_t(made.size());
  for (size_t r = 0; r < info.numResults; ++r) {
    made.push_back(part.sample.outs[r]);
    isYielded.push_back(!part.sample.outs[r].isAbsent &&
                        (!isRead(e, r) || isKept(e, r)));
  }
  body.primitives.push_back(
      {choice[e]->kind, part.sample.attrs, part.operands});
  return true;
}

bool Composer::addGroup(size_t group, int64_t m, int64_t n) {
  parts.emplace_back(choice.size());
  for (size_t e = 0; e < choice.size(); ++e)
    if (choice[e] && !addElement(group, e, m, n))
      return false;
  return true;
}

std::optional<Sample> Composer::compose(int64_t m, int64_t n) {
  if (!addGroup(0, m, n))
    return std::nullopt;
  if (pattern.batch && (!addGroup(1, n, m) || !addGroup(2, m + 1, n)))
    return std::nullopt;
  body.numOperands = uint32_t(all.ins.size());
  for (Primitive &primitive : body.primitives)
    for (int32_t &operand : primitive.operands)
      if (operand >= int32_t(kFirstResult))
        operand += int32_t(body.numOperands) - int32_t(kFirstResult);
  for (size_t i = 0; i < made.size(); ++i)
    if (isYielded[i]) {
      body.results.push_back(body.numOperands + uint32_t(i));
      all.outs.push_back(made[i]);
    }
  all.body = std::make_shared<Body>(body);
  return all;
}

/// "gemm_bias NT relu": what the rows are called beside their kinds.
std::string nameOfChoice(const PatternInfo &pattern, const Choice &choice,
                         bool keepsAll) {
  std::string name(pattern.name);
  for (size_t e = 0; e < choice.size(); ++e) {
    if (!choice[e])
      continue;
    std::string row = choice[e]->name, kind(nameOf(choice[e]->kind));
    bool isNamed = pattern.nodes[e].isOptional;
    std::string rest = row.substr(kind.size());
    name += (isNamed ? " " + kind : "") + rest;
  }
  return name + (keepsAll ? " kept" : "");
}

/// The pattern is its, and some kernel of some device takes it, and pays.
bool isTaken(const KindRow &row, const PatternInfo &pattern) {
  Sample sample = makeSample(row, 3, 4, row.usualType());
  StatusOr<TypedBody> typed = typedBodyOf(sample);
  if (!typed.ok() || patternOf(typed->pattern()) != &pattern)
    return false;
  for (DeviceKind device : kDeviceKinds)
    for (const KernelRow &kernel : kernelsFor(device, typed->pattern()))
      if (kernel.accepts(*typed) && kernel.isWorthChoosing(*typed, defaultCosts(device)))
        return true;
  return false;
}

/// For every type and size, or for those that some kernel takes.
void addIfTaken(KindRow row, const PatternInfo &pattern,
                std::vector<KindRow> &rows) {
  struct Sizes {
    int64_t multiple, leastRows, leastColumns;
  };
  for (auto [multiple, leastRows, leastColumns] :
       {Sizes{1, 1, 1}, {8, 1, 1}, {1, 1, 1025}, {8, 512, 1}}) // long rows, many rows
    for (bool isHalf : {false, true}) {
      row.multiple = multiple;
      row.leastRows = leastRows;
      row.leastColumns = leastColumns;
      row.isHalf = isHalf;
      if (isTaken(row, pattern)) {
        rows.push_back(std::move(row));
        return;
      }
    }
}

void addChoices(const PatternInfo &pattern, Choice choice,
                std::vector<KindRow> &rows) {
  if (choice.size() < pattern.nodes.size()) {
    const NodeInfo &node = pattern.nodes[choice.size()];
    choice.push_back(nullptr);
    if (node.isOptional)
      addChoices(pattern, choice, rows);
    for (const KindRow &row : sampleCallRows())
      if (row.kind == node.kind) {
        choice.back() = &row;
        addChoices(pattern, choice, rows);
      }
    return;
  }
  for (bool keepsAll : {false, true}) {
    if (keepsAll && pattern.mayKeep.empty())
      continue;
    KindRow row{nameOfChoice(pattern, choice, keepsAll), choice[0]->kind, {}};
    for (const KindRow *each : choice) {
      row.tolerance = std::max(row.tolerance, each ? each->tolerance : 0);
      row.isMixed |= each && each->isMixed;
      row.isWide |= each && each->isWide;
    }
    if (!Composer(pattern, choice, keepsAll).compose(3, 4))
      continue;
    row.make = [&pattern, choice, keepsAll](int64_t m, int64_t n) {
      return *Composer(pattern, choice, keepsAll).compose(m, n);
    };
    addIfTaken(std::move(row), pattern, rows);
  }
}

} // namespace

const std::vector<KindRow> &allCallRows() {
  static const std::vector<KindRow> rows = [] {
    Span<const KindRow> single = sampleCallRows();
    std::vector<KindRow> all(single.begin(), single.end());
    for (const PatternInfo &pattern : allPatterns())
      if (!pattern.graph)
        addChoices(pattern, {}, all);
    for (KindRow &row : graphRows())
      all.push_back(std::move(row));
    return all;
  }();
  return rows;
}

} // namespace aicf::test
