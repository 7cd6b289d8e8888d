//===- PlanView.cpp - a plan as a page ------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The page's files are in page/; here are the data that they show, as JSON in
// which no '<' is left: nothing of a plan can end the element that holds it.
//===----------------------------------------------------------------------===//

#include "aicf/PlanView.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Ops/Profile.h"
#include "lib/Plan/CallFacts.h"
#include "lib/Plan/Order.h"
#include "lib/Plan/PlanText.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace aicf {
namespace {

using Json = nlohmann::ordered_json;

#include "PlanViewPage.inc" // kPage, kStyle and kScript

StatusOr<Profile> readProfile(const ViewedPlan &of) {
  if (of.profile.empty())
    return Profile();
  StatusOr<Profile> profile = Profile::parse(of.profile);
  if (!profile.ok())
    return makeError(StatusCode::InvalidArgument, "the profile of ", of.title,
                     " is ", profile.status().message());
  if (!profile->isOf(of.plan->device))
    return makeError(StatusCode::InvalidArgument,
                     "the profile was measured on \"",
                     printable(profile->device, 80), "\", but ", of.title,
                     " is a plan for ", nameOf(of.plan->device));
  return profile;
}

/// The tensors of an entry: buffers, and the values that are not all of one.
class Tensors {
public:
  Tensors(const Plan &plan, const PlanEntry &entry) : plan(plan), entry(entry) {
    std::map<uint32_t, uint32_t> numValues; // by buffer
    for (uint32_t v : usedValues())
      ++numValues[plan.value(entry, v).buffer];
    for (uint32_t v : usedValues()) {
      const PlanValue &value = plan.value(entry, v);
      const PlanBuffer &buffer = plan.buffer(entry, value.buffer);
      bool isWhole = value.byteOffset == 0 &&
                     value.desc.spanBytes() == buffer.bytes &&
                     (v == value.buffer || numValues[value.buffer] == 1);
      size_t base = ofBuffer(value.buffer);
      if (!isWhole)
        base = add(valueName(plan, entry, v), value.desc.toString(), buffer,
                   buffer.offset + value.byteOffset, value.desc.spanBytes(),
                   int64_t(base));
      else if (buffer.name.empty()) {
        list[base]["name"] = valueName(plan, entry, v);
        list[base]["type"] = value.desc.toString();
      }
      places[v] = base;
    }
    for (uint32_t c = 0; c < entry.calls.size(); ++c)
      access(c);
    setLifetimes();
  }

  /// The tensors of values, and of what holds them.
  Json of(const std::vector<uint32_t> &values) const {
    Json numbers = Json::array();
    for (uint32_t v : values)
      numbers.push_back(places.at(v));
    return numbers;
  }
  const Json &all() const { return list; }

private:
  std::vector<uint32_t> usedValues() const {
    std::vector<uint32_t> values;
    for (const PlanCall &call : entry.calls)
      for (const std::vector<uint32_t> *side : {&call.ins, &call.outs})
        values.insert(values.end(), side->begin(), side->end());
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }

  size_t add(const std::string &name, const std::string &type,
             const PlanBuffer &buffer, uint64_t offset, uint64_t bytes,
             int64_t base) {
    Json tensor = {{"name", name},
                   {"type", type},
                   {"role", nameOf(buffer.role)},
                   {"segment", nameOf(segmentOf(buffer.role))},
                   {"offset", offset},
                   {"bytes", bytes},
                   {"base", base < 0 ? Json() : Json(base)},
                   {"first", -1},
                   {"last", -1},
                   {"writers", Json::array()},
                   {"readers", Json::array()}};
    list.push_back(std::move(tensor));
    return list.size() - 1;
  }

  size_t ofBuffer(uint32_t number) {
    if (auto it = buffers.find(number); it != buffers.end())
      return it->second;
    const PlanBuffer &buffer = plan.buffer(entry, number);
    std::string type = std::to_string(buffer.bytes) + " bytes";
    if (!buffer.name.empty()) // its value has the buffer's number
      type = plan.value(entry, number).desc.toString();
    return buffers[number] =
               add(buffer.name.empty() ? "memory " + std::to_string(number)
                                       : printable(buffer.name, 60),
                   type, buffer, buffer.offset, buffer.bytes, -1);
  }

  void access(uint32_t call) {
    auto note = [&](size_t tensor, const char *how) {
      Json &calls = list[tensor][how];
      if (calls.empty() || calls.back() != call)
        calls.push_back(call);
      if (list[tensor]["first"] == -1)
        list[tensor]["first"] = call;
      list[tensor]["last"] = call;
    };
    auto noteValue = [&](uint32_t value, const char *how) {
      note(places.at(value), how);
      size_t base = buffers.at(plan.value(entry, value).buffer);
      if (base != places.at(value))
        note(base, how);
    };
    const PlanCall &c = entry.calls[call];
    for (uint32_t value : c.ins)
      noteValue(value, "readers");
    for (uint32_t value : c.outs)
      noteValue(value, "writers");
    if (c.workspace >= 0) {
      size_t tensor = ofBuffer(uint32_t(c.workspace));
      list[tensor]["name"] = "workspace";
      note(tensor, "writers");
    }
  }

  /// What has a name lives as long as the entry; a temp, between its calls, and
  /// its memory is held until all calls that may run beside them have ended.
  void setLifetimes() {
    if (StatusOr<HappensBefore> order = orderOf(entry); order.ok()) {
      std::vector<AccessSet> accesses = accessesOf(plan, entry, *order);
      for (const auto &[number, tensor] : buffers)
        if (number >= plan.buffers.size())
          list[tensor]["held"] =
              accesses[number - plan.buffers.size()].safeEnd(*order) - 1;
    }
    for (Json &tensor : list)
      if (tensor["segment"] != nameOf(Segment::Temp)) {
        tensor["first"] = 0;
        tensor["last"] = std::max<int64_t>(0, int64_t(entry.calls.size()) - 1);
        tensor["held"] = tensor["last"];
      } else if (tensor["held"].is_null()) { // a part of a base, which is held
        tensor["held"] = tensor["last"];
      }
  }

  const Plan &plan;
  const PlanEntry &entry;
  Json list = Json::array();
  std::map<uint32_t, size_t> buffers, places; ///< by number; of values
};

/// [{kind, attrs, operands, results}] in the body's own numbers.
Json bodyJson(const Body &body) {
  Json primitives = Json::array();
  uint32_t next = body.numOperands;
  for (const Primitive &primitive : body.primitives) {
    Json results = Json::array();
    for (uint32_t r = 0; r < primitive.numResults(); ++r)
      results.push_back(next++);
    primitives.push_back({{"kind", nameOf(primitive.kind)},
                          {"attrs", attrsText(primitive)},
                          {"operands", primitive.operands},
                          {"results", std::move(results)}});
  }
  return primitives;
}

Json timeOf(const Plan &plan, const PlanEntry &entry, const PlanCall &call,
            const Profile &profile) {
  auto descsOf = [&](const std::vector<uint32_t> &values) {
    std::vector<TensorDesc> descs;
    for (uint32_t value : values)
      descs.push_back(plan.value(entry, value).desc);
    return descs;
  };
  const std::optional<double> micros =
      profile.find(call.kid, problemOf(descsOf(call.ins), descsOf(call.outs)));
  return micros ? Json(*micros) : Json();
}

Json entryJson(const Plan &plan, const PlanEntry &entry,
               const Profile &profile) {
  Tensors tensors(plan, entry);
  std::vector<CallPhase> phases = phasesOf(plan, entry);
  std::vector<std::vector<uint32_t>> waits = waitedFor(entry);
  std::vector<uint32_t> repeats = timesOf(entry);
  Json calls = Json::array();
  uint32_t streams = 1;
  for (size_t i = 0; i < entry.calls.size(); ++i) {
    const PlanCall &c = entry.calls[i];
    streams = std::max(streams, c.stream + 1);
    auto name = [&](uint32_t value) { return valueName(plan, entry, value); };
    calls.push_back({{"op", opsText(*c.body)},
                     {"text", callText(c, name)},
                     {"kid", printable(c.kid, 80)},
                     {"phase", nameOf(phases[i])},
                     {"stream", c.stream},
                     {"ins", tensors.of(c.ins)},
                     {"outs", tensors.of(c.outs)},
                     {"after", waits[i]},
                     {"flops", flopsOf(plan, entry, c)},
                     {"bytes", bytesOf(plan, entry, c)},
                     {"us", timeOf(plan, entry, c, profile)},
                     {"times", repeats[i]},
                     {"workspace", c.workspaceBytes},
                     {"isProtective", c.isProtective},
                     {"location", printable(c.location)},
                     {"body", bodyJson(*c.body)}});
  }
  return {{"name", printable(entry.name, 60)},
          {"ioBytes", entry.ioBytes},
          {"tempBytes", entry.tempBytes},
          {"lowerBound", entry.tempLowerBound},
          {"streams", streams},
          {"tensors", tensors.all()},
          {"calls", std::move(calls)}};
}

StatusOr<Json> planJson(const ViewedPlan &viewed) {
  if (!viewed.plan)
    return makeError(StatusCode::InvalidArgument, "there is no plan to view");
  const Plan &plan = *viewed.plan;
  AICF_ASSIGN_OR_RETURN(Profile profile, readProfile(viewed));
  Json entries = Json::array();
  for (const PlanEntry &entry : plan.entries)
    entries.push_back(entryJson(plan, entry, profile));
  return Json{
      {"title", printable(viewed.title.empty() ? "plan" : viewed.title, 120)},
      {"version", std::to_string(plan.major) + "." + std::to_string(plan.minor)},
      {"device", nameOf(plan.device)},
      {"persistentBytes", plan.persistentBytes},
      {"entries", std::move(entries)}};
}

/// JSON for a script element: it has '<' in texts alone, where an escape says
/// the same.
std::string forScript(const Json &json) {
  std::string text = json.dump(-1, ' ', /*ensure_ascii=*/true,
                               Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (char c : text)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

std::string replaced(std::string text, const std::string &mark,
                     const std::string &with) {
  size_t at = text.find(mark);
  return at == std::string::npos ? text
                                 : text.replace(at, mark.size(), with);
}

} // namespace

StatusOr<std::string> viewPlans(Span<const ViewedPlan> plans,
                                const PlanViewOptions &options) {
  if (plans.empty() || plans.size() > 2)
    return makeError(StatusCode::InvalidArgument, "a page shows one plan or "
                                                  "two, not ",
                     plans.size());
  Json shown = Json::array();
  for (const ViewedPlan &plan : plans) {
    AICF_ASSIGN_OR_RETURN(Json json, planJson(plan));
    shown.push_back(std::move(json));
  }
  Json rates = Json::object();
  if (options.bytesPerSecond > 0)
    rates["GB/s"] = options.bytesPerSecond / 1e9;
  if (options.flopsPerSecond > 0)
    rates["GFLOP/s"] = options.flopsPerSecond / 1e9;
  Json content = {{"plans", std::move(shown)},
                  {"rates", std::move(rates)},
                  {"difference", Json()}};
  if (plans.size() == 2)
    content["difference"] = diffPlans(*plans[0].plan, *plans[1].plan);
  // The data last: what comes from a plan is not searched for marks.
  std::string page = replaced(kPage, "@CSS@", kStyle);
  page = replaced(std::move(page), "@JS@", kScript);
  return replaced(std::move(page), "@DATA@", forScript(content));
}

} // namespace aicf
