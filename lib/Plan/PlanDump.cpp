//===- PlanDump.cpp - plans as text ---------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For people: tensors have names, and no line is wider than kTextColumns.
// PlanJson.cpp has every field, for programs.
//===----------------------------------------------------------------------===//

#include "lib/Ops/Fields.h"
#include "lib/Plan/CallFacts.h"
#include "lib/Plan/Order.h"
#include "lib/Plan/PlanText.h"

#include <algorithm>

namespace aicf {
namespace {

std::string initToString(const Plan &plan, const PlanBuffer &b) {
  std::string text(nameOf(b.init));
  if (b.derivedFrom >= 0)
    return "cast of " + plan.buffers[size_t(b.derivedFrom)].name;
  if (b.role == Role::Constant)
    return "data";
  if (b.isScratch)
    return "scratch";
  if (b.init == InitKind::None)
    return "";
  if (b.init == InitKind::Constant || b.init == InitKind::Normal)
    text += "(" + formatNumber(b.initValue) + ")";
  return text;
}

/// Rows of named buffers, each with its type.
void addNamed(const Plan &plan, const PlanEntry &entry,
              const std::vector<PlanBuffer> &buffers, size_t first,
              TextTable &table) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const PlanBuffer &b = buffers[i];
    if (segmentOf(b.role) == Segment::Temp)
      continue;
    // The value of a named buffer has the buffer's number.
    const PlanValue &value = plan.value(entry, uint32_t(first + i));
    table.row({printable(b.name, 60), std::string(nameOf(b.role)),
               printable(value.desc.toString(), 24), std::to_string(b.offset),
               std::to_string(b.bytes), printable(initToString(plan, b), 24)});
  }
}

/// What lies in the temp segment: values by where they begin, workspaces too.
std::string tempsToString(const Plan &plan, const PlanEntry &entry) {
  std::vector<std::pair<uint64_t, std::vector<std::string>>> rows;
  for (uint32_t i = 0; i < entry.values.size(); ++i) {
    uint32_t number = uint32_t(plan.values.size()) + i;
    const PlanValue &v = entry.values[i];
    const PlanBuffer &b = plan.buffer(entry, v.buffer);
    if (segmentOf(b.role) != Segment::Temp)
      continue;
    uint64_t offset = b.offset + v.byteOffset;
    rows.push_back({offset,
                    {valueName(plan, entry, number),
                     printable(v.desc.toString(), 48), std::to_string(offset),
                     std::to_string(v.desc.spanBytes())}});
  }
  std::vector<bool> isWorkspace(entry.buffers.size());
  for (const PlanCall &call : entry.calls)
    if (call.workspace >= 0)
      isWorkspace[size_t(call.workspace) - plan.buffers.size()] = true;
  for (size_t i = 0; i < entry.buffers.size(); ++i)
    if (const PlanBuffer &b = entry.buffers[i]; isWorkspace[i])
      rows.push_back({b.offset,
                      {"workspace", "", std::to_string(b.offset),
                       std::to_string(b.bytes)}});
  if (rows.empty())
    return "";
  std::stable_sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
    return a.first < b.first;
  });
  TextTable table;
  table.row({"temp", "type", "offset", "bytes"});
  for (auto &[offset, cells] : rows)
    table.row(std::move(cells));
  return table.toString("  ");
}

/// The calls in the columns of a chart: '#' from the first to the last access, and
/// '-' while calls of other streams may still run beside them.
std::string lifetimeBar(const AccessSet &accesses, const HappensBefore &order,
                        size_t perColumn) {
  std::string bar((order.size() + perColumn - 1) / perColumn, '.');
  if (accesses.empty())
    return bar;
  for (size_t c = accesses.lastCall() + 1; c < accesses.safeEnd(order); ++c)
    bar[c / perColumn] = '-';
  for (size_t c = accesses.firstCall(); c <= accesses.lastCall(); ++c)
    bar[c / perColumn] = '#';
  return bar;
}

/// One line per temp buffer: offset, bytes and its lifetime; at most 64 columns,
/// each of which stands for one or more calls.
std::string lifetimeChart(const Plan &plan, const PlanEntry &entry) {
  StatusOr<HappensBefore> order = orderOf(entry);
  if (!order.ok() || entry.calls.empty())
    return "";
  std::vector<AccessSet> accesses = accessesOf(plan, entry, *order);
  size_t perColumn = (entry.calls.size() + 63) / 64;
  std::vector<uint32_t> temps; // positions in entry.buffers
  for (uint32_t i = 0; i < entry.buffers.size(); ++i)
    if (segmentOf(entry.buffers[i].role) == Segment::Temp)
      temps.push_back(i);
  std::stable_sort(temps.begin(), temps.end(), [&](uint32_t a, uint32_t b) {
    return entry.buffers[a].offset < entry.buffers[b].offset;
  });
  std::vector<std::string> names(entry.buffers.size());
  for (uint32_t i = 0; i < entry.values.size(); ++i) {
    uint32_t buffer = entry.values[i].buffer;
    if (buffer < plan.buffers.size())
      continue;
    std::string &name = names[buffer - plan.buffers.size()];
    if (name.empty())
      name = valueName(plan, entry, uint32_t(plan.values.size()) + i);
    else if (name.back() != '+')
      name += "+"; // others lie there, too
  }
  TextTable table;
  table.row({"temp", "offset", "bytes",
             "calls 0.." + std::to_string(entry.calls.size() - 1) + " (" +
                 std::to_string(perColumn) + " per column)"});
  for (uint32_t i : temps) {
    const PlanBuffer &b = entry.buffers[i];
    table.row({names[i].empty() ? "workspace" : names[i],
               std::to_string(b.offset), std::to_string(b.bytes),
               lifetimeBar(accesses[i], *order, perColumn)});
  }
  return table.toString("    ");
}

/// Two lines or more: what is computed, and how.
std::string callToString(const Plan &plan, const PlanEntry &entry, size_t index,
                         CallPhase phase,
                         const std::vector<uint32_t> &waitedFor) {
  const PlanCall &c = entry.calls[index];
  std::string number = std::to_string(index);
  std::string margin(std::max<size_t>(4, number.size()) + 2, ' ');
  auto name = [&](uint32_t value) { return valueName(plan, entry, value); };
  std::vector<std::string> how = {std::string(nameOf(phase)),
                                  printable(c.kid, 80)};
  if (c.stream)
    how.push_back("stream " + std::to_string(c.stream));
  for (uint32_t call : waitedFor)
    how.push_back("after call " + std::to_string(call));
  if (c.workspace >= 0)
    how.push_back("workspace of " + std::to_string(c.workspaceBytes) +
                  " bytes");
  if (c.isProtective)
    how.push_back("a copy that the compiler put in");
  if (!c.location.empty())
    how.push_back(printable(c.location));
  std::string head = margin.substr(std::min(margin.size(), number.size() + 2));
  return wrapped(callText(c, name), head + number + " ", margin + "    ") +
         wrapped(joined(how), margin + "  ", margin + "    ");
}

std::string dumpEntry(const Plan &plan, const PlanEntry &entry,
                      bool lifetimes) {
  std::string text = "entry " + printable(entry.name, 60) + ": " +
                     std::to_string(entry.calls.size()) +
                     (entry.calls.size() == 1 ? " call" : " calls") + ", " +
                     std::to_string(entry.ioBytes) +
                     " bytes of inputs and outputs, " +
                     std::to_string(entry.tempBytes) + " bytes of temps";
  if (entry.tempLowerBound)
    text += " (at least " + std::to_string(entry.tempLowerBound) +
            " live at once)";
  if (entry.accumulate)
    text += ", the last of " + std::to_string(entry.accumulate) +
            " batches of an update";
  text = "\n" + wrapped(text, "", "    ");
  TextTable io;
  io.row({"name", "role", "type", "offset", "bytes"});
  addNamed(plan, entry, entry.buffers, plan.buffers.size(), io);
  text += io.toString("  ") + tempsToString(plan, entry) + "  calls\n";
  std::vector<CallPhase> phases = phasesOf(plan, entry);
  std::vector<std::vector<uint32_t>> waits = waitedFor(entry);
  size_t part = 0, end = 0; // of that part
  for (size_t i = 0; i < entry.calls.size(); ++i) {
    if (i == end && part < entry.parts.size()) {
      const PlanPart &p = entry.parts[part++];
      end += p.numCalls;
      text += "   part " + std::to_string(part) + " of " +
              std::to_string(entry.parts.size()) + ": calls " +
              std::to_string(i) + ".." + std::to_string(end - 1) + ", " +
              (p.times == 1 ? "once" : std::to_string(p.times) + " times") +
              "\n";
    }
    text += callToString(plan, entry, i, phases[i], waits[i]);
  }
  if (lifetimes)
    text += "  lifetimes in the temp segment\n" + lifetimeChart(plan, entry);
  return text;
}

} // namespace

std::string dumpPlan(const Plan &plan, bool lifetimes) {
  std::string text = "plan version " + std::to_string(plan.major) + "." +
                     std::to_string(plan.minor) + " for " +
                     std::string(nameOf(plan.device)) + ", " +
                     std::to_string(plan.persistentBytes) +
                     " bytes that all entries share\n";
  TextTable table;
  table.row({"name", "role", "type", "offset", "bytes", "starts as"});
  addNamed(plan, plan.entries[0], plan.buffers, 0, table);
  if (!plan.buffers.empty())
    text += table.toString("  ");
  for (const PlanEntry &entry : plan.entries)
    text += dumpEntry(plan, entry, lifetimes);
  return text;
}

} // namespace aicf
