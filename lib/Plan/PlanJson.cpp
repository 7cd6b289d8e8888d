//===- PlanJson.cpp - plans as JSON ---------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Every field of the file, by the lists of lib/Plan/Fields.h.
//===----------------------------------------------------------------------===//

#include "lib/Plan/PlanJson.h"
#include "lib/Ops/Fields.h"
#include "lib/Plan/Fields.h"

#include <cmath>

namespace aicf {
namespace {

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
Json toJson(const PlanPart &from) {
  Json json;
  AICF_PART_FIELDS(AICF_TO_JSON)
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
  json["parts"] = Json::array();
  for (const PlanPart &part : from.parts)
    json["parts"].push_back(toJson(part));
  return json;
}
#undef AICF_TO_JSON

} // namespace

std::string recordText(const PlanBuffer &record) {
  return toJson(record).dump(-1, ' ', false, Json::error_handler_t::replace);
}
std::string recordText(const PlanValue &record) {
  return toJson(record).dump(-1, ' ', false, Json::error_handler_t::replace);
}
std::string recordText(const PlanCall &record) {
  return toJson(record).dump(-1, ' ', false, Json::error_handler_t::replace);
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

} // namespace aicf
