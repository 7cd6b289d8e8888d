//===- Trace.cpp - traces for Perfetto ------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Chrome's JSON trace format ("Trace Event Format", complete events).
//===----------------------------------------------------------------------===//

#include "aicf/Executor.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace aicf {

std::string traceToChromeJson(const std::vector<TraceRecord> &trace) {
  using Json = nlohmann::ordered_json;
  Json events = Json::array();
  auto event = [&](std::string name, const TraceRecord &r, int thread,
                   Json args) {
    events.push_back({{"name", std::move(name)},
                      {"cat", r.isReplay ? "replay" : "eager"},
                      {"ph", "X"},
                      {"ts", r.startMicros},
                      {"dur", r.micros},
                      {"pid", 1},
                      {"tid", thread},
                      {"args", std::move(args)}});
  };
  for (size_t i = 0; i < trace.size(); ++i) {
    const TraceRecord &r = trace[i];
    Json args = {{"kid", r.kid}, {"ins", r.inVids}, {"outs", r.outVids}};
    if (!r.isReplay) {
      event(r.op, r, 1, std::move(args));
      continue;
    }
    // One slice a launch; its nodes have no times of their own.
    Json nodes = Json::array();
    size_t end = i;
    for (; end < trace.size() && trace[end].isReplay &&
           trace[end].startMicros == r.startMicros;
         ++end)
      nodes.push_back({{"op", trace[end].op},
                       {"kid", trace[end].kid},
                       {"ins", trace[end].inVids},
                       {"outs", trace[end].outVids}});
    event("graph launch", r, 2, {{"nodes", nodes}});
    i = end - 1;
  }
  return Json({{"displayTimeUnit", "ns"}, {"traceEvents", events}}).dump() +
         "\n";
}

std::string traceToProfileJson(const std::vector<TraceRecord> &trace,
                               const std::string &device) {
  auto join = [](const std::vector<std::string> &types) {
    std::string text;
    for (const std::string &type : types)
      text += (text.empty() ? "" : ",") + type;
    return text;
  };
  std::map<std::string, std::map<std::string, std::vector<double>>> times;
  for (const TraceRecord &r : trace)
    if (!r.isReplay)
      times[r.kid][join(r.inTypes) + "->" + join(r.outTypes)].push_back(
          r.micros);
  nlohmann::ordered_json kernels = nlohmann::ordered_json::object();
  for (auto &[kid, problems] : times)
    for (auto &[problem, micros] : problems) {
      std::nth_element(micros.begin(), micros.begin() + long(micros.size() / 2),
                       micros.end());
      kernels[kid][problem] = micros[micros.size() / 2];
    }
  return nlohmann::ordered_json({{"device", device}, {"kernels", kernels}})
             .dump(1) +
         "\n";
}

} // namespace aicf
