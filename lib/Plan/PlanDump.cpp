//===- PlanDump.cpp - plans as text and as JSON ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Plan.h"
#include "lib/Base/Utf8.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Ops/Fields.h"
#include "lib/Plan/Fields.h"
#include "lib/Plan/Order.h"

#include <cmath>
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

/// Without what a terminal would take for a command.
std::string printable(std::string text) {
  if (isPrintableUtf8(text))
    return text;
  for (char &c : text)
    if (c < 0x20 || c > 0x7e) // what is not ASCII too
      c = '?';
  return text;
}

std::string attrsToString(const Primitive &primitive) {
  const OpInfo &info = infoOf(primitive.kind);
  std::vector<std::string> items;
  for (size_t i = 0; i < info.numFields; ++i)
    items.push_back(std::string(info.fields[i].name) + "=" +
                    formatField(decodeField(info.fields[i], primitive.attrs)));
  return items.empty() ? "" : " {" + join(items) + "}";
}

/// "gemm(i0, i1) {transA=0, transB=1}", or several with the values that they
/// hand on: "t2 = gemm(i0, i1) {...}; t3 = relu(t2)". A number is the body's.
std::string bodyToString(const Body &body) {
  auto name = [&](int32_t value) {
    return (uint32_t(value) < body.numOperands ? "i" : "t") +
           std::to_string(value);
  };
  std::vector<uint32_t> made = valuesMade(body);
  std::string text;
  uint32_t next = body.numOperands;
  for (const Primitive &primitive : body.primitives) {
    std::vector<std::string> operands, results;
    for (int32_t value : primitive.operands)
      operands.push_back(value == kAbsentValue ? "-" : name(value));
    for (uint32_t r = 0; r < primitive.numResults(); ++r, ++next)
      if (std::binary_search(made.begin(), made.end(), next))
        results.push_back(name(int32_t(next)));
    text += text.empty() ? "" : "; ";
    if (body.primitives.size() > 1)
      text += join(results) + " = ";
    text += std::string(nameOf(primitive.kind)) + "(" + join(operands) + ")" +
            attrsToString(primitive);
  }
  return text;
}

std::string initToString(const PlanBuffer &b) {
  std::string text(nameOf(b.init));
  if (b.derivedFrom >= 0)
    return "cast of " + std::to_string(b.derivedFrom);
  if (b.role == Role::Constant)
    return "data";
  if (b.init == InitKind::None)
    return "";
  if (b.init == InitKind::Constant || b.init == InitKind::Normal)
    text += "(" + formatNumber(b.initValue) + ")";
  return text;
}

/// A line for each buffer, with the values that lie in it: "3: 4x8xf32 (v2)",
/// or "3: 4x8xf32 at 64 (v2)" behind its first byte.
std::string buffersToString(const std::vector<PlanBuffer> &buffers,
                            const std::vector<PlanValue> &values,
                            size_t firstBuffer, size_t firstValue) {
  std::vector<std::string> valuesOf(buffers.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const PlanValue &v = values[i];
    if (v.buffer < firstBuffer || v.buffer - firstBuffer >= buffers.size())
      continue; // of another table: it has a line of its own
    std::string &text = valuesOf[v.buffer - firstBuffer];
    text += (text.empty() ? "" : ", ") + std::to_string(firstValue + i) + ": " +
            v.desc.toString();
    if (v.byteOffset)
      text += " at " + std::to_string(v.byteOffset);
    if (v.vid >= 0)
      text += " (v" + std::to_string(v.vid) + ")";
  }
  Table table;
  table.row({"buffer", "name", "role", "segment", "offset", "bytes", "init",
             "values"});
  for (size_t i = 0; i < buffers.size(); ++i) {
    const PlanBuffer &b = buffers[i];
    table.row({std::to_string(firstBuffer + i), b.name.empty() ? "-" : b.name,
               std::string(nameOf(b.role)),
               std::string(nameOf(segmentOf(b.role))), std::to_string(b.offset),
               std::to_string(b.bytes), initToString(b), valuesOf[i]});
  }
  return table.toString("    ");
}

/// One line per temp buffer: offset, bytes and '#' from its first to its last
/// call; at most 64 columns, each of which stands for one or more calls.
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
  Table table;
  table.row({"buffer", "offset", "bytes",
             "calls 0.." + std::to_string(entry.calls.size() - 1) + " (" +
                 std::to_string(perColumn) + " per column)"});
  for (uint32_t i : temps) {
    const PlanBuffer &b = entry.buffers[i];
    std::string bar((entry.calls.size() + perColumn - 1) / perColumn, '.');
    if (!accesses[i].empty())
      for (size_t c = accesses[i].firstCall(); c <= accesses[i].lastCall(); ++c)
        bar[c / perColumn] = '#';
    table.row({std::to_string(plan.buffers.size() + i),
               std::to_string(b.offset), std::to_string(b.bytes), bar});
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
     << std::setprecision(2) << gap << " %)";
  if (entry.accumulate)
    os << ", the last of " << entry.accumulate << " batches of an update";
  os << "\n";
  os << buffersToString(entry.buffers, entry.values, plan.buffers.size(),
                        plan.values.size());
  Table calls;
  calls.row({"call", "kid", "ins", "outs", "body", "workspace", "stream",
             "location"});
  for (size_t i = 0; i < entry.calls.size(); ++i) {
    const PlanCall &c = entry.calls[i];
    std::string stream = std::to_string(c.stream);
    if (!c.waits.empty())
      stream += " waits " + joinNumbers(c.waits);
    if (!c.signals.empty())
      stream += " signals " + joinNumbers(c.signals);
    std::string workspace;
    if (c.workspace >= 0)
      workspace = std::to_string(c.workspaceBytes) + " of " +
                  std::to_string(c.workspace);
    calls.row({std::to_string(i), c.kid, joinNumbers(c.ins),
               joinNumbers(c.outs), bodyToString(*c.body), workspace, stream,
               printable(c.location)});
  }
  os << calls.toString("    ");
  if (lifetimes)
    os << "  lifetimes in the temp segment\n" << lifetimeChart(plan, entry);
  return os.str();
}

using Json = nlohmann::ordered_json;

/// Each field by its type.
template <typename T> Json toJson(const T &value) {
  if constexpr (std::is_enum_v<T>)
    return nameOf(value);
  else
    return value;
}
Json toJson(const TensorDesc &desc) {
  return std::vector<int64_t>(desc.shape().begin(), desc.shape().end());
}
/// Two hexadecimal digits for each byte.
Json toJson(const PlanData &data) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : data.bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}
Json toJson(const Strides &strides) {
  return std::vector<int64_t>(strides.all().begin(), strides.all().end());
}
#define AICF_TO_JSON(NAME, MEMBER) json[#NAME] = toJson(from.MEMBER);
Json toJson(const Body &body) {
  Json primitives = Json::array();
  for (const Primitive &primitive : body.primitives) {
    Json attrs = Json::object();
    const OpInfo &info = infoOf(primitive.kind);
    for (size_t i = 0; i < info.numFields; ++i)
      std::visit(
          [&](auto value) {
            Json &field = attrs[std::string(info.fields[i].name)];
            if (std::isfinite(double(value)))
              field = value;
            else // which JSON has no numbers for
              field = formatNumber(double(value));
          },
          decodeField(info.fields[i], primitive.attrs));
    primitives.push_back({{"kind", nameOf(primitive.kind)},
                          {"attrs", attrs},
                          {"operands", primitive.operands}});
  }
  return {{"num_operands", body.numOperands},
          {"primitives", primitives},
          {"results", body.results}};
}
Json toJson(const std::shared_ptr<const Body> &body) { return toJson(*body); }
Json toJson(const PlanBuffer &from) {
  Json json = {{"segment", nameOf(segmentOf(from.role))}};
  AICF_BUFFER_FIELDS(AICF_TO_JSON)
  return json;
}
Json toJson(const PlanValue &from) {
  Json json;
  AICF_VALUE_FIELDS(AICF_TO_JSON)
  return json;
}
Json toJson(const PlanCall &from) {
  Json json;
  AICF_CALL_FIELDS(AICF_TO_JSON)
  return json;
}
/// With what stands in the debug table.
Json toFullJson(const PlanBuffer &from) { return toJson(from); }
Json toFullJson(const PlanValue &from) {
  Json json = toJson(from);
  AICF_VALUE_DEBUG_FIELDS(AICF_TO_JSON)
  return json;
}
Json toFullJson(const PlanCall &from) {
  Json json = toJson(from);
  AICF_CALL_DEBUG_FIELDS(AICF_TO_JSON)
  return json;
}
/// Records with their numbers, which go on from `first`.
template <typename Record>
Json toNumberedJson(const std::vector<Record> &records, size_t first) {
  Json list = Json::array();
  for (const Record &record : records) {
    Json json = {{"number", first + list.size()}};
    json.update(toFullJson(record));
    list.push_back(std::move(json));
  }
  return list;
}
Json toFullJson(const Plan &plan, const PlanEntry &from) {
  Json json = {{"name", from.name},
               {"io_bytes", from.ioBytes},
               {"temp_bytes", from.tempBytes},
               {"accumulate", from.accumulate},
               {"output_form", nameOf(from.outputForm)}};
  AICF_ENTRY_DEBUG_FIELDS(AICF_TO_JSON)
  json["buffers"] = toNumberedJson(from.buffers, plan.buffers.size());
  json["values"] = toNumberedJson(from.values, plan.values.size());
  json["calls"] = toNumberedJson(from.calls, 0);
  return json;
}
#undef AICF_TO_JSON

} // namespace

std::string dumpPlan(const Plan &plan, bool lifetimes) {
  std::ostringstream os;
  os << "plan version " << plan.major << "." << plan.minor << ", device "
     << nameOf(plan.device) << ", persistent " << plan.persistentBytes
     << " bytes\n";
  os << buffersToString(plan.buffers, plan.values, 0, 0);
  for (const PlanEntry &entry : plan.entries)
    os << dumpEntry(plan, entry, lifetimes);
  return os.str();
}

std::string dumpPlanAsJson(const Plan &plan) {
  Json root = {{"version", {plan.major, plan.minor}},
               {"device", nameOf(plan.device)},
               {"persistent_bytes", plan.persistentBytes},
               {"buffers", toNumberedJson(plan.buffers, 0)},
               {"values", toNumberedJson(plan.values, 0)},
               {"entries", Json::array()}};
  for (const PlanEntry &entry : plan.entries)
    root["entries"].push_back(toFullJson(plan, entry));
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
template <typename Record>
std::vector<std::string> describe(const std::vector<Record> &records) {
  std::vector<std::string> rows;
  for (const Record &record : records)
    rows.push_back(
        toJson(record).dump(-1, ' ', false, Json::error_handler_t::replace));
  return rows;
}

std::vector<std::string> describeSizes(const Plan &p) {
  return {"device " + std::string(nameOf(p.device)),
          "persistent_bytes " + std::to_string(p.persistentBytes)};
}

std::vector<std::string> describeSizes(const PlanEntry &e) {
  return {"io_bytes " + std::to_string(e.ioBytes),
          "temp_bytes " + std::to_string(e.tempBytes),
          "accumulate " + std::to_string(e.accumulate),
          "output_form " + std::string(nameOf(e.outputForm))};
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
  diffRows("buffer", describe(a.buffers), describe(b.buffers), out);
  diffRows("value", describe(a.values), describe(b.values), out);
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
    diffRows(entry.name + " buffer", describe(old->buffers),
             describe(entry.buffers), out);
    diffRows(entry.name + " value", describe(old->values),
             describe(entry.values), out);
    diffRows(entry.name + " call", describe(old->calls), describe(entry.calls),
             out);
  }
  return out;
}

} // namespace aicf
