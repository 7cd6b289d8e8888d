//===- Trace.cpp - traces for Perfetto ------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Chrome's JSON trace format ("Trace Event Format"): metadata, complete and
// instant events, flows for what waits for what, a counter of bytes.
//===----------------------------------------------------------------------===//

#include "aicf/Executor.h"
#include "lib/Ops/Profile.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace aicf {

namespace {

using Json = nlohmann::ordered_json;

/// Threads of the trace: streams from kFirstStream on, graph launches before.
constexpr int kProcess = 1, kLaunches = 1, kFirstStream = 2;

Json metadata(const char *what, int thread, std::string name) {
  return {{"name", what},
          {"ph", "M"},
          {"pid", kProcess},
          {"tid", thread},
          {"args", {{"name", std::move(name)}}}};
}

Json slice(const std::string &name, const TraceRecord &r, int thread,
           double start, double micros, Json args) {
  return {{"name", name},  {"cat", r.isReplay ? "replay" : "eager"},
          {"ph", "X"},     {"ts", start},
          {"dur", micros}, {"pid", kProcess},
          {"tid", thread}, {"args", std::move(args)}};
}

Json argumentsOf(const TraceRecord &r) {
  auto typed = [](const std::vector<std::string> &names,
                  const std::vector<std::string> &types) {
    Json list = Json::array();
    for (size_t i = 0; i < types.size(); ++i)
      list.push_back(i < names.size() ? names[i] + ": " + types[i] : types[i]);
    return list;
  };
  Json args = {{"kid", r.kid},
               {"entry", r.entry},
               {"ins", typed(r.inNames, r.inTypes)},
               {"outs", typed(r.outNames, r.outTypes)}};
  if (r.call >= 0) {
    args["call"] = r.call;
    args["phase"] = r.phase;
    args["location"] = r.location;
  }
  return args;
}

/// The bytes of temps that live from this call on.
Json counterEvent(const TraceRecord &r, double start) {
  return {{"name", "bytes of temps"},
          {"ph", "C"},
          {"ts", start},
          {"pid", kProcess},
          {"args", {{"bytes", r.bytesAlive}}}};
}

/// Arrows from calls to those on other streams that wait for them.
class Flows {
public:
  void add(const TraceRecord &r, Json &events) {
    if (r.isWholeLaunch) // no time is known
      return;
    for (uint32_t call : r.after)
      if (auto from = last.find({r.entry, call}); from != last.end()) {
        const TraceRecord &first = *from->second;
        ++number;
        events.push_back(end("s", first, first.startMicros + first.micros));
        events.push_back(end("f", r, r.startMicros));
      }
    last[{r.entry, uint32_t(r.call)}] = &r;
  }

private:
  Json end(const char *kind, const TraceRecord &r, double at) const {
    Json event = {{"name", "waits for"},
                  {"cat", "order"},
                  {"ph", kind},
                  {"id", number},
                  {"ts", at},
                  {"pid", kProcess},
                  {"tid", kFirstStream + int(r.stream)}};
    if (*kind == 'f')
      event["bp"] = "e"; // to the slice that begins there
    return event;
  }

  std::map<std::pair<std::string, uint32_t>, const TraceRecord *> last;
  uint64_t number = 0;
};

/// A call's event. In a launch that was timed as a whole it is an instant, at
/// its place among the others: where it lies in time is not known.
Json callEvent(const TraceRecord &r, size_t place, size_t count) {
  int thread = kFirstStream + int(r.stream);
  if (!r.isWholeLaunch)
    return slice(r.op, r, thread, r.startMicros, r.micros, argumentsOf(r));
  Json args = argumentsOf(r);
  args["timed"] = false;
  return {{"name", r.op},
          {"cat", "replay"},
          {"ph", "i"},
          {"s", "t"},
          {"ts", r.startMicros + r.micros * double(place) / double(count)},
          {"pid", kProcess},
          {"tid", thread},
          {"args", std::move(args)}};
}

} // namespace

std::string traceToChromeJson(const std::vector<TraceRecord> &trace,
                              const std::string &device) {
  std::string process = device.empty() ? "aicf" : "aicf on " + device;
  Json events =
      Json::array({metadata("process_name", 0, process),
                   metadata("thread_name", kLaunches, "graph launches")});
  uint32_t numStreams = 0;
  for (const TraceRecord &r : trace)
    numStreams = std::max(numStreams, r.stream + 1);
  for (uint32_t stream = 0; stream < numStreams; ++stream)
    events.push_back(metadata("thread_name", kFirstStream + int(stream),
                              "stream " + std::to_string(stream)));
  Flows flows;
  auto add = [&](const TraceRecord &r, size_t place, size_t count) {
    events.push_back(callEvent(r, place, count));
    double at = events.back()["ts"].get<double>();
    flows.add(r, events);
    if (r.call >= 0)
      events.push_back(counterEvent(r, at));
  };
  for (size_t i = 0; i < trace.size();) {
    size_t end = i + 1;
    if (!trace[i].isReplay) {
      add(trace[i], 0, 1);
      i = end;
      continue;
    }
    double micros = trace[i].micros;
    for (; end < trace.size() && trace[end].launch == trace[i].launch; ++end)
      micros += trace[end].isWholeLaunch ? 0 : trace[end].micros;
    events.push_back(slice("launch of " + trace[i].entry, trace[i], kLaunches,
                           trace[i].startMicros, micros, {{"calls", end - i}}));
    for (size_t call = i; call < end; ++call)
      add(trace[call], call - i, end - i);
    i = end;
  }
  return Json({{"displayTimeUnit", "ns"}, {"traceEvents", events}}).dump() +
         "\n";
}

std::string traceToProfileJson(const std::vector<TraceRecord> &trace,
                               const std::string &device) {
  std::map<std::string, std::map<std::string, std::vector<double>>> times;
  for (const TraceRecord &r : trace)
    if (!r.isReplay)
      times[r.kid][problemOf(r.inTypes, r.outTypes)].push_back(r.micros);
  Profile profile;
  profile.device = device;
  for (auto &[kid, problems] : times)
    for (auto &[problem, micros] : problems) {
      std::nth_element(micros.begin(), micros.begin() + long(micros.size() / 2),
                       micros.end());
      profile.micros[kid][problem] = micros[micros.size() / 2];
    }
  return profile.toJson();
}

} // namespace aicf
