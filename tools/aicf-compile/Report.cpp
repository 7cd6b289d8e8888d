//===- Report.cpp - aicf-compile --report ---------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/aicf-compile/Report.h"
#include "lib/Plan/CallFacts.h"
#include "lib/Plan/MemoryFacts.h"
#include "lib/Plan/PlanText.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <set>

using namespace mlir;

namespace aicf {

constexpr size_t kMostLines = 60;
/// Lines for the kernels of one entry, for entries, and for each list.
constexpr size_t kMostKernels = 10, kMostEntries = 2, kMostReasons = 12;

/// What stands behind `name="` up to the quote, or nothing.
static StringRef quotedField(StringRef text, StringRef name) {
  size_t at = text.find((name + "=\"").str());
  if (at == StringRef::npos)
    return {};
  StringRef rest = text.drop_front(at + name.size() + 2);
  return rest.take_front(rest.rfind('"'));
}

static std::string placeOf(Location loc) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
          Twine(file.getColumn()))
      .str();
}

/// "[Missed] FuseCalls | Category:aicf | Function=f | Remark="..." is how MLIR
/// writes a remark; counts stand as "name=1" at its end.
LogicalResult Report::take(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
    return failure();
  std::string text = diagnostic.str();
  auto [kind, rest] = StringRef(text).split("] ");
  auto [pass, fields] = rest.split(" | ");
  StringRef words = quotedField(fields, "Remark");
  // The table of kernels and the line of memory say these two.
  if (pass == "SelectKernels" || pass == "PlanMemory")
    return success();
  if (kind == "[Analysis") {
    SmallVector<StringRef> items;
    fields.rsplit(" | ").second.split(items, ", ");
    for (StringRef item : items) {
      auto [name, number] = item.split('=');
      size_t value = 0;
      if (!number.getAsInteger(10, value))
        counts[pass.str()][name.str()] += value;
    }
    return success();
  }
  auto &list = kind == "[Passed" ? done : left;
  Seen &seen = list[(pass + ": " + words).str()];
  if (seen.count++ == 0)
    seen.first = placeOf(diagnostic.getLocation());
  return success();
}

/// 1234567 as "1.2 M".
static std::string shortNumber(double number) {
  const char *units[] = {"", " k", " M", " G", " T", " P"};
  size_t unit = 0;
  for (; number >= 1000 && unit + 1 < std::size(units); ++unit)
    number /= 1000;
  char text[32];
  std::snprintf(text, sizeof(text), unit && number < 100 ? "%.1f%s" : "%.0f%s",
                number, units[unit]);
  return text;
}

namespace {

/// The calls of one kernel.
struct Kernel {
  std::string kid;
  size_t calls = 0;
  double flops = 0, bytes = 0;
  std::set<CallPhase> phases;
};

} // namespace

static std::vector<Kernel> kernelsOf(const Plan &plan, const PlanEntry &entry) {
  std::map<std::string, Kernel> byName;
  std::vector<CallPhase> phases = phasesOf(plan, entry);
  std::vector<uint32_t> times = timesOf(entry);
  for (size_t i = 0; i < entry.calls.size(); ++i) {
    const PlanCall &call = entry.calls[i];
    Kernel &kernel = byName[call.kid];
    kernel.kid = call.kid;
    kernel.calls += times[i];
    kernel.flops += times[i] * flopsOf(plan, entry, call);
    kernel.bytes += times[i] * double(bytesOf(plan, entry, call));
    kernel.phases.insert(phases[i]);
  }
  std::vector<Kernel> kernels;
  for (auto &[name, kernel] : byName)
    kernels.push_back(std::move(kernel));
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const Kernel &a, const Kernel &b) {
                     return a.bytes > b.bytes;
                   });
  return kernels;
}

static void addText(const std::string &text, std::vector<std::string> &lines) {
  SmallVector<StringRef> parts;
  StringRef(text).split(parts, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts)
    lines.push_back(part.str());
}

/// "forward keeps 3 values of 1.2 MB for backward; ..."
static std::string memoryText(const Plan &plan, const PlanEntry &entry) {
  size_t counts[3] = {};
  double bytes[3] = {};
  for (const MemoryFact &fact : memoryFactsOf(plan, entry)) {
    ++counts[size_t(fact.use)];
    bytes[size_t(fact.use)] += double(fact.bytes);
  }
  auto of = [&](MemoryUse use) {
    return std::to_string(counts[size_t(use)]) + " (" +
           shortNumber(bytes[size_t(use)]) + "B)";
  };
  return "kept from forward to backward: " + of(MemoryUse::Save) +
         "; copies spared by views: " + of(MemoryUse::View) +
         ", by parts that are computed in place: " + of(MemoryUse::Part);
}

static void addEntry(const Plan &plan, const PlanEntry &entry,
                     std::vector<std::string> &lines) {
  std::vector<Kernel> kernels = kernelsOf(plan, entry);
  double flops = 0, bytes = 0;
  for (const Kernel &kernel : kernels) {
    flops += kernel.flops;
    bytes += kernel.bytes;
  }
  std::string head =
      "entry " + printable(entry.name, 60) + ": " +
      std::to_string(entry.calls.size()) + " calls, " + shortNumber(flops) +
      "FLOPs, " + shortNumber(bytes) + "B moved; temps take " +
      shortNumber(double(entry.tempBytes)) + "B, at least " +
      shortNumber(double(entry.tempLowerBound)) + "B live at once";
  addText(wrapped(head, "", "    "), lines);
  addText(wrapped(memoryText(plan, entry), "  ", "    "), lines);
  TextTable table;
  table.row({"kernel", "calls", "phases", "FLOPs", "bytes", "of all bytes"});
  for (size_t i = 0; i < std::min(kernels.size(), kMostKernels); ++i) {
    const Kernel &kernel = kernels[i];
    std::vector<std::string> phases;
    for (CallPhase phase : kernel.phases)
      phases.emplace_back(nameOf(phase));
    table.row({printable(kernel.kid, 50), std::to_string(kernel.calls),
               joined(phases), shortNumber(kernel.flops),
               shortNumber(kernel.bytes),
               std::to_string(long(100 * kernel.bytes / bytes + 0.5)) + " %"});
  }
  addText(table.toString("  "), lines);
  if (kernels.size() > kMostKernels)
    lines.push_back("  and " + std::to_string(kernels.size() - kMostKernels) +
                    " more kernels: aicf-plan dump");
}

void Report::addEntries(const Plan &plan,
                        std::vector<std::string> &lines) const {
  lines.push_back("for " + std::string(nameOf(plan.device)) + ", " +
                  shortNumber(double(plan.persistentBytes)) +
                  "B of parameters and states");
  for (size_t i = 0; i < std::min(plan.entries.size(), kMostEntries); ++i)
    addEntry(plan, plan.entries[i], lines);
  if (plan.entries.size() > kMostEntries)
    lines.push_back("and " +
                    std::to_string(plan.entries.size() - kMostEntries) +
                    " more entries");
}

/// The most frequent first, a line each.
template <typename List>
static void addReasons(const std::string &title, const List &list,
                       std::vector<std::string> &lines) {
  if (list.empty())
    return;
  std::vector<std::pair<std::string, typename List::mapped_type>> items(
      list.begin(), list.end());
  std::stable_sort(items.begin(), items.end(), [](const auto &a, const auto &b) {
    return a.second.count > b.second.count;
  });
  lines.push_back(title);
  for (size_t i = 0; i < std::min(items.size(), kMostReasons); ++i) {
    const auto &[words, seen] = items[i];
    std::string place =
        seen.first.substr(seen.first.find_last_of('/') + 1); // the file's name
    std::string text = std::to_string(seen.count) + " x " +
                       printable(words, 300) +
                       (place.empty() ? "" : " (" + printable(place, 60) + ")");
    addText(wrapped(text, "  ", "      "), lines);
  }
  if (items.size() > kMostReasons)
    lines.push_back("  and " + std::to_string(items.size() - kMostReasons) +
                    " more: --remarks");
}

/// "temps in place" of a counter's name.
static std::string words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string Report::toString(const Plan *plan) const {
  std::vector<std::string> lines;
  if (plan)
    addEntries(*plan, lines);
  addReasons("done", done, lines);
  addReasons("not done, and why", left, lines);
  std::vector<std::string> all;
  for (const auto &[pass, numbers] : counts)
    for (const auto &[name, number] : numbers)
      // Copies that MaterializeUpdates puts in and AnnotateInplace drops.
      if (number && StringRef(name).take_front(7) != "copies_")
        all.push_back(words(name) + " " + std::to_string(number));
  if (!all.empty())
    addText(wrapped("counts of the passes: " + joined(all), "", "    "), lines);
  if (lines.size() > kMostLines) {
    lines.resize(kMostLines - 1);
    lines.push_back("and more: --remarks");
  }
  if (lines.empty())
    lines.push_back("nothing to report: there are no calls at this stage");
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

} // namespace aicf
