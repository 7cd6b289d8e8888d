//===- PlanDiff.cpp - what differs between two plans ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Calls are aligned as lines of a text are: by what they compute on which named
// tensors, and between those by what they compute.
// Temps have no names, so that one temp is another where aligned calls make
// them. What is left when all words are equal is compared field by field: two
// plans that differ in anything but the debug table never give an empty text.
//===----------------------------------------------------------------------===//

#include "lib/Ops/BodyRules.h"
#include "lib/Ops/Fields.h"
#include "lib/Plan/Alignment.h"
#include "lib/Plan/CallFacts.h"
#include "lib/Plan/PlanJson.h"
#include "lib/Plan/PlanText.h"

#include <algorithm>
#include <map>

namespace aicf {
namespace {

/// Lines of text about one part of the plans, under a headline that is shown
/// when there are any.
class Section {
public:
  explicit Section(std::string title) : title(std::move(title)) {}
  void line(const std::string &text) {
    lines += wrapped(text, indent(), indent() + "  ");
  }
  /// "what: old -> new" where they differ.
  void field(const std::string &what, const std::string &old,
             const std::string &now) {
    if (old != now)
      line(what + " " + old + " -> " + now);
  }
  std::string toString() const {
    return lines.empty() || title.empty() ? lines : title + "\n" + lines;
  }

private:
  std::string indent() const { return title.empty() ? "" : "  "; }
  std::string title, lines;
};

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

std::string startOf(const Plan &plan, const PlanBuffer &b) {
  if (b.derivedFrom >= 0)
    return "cast of " + plan.buffers[size_t(b.derivedFrom)].name;
  if (b.isScratch)
    return "scratch";
  bool hasNumber = b.init == InitKind::Constant || b.init == InitKind::Normal;
  return std::string(nameOf(b.init)) +
         (hasNumber ? " " + formatNumber(b.initValue) : "");
}

/// The names of `old` tensors that another name stands for now.
using Renamed = std::map<std::string, std::string>;

/// One table of named buffers, as seen from an entry.
struct NamedTable {
  const Plan &plan;
  const PlanEntry &entry;
  const std::vector<PlanBuffer> &buffers;
  size_t first; ///< the number of the first one

  std::string typeOf(size_t i) const {
    // The value of a named buffer has the buffer's number.
    return plan.value(entry, uint32_t(first + i)).desc.toString();
  }
  std::string nameOf(size_t i) const {
    return std::string(aicf::nameOf(buffers[i].role)) + " " +
           printable(buffers[i].name, 60);
  }
  bool isNamed(size_t i) const {
    return segmentOf(buffers[i].role) != Segment::Temp;
  }
};

/// What differs between two tensors that stand for each other.
void diffNamedPair(const NamedTable &a, size_t i, const NamedTable &b, size_t j,
                   Section &out) {
  const PlanBuffer &old = a.buffers[i], &now = b.buffers[j];
  std::string what = a.nameOf(i);
  out.field(what + ": name", printable(old.name, 60), printable(now.name, 60));
  out.field(what + ": role", std::string(nameOf(old.role)),
            std::string(nameOf(now.role)));
  out.field(what + ": type", a.typeOf(i), b.typeOf(j));
  out.field(what + ": starts as", startOf(a.plan, old), startOf(b.plan, now));
  if (!(old.data == now.data))
    out.line(what + ": its bytes differ");
}

/// Named buffers of two tables, by their names. What is left of both in the
/// same order with equal types has other names.
void diffNamed(const NamedTable &a, const NamedTable &b, Renamed &renamed,
               Section &out) {
  std::map<std::string, size_t> places;
  for (size_t j = 0; j < b.buffers.size(); ++j)
    if (b.isNamed(j))
      places[b.buffers[j].name] = j;
  std::vector<size_t> gone, added;
  for (size_t i = 0; i < a.buffers.size(); ++i) {
    if (!a.isNamed(i))
      continue;
    auto found = places.find(a.buffers[i].name);
    if (found == places.end()) {
      gone.push_back(i);
      continue;
    }
    diffNamedPair(a, i, b, found->second, out);
    places.erase(found);
  }
  for (const auto &[name, j] : places)
    added.push_back(j);
  std::sort(added.begin(), added.end());
  bool isRenaming = gone.size() == added.size();
  for (size_t k = 0; k < gone.size() && isRenaming; ++k)
    isRenaming = a.buffers[gone[k]].role == b.buffers[added[k]].role &&
                 a.typeOf(gone[k]) == b.typeOf(added[k]);
  for (size_t k = 0; k < gone.size() && isRenaming; ++k) {
    renamed[a.buffers[gone[k]].name] = b.buffers[added[k]].name;
    diffNamedPair(a, gone[k], b, added[k], out);
  }
  if (isRenaming)
    return;
  for (size_t i : gone)
    out.line("- " + a.nameOf(i) + ": " + a.typeOf(i));
  for (size_t j : added)
    out.line("+ " + b.nameOf(j) + ": " + b.typeOf(j));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// What a call computes, and on which named tensors if `withNames`; without
/// what a diff shows as a field: types, attributes, kernel, streams.
std::string keyOf(const Plan &plan, const PlanEntry &entry,
                  const PlanCall &call, const Renamed &renamed,
                  bool withNames) {
  std::string key = primitiveNames(*call.body);
  for (const std::vector<uint32_t> *list : {&call.ins, &call.outs})
    for (uint32_t value : *list) {
      const PlanValue &v = plan.value(entry, value);
      const std::string &name = plan.buffer(entry, v.buffer).name;
      auto other = renamed.find(name);
      key += "|";
      if (withNames)
        key += other == renamed.end() ? name : other->second;
    }
  return key;
}

/// Two entries of the same name, with the calls that stand for each other.
class EntryDiff {
public:
  EntryDiff(const Plan &a, const PlanEntry &old, const Plan &b,
            const PlanEntry &now, Renamed renamed)
      : a(a), b(b), old(old), now(now), renamed(std::move(renamed)), out("entry " + printable(now.name, 60)) {
  }

  std::string toString() {
    out.field("outputs as", std::string(nameOf(old.outputForm)),
              std::string(nameOf(now.outputForm)));
    number("batches per update", old.accumulate, now.accumulate);
    out.field("parts", partsText(old), partsText(now));
    number("bytes of inputs and outputs", old.ioBytes, now.ioBytes);
    number("bytes of temps", old.tempBytes, now.tempBytes);
    diffNamed({a, old, old.buffers, a.buffers.size()},
              {b, now, now.buffers, b.buffers.size()}, renamed, out);
    diffCalls();
    return out.toString();
  }

private:
  /// "3 calls once, 12 calls 100 times", or "all calls once".
  static std::string partsText(const PlanEntry &entry) {
    std::string text;
    for (const PlanPart &part : entry.parts)
      text += (text.empty() ? "" : ", ") + std::to_string(part.numCalls) +
              (part.numCalls == 1 ? " call " : " calls ") +
              (part.times == 1 ? "once"
                               : std::to_string(part.times) + " times");
    return text.empty() ? "all calls once" : text;
  }

  void number(const std::string &what, uint64_t x, uint64_t y) {
    out.field(what, std::to_string(x), std::to_string(y));
  }

  static std::vector<std::string> keys(const Plan &plan, const PlanEntry &entry,
                                       const Renamed &renamed, bool withNames) {
    std::vector<std::string> list;
    for (const PlanCall &call : entry.calls)
      list.push_back(keyOf(plan, entry, call, renamed, withNames));
    return list;
  }

  void diffCalls() {
    std::vector<size_t> partner =
        alignTwice(keys(a, old, renamed, true), keys(b, now, {}, true),
                   keys(a, old, renamed, false), keys(b, now, {}, false));
    waitsA = waitedFor(old);
    waitsB = waitedFor(now);
    oldOf.assign(now.calls.size(), kUnpaired);
    for (size_t i = 0; i < partner.size(); ++i)
      if (partner[i] != kUnpaired)
        oldOf[partner[i]] = i;
    size_t i = 0;
    for (size_t j = 0; j < now.calls.size(); ++j) {
      for (; i < old.calls.size() && partner[i] == kUnpaired; ++i)
        out.line("- call " + std::to_string(i) + ": " + textOf(a, old, i));
      if (oldOf[j] == kUnpaired) {
        out.line("+ call " + std::to_string(j) + ": " + textOf(b, now, j));
        continue;
      }
      i = oldOf[j] + 1;
      diffCall(oldOf[j], j);
    }
    for (; i < old.calls.size(); ++i)
      if (partner[i] == kUnpaired)
        out.line("- call " + std::to_string(i) + ": " + textOf(a, old, i));
  }

  static std::string numbers(const std::vector<uint32_t> &calls) {
    std::vector<std::string> list;
    for (uint32_t call : calls)
      list.push_back(std::to_string(call));
    return list.empty() ? "none" : joined(list);
  }

  static std::string textOf(const Plan &plan, const PlanEntry &entry, size_t c) {
    return callText(entry.calls[c], [&](uint32_t value) {
      return valueName(plan, entry, value);
    });
  }

  /// One call that both have.
  void diffCall(size_t i, size_t j) {
    const PlanCall &x = old.calls[i], &y = now.calls[j];
    std::string what = "call " + std::to_string(i) +
                       (i == j ? "" : " (now " + std::to_string(j) + ")") +
                       ", " + opsText(*y.body) + ":";
    diffAttributes(what, *x.body, *y.body);
    out.field(what + " kernel", printable(x.kid, 80), printable(y.kid, 80));
    out.field(what + " stream", std::to_string(x.stream),
              std::to_string(y.stream));
    std::vector<size_t> before(waitsA[i].begin(), waitsA[i].end()), after;
    for (uint32_t c : waitsB[j])
      after.push_back(oldOf[c]);
    if (before != after)
      out.line(what + " waits for calls " + numbers(waitsA[i]) + " -> " +
               numbers(waitsB[j]));
    out.field(what + " bytes of workspace", std::to_string(x.workspaceBytes),
              std::to_string(y.workspaceBytes));
    for (size_t k = 0; k < x.ins.size(); ++k)
      if (!isSame(x.ins[k], y.ins[k])) {
        std::string from = valueName(a, old, x.ins[k]),
                    to = valueName(b, now, y.ins[k]);
        out.line(what + " operand " + std::to_string(k) + " " + from +
                 (from == to ? " is made by another call"
                             : " -> " + to));
      }
    for (size_t k = 0; k < x.outs.size(); ++k) {
      const std::string &was = a.bufferOf(old, x.outs[k]).name,
                        &is = b.bufferOf(now, y.outs[k]).name;
      auto other = renamed.find(was);
      if ((other == renamed.end() ? was : other->second) != is)
        out.line(what + " result " + std::to_string(k) + " " +
                 valueName(a, old, x.outs[k]) + " -> " +
                 valueName(b, now, y.outs[k]));
      if (was.empty() && is.empty())
        out.field(what + " " + valueName(a, old, x.outs[k]),
                  a.value(old, x.outs[k]).desc.toString(),
                  b.value(now, y.outs[k]).desc.toString());
      values[x.outs[k]] = y.outs[k];
      buffers[a.value(old, x.outs[k]).buffer] = b.value(now, y.outs[k]).buffer;
    }
  }

  void diffAttributes(const std::string &what, const Body &x, const Body &y) {
    for (size_t p = 0; p < x.primitives.size(); ++p) {
      const Primitive &u = x.primitives[p], &v = y.primitives[p];
      const OpInfo &info = infoOf(u.kind);
      for (size_t f = 0; f < info.numFields; ++f)
        out.field(what + " " + std::string(info.fields[f].name),
                  formatField(decodeField(info.fields[f], u.attrs)),
                  formatField(decodeField(info.fields[f], v.attrs)));
      if (u.operands != v.operands)
        out.line(what + " " + std::string(nameOf(u.kind)) +
                 " reads other values inside of the call");
    }
    if (x.results != y.results)
      out.line(what + " gives other values of its body");
  }

  /// Whether two values stand for each other: calls that do have made them, or
  /// they are the same part of tensors that do.
  bool isSame(uint32_t x, uint32_t y) const {
    if (auto it = values.find(x); it != values.end() && it->second == y)
      return true;
    const PlanValue &u = a.value(old, x), &v = b.value(now, y);
    if (u.byteOffset != v.byteOffset)
      return false;
    const std::string &name = a.buffer(old, u.buffer).name;
    if (!name.empty()) {
      auto other = renamed.find(name);
      return (other == renamed.end() ? name : other->second) ==
             b.buffer(now, v.buffer).name;
    }
    auto it = buffers.find(u.buffer);
    return it != buffers.end() && it->second == v.buffer;
  }

  const Plan &a, &b;
  const PlanEntry &old, &now;
  Renamed renamed;
  Section out;
  std::vector<std::vector<uint32_t>> waitsA, waitsB;
  std::vector<size_t> oldOf; ///< by calls of `now`
  /// Values and buffers of `old` that calls have made, to those of `now`.
  std::map<uint32_t, uint32_t> values, buffers;
};

//===----------------------------------------------------------------------===//
// Whatever else
//===----------------------------------------------------------------------===//

/// Adds how many records of two lists differ, and the first that does.
template <typename Record>
void countOthers(const std::string &what, const std::vector<Record> &x,
                 const std::vector<Record> &y, Section &out) {
  size_t differ = x.size() > y.size() ? x.size() - y.size() : y.size() - x.size();
  std::string first;
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    std::string u = recordText(x[i]), v = recordText(y[i]);
    if (u == v)
      continue;
    if (!differ++)
      first = "; the first: " + printable(u, 300) + " -> " + printable(v, 300);
  }
  if (differ)
    out.line(std::to_string(differ) + " " + what + " differ" + first);
}

std::string namesOf(const Plan &p) {
  std::vector<std::string> names;
  for (const PlanEntry &entry : p.entries)
    names.push_back(printable(entry.name, 60));
  return joined(names);
}

/// Where tensors lie, and what the words above do not show.
std::string layoutDiff(const Plan &a, const Plan &b) {
  Section out("where tensors lie, and how they are numbered");
  countOthers("records of shared buffers", a.buffers, b.buffers, out);
  countOthers("records of shared values", a.values, b.values, out);
  for (const PlanEntry &now : b.entries) {
    const PlanEntry *old = a.findEntry(now.name);
    if (!old)
      continue;
    std::string of = " of " + printable(now.name, 60);
    countOthers("records of buffers" + of, old->buffers, now.buffers, out);
    countOthers("records of values" + of, old->values, now.values, out);
    countOthers("records of calls" + of, old->calls, now.calls, out);
  }
  return out.toString();
}

} // namespace

/// The entry of the same name, or one that has another name now.
static const PlanEntry *partnerOf(const Plan &a, const Plan &b, size_t i) {
  if (const PlanEntry *same = a.findEntry(b.entries[i].name))
    return same;
  bool isRenamed = a.entries.size() == b.entries.size() &&
                   !b.findEntry(a.entries[i].name);
  return isRenamed ? &a.entries[i] : nullptr;
}

std::string diffPlans(const Plan &a, const Plan &b) {
  Section plan("");
  plan.field("device", std::string(nameOf(a.device)),
             std::string(nameOf(b.device)));
  plan.field("bytes that all entries share", std::to_string(a.persistentBytes),
             std::to_string(b.persistentBytes));
  // The first entry is the one that runs where nobody says which.
  plan.field("entries", namesOf(a), namesOf(b));
  Renamed renamed;
  diffNamed({a, a.entries[0], a.buffers, 0}, {b, b.entries[0], b.buffers, 0},
            renamed, plan);
  std::string text = plan.toString();
  for (size_t i = 0; i < b.entries.size(); ++i)
    if (const PlanEntry *old = partnerOf(a, b, i))
      text += EntryDiff(a, *old, b, b.entries[i], renamed).toString();
  std::string layout = layoutDiff(a, b);
  return text.empty() ? layout : text;
}

} // namespace aicf
