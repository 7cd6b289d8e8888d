//===- PlanDump.cpp - plans as text and as JSON ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Plan.h"
#include "kernels/Rules.h"
#include "lib/Base/Utf8.h"
#include "lib/Plan/Order.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iomanip>

namespace aicf {
namespace {

/// Pads every column to its widest cell.
class Table {
public:
  void row(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }
  std::string toString(const std::string &indent) const {
    std::vector<size_t> widths;
    for (const auto &cells : rows)
      for (size_t i = 0; i < cells.size(); ++i) {
        widths.resize(std::max(widths.size(), i + 1));
        widths[i] = std::max(widths[i], cells[i].size());
      }
    std::string text;
    for (const auto &cells : rows) {
      std::string line = indent;
      for (size_t i = 0; i < cells.size(); ++i)
        line += cells[i] + std::string(widths[i] - cells[i].size() + 2, ' ');
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text;
  }

private:
  std::vector<std::vector<std::string>> rows;
};

std::string join(const std::vector<std::string> &items) {
  std::string text;
  for (const std::string &item : items)
    text += (text.empty() ? "" : ", ") + item;
  return text;
}

template <typename T> std::string joinNumbers(const T &numbers) {
  std::vector<std::string> items;
  for (auto n : numbers)
    items.push_back(std::to_string(n));
  return join(items);
}

/// In the record's order; "-" where one is absent.
std::string joinTids(const std::vector<uint32_t> &tids) {
  std::vector<std::string> items;
  for (uint32_t tid : tids)
    items.push_back(tid == kAbsentTensor ? "-" : std::to_string(tid));
  return join(items);
}

/// Without what a terminal would take for a command.
std::string printable(std::string text) {
  if (isPrintableUtf8(text))
    return text;
  for (char &c : text)
    if (c < 0x20 || c > 0x7e) // what is not ASCII too
      c = '?';
  return text;
}

std::string attrsToString(const PlanCall &call) {
  const OpInfo &info = infoOf(call.kind);
  std::vector<std::string> items;
  for (size_t i = 0; i < info.numFields; ++i)
    items.push_back(std::string(info.fields[i].name) + "=" +
                    formatField(decodeField(info.fields[i], call.attrs)));
  return join(items);
}

std::string initToString(const PlanTensor &t) {
  std::string text(nameOf(t.init));
  if (t.derivedFrom >= 0)
    return "cast of " + std::to_string(t.derivedFrom);
  if (t.init == InitKind::None)
    return "";
  if (t.init == InitKind::Constant || t.init == InitKind::Normal)
    text += "(" + formatNumber(t.initValue) + ")";
  return text;
}

void addTensorRows(Table &table, const std::vector<PlanTensor> &tensors,
                   size_t firstTid) {
  table.row({"tid", "name", "role", "type", "segment", "offset", "bytes", "vid",
             "init"});
  for (size_t i = 0; i < tensors.size(); ++i) {
    const PlanTensor &t = tensors[i];
    table.row({std::to_string(firstTid + i), t.name.empty() ? "-" : t.name,
               std::string(nameOf(t.role)), t.desc.toString(),
               std::string(nameOf(segmentOf(t.role))), std::to_string(t.offset),
               std::to_string(t.desc.numBytes()), std::to_string(t.vid),
               initToString(t)});
  }
}

/// One line a temp tensor: offset, bytes and '#' from its first to its last
/// call; at most 64 columns, each of which stands for one or more calls.
std::string lifetimeChart(const Plan &plan, const PlanEntry &entry) {
  StatusOr<HappensBefore> order = orderOf(entry);
  if (!order.ok() || entry.calls.empty())
    return "";
  std::vector<AccessSet> accesses = accessesOf(plan, entry, *order);
  size_t perColumn = (entry.calls.size() + 63) / 64;
  std::vector<uint32_t> tids;
  for (uint32_t i = 0; i < entry.tensors.size(); ++i)
    if (segmentOf(entry.tensors[i].role) == Segment::Temp)
      tids.push_back(static_cast<uint32_t>(plan.persistent.size()) + i);
  std::stable_sort(tids.begin(), tids.end(), [&](uint32_t a, uint32_t b) {
    return plan.tensor(entry, a).offset < plan.tensor(entry, b).offset;
  });
  Table table;
  table.row({"tid", "offset", "bytes",
             "calls 0.." + std::to_string(entry.calls.size() - 1) + " (" +
                 std::to_string(perColumn) + " a column)"});
  for (uint32_t tid : tids) {
    const PlanTensor &t = plan.tensor(entry, tid);
    std::string bar((entry.calls.size() + perColumn - 1) / perColumn, '.');
    if (!accesses[tid].empty())
      for (size_t c = accesses[tid].firstCall(); c <= accesses[tid].lastCall();
           ++c)
        bar[c / perColumn] = '#';
    table.row({std::to_string(tid), std::to_string(t.offset),
               std::to_string(t.desc.numBytes()), bar});
  }
  return table.toString("    ");
}

std::string dumpEntry(const Plan &plan, const PlanEntry &entry,
                      bool lifetimes) {
  std::ostringstream os;
  double gap =
      entry.tempLowerBound
          ? 100.0 * (double(entry.tempBytes) / double(entry.tempLowerBound) - 1)
          : 0.0;
  os << "entry " << entry.name << ": " << entry.calls.size() << " calls, io "
     << entry.ioBytes << " bytes, temp " << entry.tempBytes
     << " bytes (lower bound " << entry.tempLowerBound << ", gap " << std::fixed
     << std::setprecision(2) << gap << " %)\n";
  Table tensors;
  addTensorRows(tensors, entry.tensors, plan.persistent.size());
  os << tensors.toString("    ");
  Table calls;
  calls.row(
      {"call", "op", "kid", "ins", "outs", "attrs", "stream", "location"});
  for (size_t i = 0; i < entry.calls.size(); ++i) {
    const PlanCall &c = entry.calls[i];
    std::string stream = std::to_string(c.stream);
    if (!c.waits.empty())
      stream += " waits " + joinNumbers(c.waits);
    if (!c.signals.empty())
      stream += " signals " + joinNumbers(c.signals);
    calls.row({std::to_string(i), std::string(nameOf(c.kind)), c.kid,
               joinTids(c.ins), joinTids(c.outs), attrsToString(c), stream,
               printable(c.location)});
  }
  os << calls.toString("    ");
  if (lifetimes)
    os << "  lifetimes in the temp segment\n" << lifetimeChart(plan, entry);
  return os.str();
}

using Json = nlohmann::ordered_json;

Json toJson(const PlanTensor &t, size_t tid) {
  Json shape = Json::array();
  for (int64_t d : t.desc.shape())
    shape.push_back(d);
  return {{"tid", tid},
          {"name", t.name},
          {"role", nameOf(t.role)},
          {"dtype", nameOf(t.desc.dtype)},
          {"shape", shape},
          {"segment", nameOf(segmentOf(t.role))},
          {"offset", t.offset},
          {"bytes", t.desc.numBytes()},
          {"vid", t.vid},
          {"init", nameOf(t.init)},
          {"init_value", t.initValue},
          {"derived_from", t.derivedFrom}};
}

/// In the record's order; null where one is absent.
Json tidsToJson(const std::vector<uint32_t> &tids) {
  Json list = Json::array();
  for (uint32_t tid : tids)
    list.push_back(tid == kAbsentTensor ? Json() : Json(tid));
  return list;
}

Json toJson(const PlanCall &c) {
  Json attrs = Json::object();
  const OpInfo &info = infoOf(c.kind);
  for (size_t i = 0; i < info.numFields; ++i)
    std::visit(
        [&](auto value) { attrs[std::string(info.fields[i].name)] = value; },
        decodeField(info.fields[i], c.attrs));
  return {{"op", nameOf(c.kind)},     {"kid", c.kid},
          {"schema", c.schema},       {"attrs", attrs},
          {"ins", tidsToJson(c.ins)}, {"outs", tidsToJson(c.outs)},
          {"in_vids", c.inVids},      {"out_vids", c.outVids},
          {"workspace", c.workspace}, {"stream", c.stream},
          {"waits", c.waits},         {"signals", c.signals},
          {"location", c.location},   {"protective", c.isProtective}};
}

} // namespace

std::string dumpPlan(const Plan &plan, bool lifetimes) {
  std::ostringstream os;
  os << "plan version " << kPlanMajor << "." << plan.minor << ", device "
     << nameOf(plan.device) << ", persistent " << plan.persistentBytes
     << " bytes\n";
  Table persistent;
  addTensorRows(persistent, plan.persistent, 0);
  os << persistent.toString("    ");
  for (const PlanEntry &entry : plan.entries)
    os << dumpEntry(plan, entry, lifetimes);
  return os.str();
}

std::string dumpPlanAsJson(const Plan &plan) {
  Json root = {{"version", {kPlanMajor, plan.minor}},
               {"device", nameOf(plan.device)},
               {"persistent_bytes", plan.persistentBytes},
               {"persistent", Json::array()},
               {"entries", Json::array()}};
  for (size_t i = 0; i < plan.persistent.size(); ++i)
    root["persistent"].push_back(toJson(plan.persistent[i], i));
  for (const PlanEntry &entry : plan.entries) {
    Json tensors = Json::array(), calls = Json::array();
    for (size_t i = 0; i < entry.tensors.size(); ++i)
      tensors.push_back(toJson(entry.tensors[i], plan.persistent.size() + i));
    for (const PlanCall &call : entry.calls)
      calls.push_back(toJson(call));
    root["entries"].push_back({{"name", entry.name},
                               {"io_bytes", entry.ioBytes},
                               {"temp_bytes", entry.tempBytes},
                               {"temp_lower_bound", entry.tempLowerBound},
                               {"tensors", tensors},
                               {"calls", calls}});
  }
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

/// Lines of a row, for comparing tables row by row.
void diffRows(const std::string &where, const std::vector<std::string> &a,
              const std::vector<std::string> &b, std::string &out) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    bool inA = i < a.size(), inB = i < b.size();
    if (inA && inB && a[i] == b[i])
      continue;
    if (inA)
      out += "- " + where + " " + std::to_string(i) + ": " + a[i] + "\n";
    if (inB)
      out += "+ " + where + " " + std::to_string(i) + ": " + b[i] + "\n";
  }
}

/// What stands in the debug table is not what a plan does.
std::string describe(Json row) {
  for (const char *debug :
       {"vid", "in_vids", "out_vids", "location", "protective"})
    row.erase(debug);
  return row.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> describe(const std::vector<PlanTensor> &tensors) {
  std::vector<std::string> rows;
  for (const PlanTensor &t : tensors)
    rows.push_back(describe(toJson(t, 0)));
  return rows;
}

std::vector<std::string> describe(const std::vector<PlanCall> &calls) {
  std::vector<std::string> rows;
  for (const PlanCall &c : calls)
    rows.push_back(describe(toJson(c)));
  return rows;
}

std::vector<std::string> describeSizes(const Plan &p) {
  return {"device " + std::string(nameOf(p.device)),
          "persistent_bytes " + std::to_string(p.persistentBytes)};
}

std::vector<std::string> describeSizes(const PlanEntry &e) {
  return {"io_bytes " + std::to_string(e.ioBytes),
          "temp_bytes " + std::to_string(e.tempBytes)};
}

std::string namesOf(const Plan &p) {
  std::string names;
  for (const PlanEntry &entry : p.entries)
    names += (names.empty() ? "" : ", ") + entry.name;
  return names;
}

} // namespace

std::string diffPlans(const Plan &a, const Plan &b) {
  std::string out;
  // The first entry is the one that runs where nobody says which.
  diffRows("entries", {namesOf(a)}, {namesOf(b)}, out);
  diffRows("plan", describeSizes(a), describeSizes(b), out);
  diffRows("persistent", describe(a.persistent), describe(b.persistent), out);
  for (const PlanEntry &entry : a.entries)
    if (!b.findEntry(entry.name))
      out += "- entry " + entry.name + "\n";
  for (const PlanEntry &entry : b.entries) {
    const PlanEntry *old = a.findEntry(entry.name);
    if (!old) {
      out += "+ entry " + entry.name + "\n";
      continue;
    }
    diffRows(entry.name, describeSizes(*old), describeSizes(entry), out);
    diffRows(entry.name + " tensor", describe(old->tensors),
             describe(entry.tensors), out);
    diffRows(entry.name + " call", describe(old->calls), describe(entry.calls),
             out);
  }
  return out;
}

} // namespace aicf
