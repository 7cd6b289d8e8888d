//===- PlanDiff.cpp - what differs between two plans ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Calls are aligned as lines of a text are: by what they compute on what types.
// Temps have no names, so that one temp is another where aligned calls make
// them. What is left when all words are equal is compared field by field: two
// plans that differ in anything but the debug table never give an empty text.
//===----------------------------------------------------------------------===//

#include "lib/Ops/BodyRules.h"
#include "lib/Ops/Fields.h"
#include "lib/Plan/CallFacts.h"
#include "lib/Plan/PlanJson.h"
#include "lib/Plan/PlanText.h"

#include <algorithm>
#include <map>
#include <set>

namespace aicf {
namespace {

constexpr size_t kNone = SIZE_MAX;

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
  bool empty() const { return lines.empty(); }

private:
  std::string indent() const { return title.empty() ? "" : "  "; }
  std::string title, lines;
};

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

/// Pairs of equal items in order: items that both lists have once, as many of
/// them as rise in both (patience diff, Bram Cohen); between those, equal items
/// from both ends.
class Alignment {
public:
  Alignment(const std::vector<std::string> &a,
            const std::vector<std::string> &b)
      : a(a), b(b), partner(a.size(), kNone) {
    align(0, a.size(), 0, b.size());
  }
  /// For each item of `a` the position in `b`, or kNone.
  const std::vector<size_t> &partners() const { return partner; }

private:
  void pair(size_t i, size_t j) { partner[i] = j; }

  void align(size_t a0, size_t a1, size_t b0, size_t b1) {
    while (a0 < a1 && b0 < b1 && a[a0] == b[b0])
      pair(a0++, b0++);
    while (a0 < a1 && b0 < b1 && a[a1 - 1] == b[b1 - 1])
      pair(--a1, --b1);
    if (a0 == a1 || b0 == b1)
      return;
    std::vector<std::pair<size_t, size_t>> anchors = anchorsOf(a0, a1, b0, b1);
    if (anchors.empty())
      return alignSmall(a0, a1, b0, b1);
    size_t i = a0, j = b0;
    for (auto [x, y] : anchors) {
      align(i, x, j, y);
      pair(x, y);
      i = x + 1;
      j = y + 1;
    }
    align(i, a1, j, b1);
  }

  std::vector<std::pair<size_t, size_t>> anchorsOf(size_t a0, size_t a1,
                                                   size_t b0, size_t b1) const {
    struct Seen {
      size_t inA = 0, inB = 0, i = 0, j = 0;
    };
    std::map<std::string_view, Seen> seen;
    for (size_t i = a0; i < a1; ++i) {
      Seen &s = seen[a[i]];
      ++s.inA;
      s.i = i;
    }
    for (size_t j = b0; j < b1; ++j) {
      Seen &s = seen[b[j]];
      ++s.inB;
      s.j = j;
    }
    std::vector<std::pair<size_t, size_t>> both;
    for (const auto &[text, s] : seen)
      if (s.inA == 1 && s.inB == 1)
        both.push_back({s.i, s.j});
    std::sort(both.begin(), both.end());
    return longestRise(both);
  }

  /// The longest subsequence whose second numbers rise.
  static std::vector<std::pair<size_t, size_t>>
  longestRise(const std::vector<std::pair<size_t, size_t>> &pairs) {
    std::vector<size_t> tails, before(pairs.size(), kNone);
    for (size_t p = 0; p < pairs.size(); ++p) {
      auto at = std::lower_bound(
          tails.begin(), tails.end(), pairs[p].second,
          [&](size_t t, size_t second) { return pairs[t].second < second; });
      if (at != tails.begin())
        before[p] = *(at - 1);
      if (at == tails.end())
        tails.push_back(p);
      else
        *at = p;
    }
    std::vector<std::pair<size_t, size_t>> rise;
    for (size_t p = tails.empty() ? kNone : tails.back(); p != kNone;
         p = before[p])
      rise.push_back(pairs[p]);
    std::reverse(rise.begin(), rise.end());
    return rise;
  }

  /// The longest common subsequence of a part without anchors; of a large one,
  /// items in order as they come.
  void alignSmall(size_t a0, size_t a1, size_t b0, size_t b1) {
    size_t n = a1 - a0, m = b1 - b0;
    if (n * m > 1000000) {
      for (size_t i = a0, j = b0; i < a1; ++i)
        if (auto it = std::find(b.begin() + long(j), b.begin() + long(b1), a[i]);
            it != b.begin() + long(b1)) {
          pair(i, size_t(it - b.begin()));
          j = size_t(it - b.begin()) + 1;
        }
      return;
    }
    std::vector<uint32_t> best((n + 1) * (m + 1));
    auto at = [&](size_t i, size_t j) -> uint32_t & {
      return best[i * (m + 1) + j];
    };
    for (size_t i = n; i-- > 0;)
      for (size_t j = m; j-- > 0;)
        at(i, j) = a[a0 + i] == b[b0 + j]
                       ? at(i + 1, j + 1) + 1
                       : std::max(at(i + 1, j), at(i, j + 1));
    for (size_t i = 0, j = 0; i < n && j < m;)
      if (a[a0 + i] == b[b0 + j])
        pair(a0 + i++, b0 + j++);
      else if (at(i + 1, j) >= at(i, j + 1))
        ++i;
      else
        ++j;
  }

  const std::vector<std::string> &a, &b;
  std::vector<size_t> partner;
};

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

std::string startOf(const Plan &plan, const PlanBuffer &b) {
  if (b.derivedFrom >= 0)
    return "cast of " + plan.buffers[size_t(b.derivedFrom)].name;
  return std::string(nameOf(b.init)) + " " + formatNumber(b.initValue);
}

/// Named buffers of two tables, by their names.
void diffNamed(const Plan &a, const PlanEntry &inA,
               const std::vector<PlanBuffer> &as, size_t firstA, const Plan &b,
               const PlanEntry &inB, const std::vector<PlanBuffer> &bs,
               size_t firstB, Section &out) {
  std::map<std::string, size_t> places;
  for (size_t j = 0; j < bs.size(); ++j)
    if (segmentOf(bs[j].role) != Segment::Temp)
      places[bs[j].name] = j;
  for (size_t i = 0; i < as.size(); ++i) {
    const PlanBuffer &old = as[i];
    if (segmentOf(old.role) == Segment::Temp)
      continue;
    auto type = [](const Plan &plan, const PlanEntry &entry, size_t number) {
      return plan.value(entry, uint32_t(number)).desc.toString();
    };
    std::string what = std::string(nameOf(old.role)) + " " + printable(old.name, 60);
    auto found = places.find(old.name);
    if (found == places.end()) {
      out.line("- " + what + ": " + type(a, inA, firstA + i));
      continue;
    }
    const PlanBuffer &now = bs[found->second];
    out.field(what + ": role", std::string(nameOf(old.role)),
              std::string(nameOf(now.role)));
    out.field(what + ": type", type(a, inA, firstA + i),
              type(b, inB, firstB + found->second));
    out.field(what + ": starts as", startOf(a, old), startOf(b, now));
    if (!(old.data == now.data))
      out.line(what + ": its bytes differ");
    places.erase(found);
  }
  for (const auto &[name, j] : places)
    out.line("+ " + std::string(nameOf(bs[j].role)) + " " +
             printable(name, 60) + ": " +
             b.value(inB, uint32_t(firstB + j)).desc.toString());
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// What a call computes on which types and named tensors, without what a diff
/// shows as a field: attributes, kernel, streams.
std::string keyOf(const Plan &plan, const PlanEntry &entry,
                  const PlanCall &call, bool withNames) {
  std::string key = primitiveNames(*call.body);
  for (const std::vector<uint32_t> *list : {&call.ins, &call.outs})
    for (uint32_t value : *list) {
      const PlanValue &v = plan.value(entry, value);
      const std::string &name = plan.buffer(entry, v.buffer).name;
      key += "|" + v.desc.toString();
      if (withNames)
        key += " " + name;
    }
  return key;
}

/// Two entries of the same name, with the calls that stand for each other.
class EntryDiff {
public:
  EntryDiff(const Plan &a, const PlanEntry &old, const Plan &b,
            const PlanEntry &now)
      : a(a), b(b), old(old), now(now), out("entry " + printable(now.name, 60)) {
  }

  std::string toString() {
    out.field("outputs as", std::string(nameOf(old.outputForm)),
              std::string(nameOf(now.outputForm)));
    number("batches of an update", old.accumulate, now.accumulate);
    number("bytes of inputs and outputs", old.ioBytes, now.ioBytes);
    number("bytes of temps", old.tempBytes, now.tempBytes);
    diffNamed(a, old, old.buffers, a.buffers.size(), b, now, now.buffers,
              b.buffers.size(), out);
    diffCalls();
    return out.toString();
  }

private:
  void number(const std::string &what, uint64_t x, uint64_t y) {
    out.field(what, std::to_string(x), std::to_string(y));
  }

  std::vector<std::string> keys(const Plan &plan, const PlanEntry &entry,
                                bool withNames) {
    std::vector<std::string> list;
    for (const PlanCall &call : entry.calls)
      list.push_back(keyOf(plan, entry, call, withNames));
    return list;
  }

  void diffCalls() {
    std::vector<size_t> partner =
        Alignment(keys(a, old, true), keys(b, now, true)).partners();
    waitsA = waitedFor(old);
    waitsB = waitedFor(now);
    oldOf.assign(now.calls.size(), kNone);
    for (size_t i = 0; i < partner.size(); ++i)
      if (partner[i] != kNone)
        oldOf[partner[i]] = i;
    size_t i = 0;
    for (size_t j = 0; j < now.calls.size(); ++j) {
      for (; i < old.calls.size() && partner[i] == kNone; ++i)
        out.line("- call " + std::to_string(i) + ": " + textOf(a, old, i));
      if (oldOf[j] == kNone) {
        out.line("+ call " + std::to_string(j) + ": " + textOf(b, now, j));
        continue;
      }
      i = oldOf[j] + 1;
      diffCall(oldOf[j], j);
    }
    for (; i < old.calls.size(); ++i)
      if (partner[i] == kNone)
        out.line("- call " + std::to_string(i) + ": " + textOf(a, old, i));
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
    std::vector<size_t> before;
    for (uint32_t c : waitsA[i])
      before.push_back(c);
    std::vector<size_t> after;
    for (uint32_t c : waitsB[j])
      after.push_back(oldOf[c]);
    if (before != after)
      out.line(what + " waits for other calls");
    out.field(what + " bytes of workspace", std::to_string(x.workspaceBytes),
              std::to_string(y.workspaceBytes));
    for (size_t k = 0; k < x.ins.size(); ++k)
      if (!isSame(x.ins[k], y.ins[k]))
        out.line(what + " operand " + std::to_string(k) + " " +
                 valueName(a, old, x.ins[k]) + " -> " +
                 valueName(b, now, y.ins[k]));
    for (size_t k = 0; k < x.outs.size(); ++k) {
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
    if (!name.empty())
      return name == b.buffer(now, v.buffer).name;
    auto it = buffers.find(u.buffer);
    return it != buffers.end() && it->second == v.buffer;
  }

  const Plan &a, &b;
  const PlanEntry &old, &now;
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

std::string diffPlans(const Plan &a, const Plan &b) {
  Section plan("");
  plan.field("device", std::string(nameOf(a.device)),
             std::string(nameOf(b.device)));
  plan.field("bytes that all entries share", std::to_string(a.persistentBytes),
             std::to_string(b.persistentBytes));
  // The first entry is the one that runs where nobody says which.
  plan.field("entries", namesOf(a), namesOf(b));
  diffNamed(a, a.entries[0], a.buffers, 0, b, b.entries[0], b.buffers, 0, plan);
  std::string text = plan.toString();
  for (const PlanEntry &entry : b.entries)
    if (const PlanEntry *old = a.findEntry(entry.name))
      text += EntryDiff(a, *old, b, entry).toString();
  std::string layout = layoutDiff(a, b);
  return text.empty() ? layout : text;
}

} // namespace aicf
