//===- TraceTest.cpp - what the texts of a trace say ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Of records made by hand. That executors record what ran: ExecutorTest.
//===----------------------------------------------------------------------===//

#include "aicf/Executor.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace aicf;
using nlohmann::json;

namespace {

TraceRecord eager(const char *op, int32_t call, double micros = 1) {
  TraceRecord record;
  record.op = record.kid = op;
  record.call = call;
  record.entry = "train";
  record.micros = micros;
  return record;
}

TraceRecord replayed(const char *op, int32_t call, double micros,
                     bool isWholeLaunch) {
  TraceRecord record = eager(op, call, micros);
  record.isReplay = true;
  record.isWholeLaunch = isWholeLaunch;
  record.launch = 1;
  return record;
}

json eventsOf(const std::vector<TraceRecord> &trace) {
  return json::parse(traceToChromeJson(trace))["traceEvents"];
}

/// The first event of that name, or null.
json named(const json &events, const std::string &name) {
  for (const json &event : events)
    if (event["name"] == name)
      return event;
  return {};
}

std::vector<json> ofPhase(const json &events, const char *phase) {
  std::vector<json> found;
  for (const json &event : events)
    if (event["ph"] == phase)
      found.push_back(event);
  return found;
}

TEST(ChromeTrace, SaysWhatIsKnownOfACall) {
  TraceRecord known = eager("add", 3), own = eager("copy", -1);
  known.inNames = {"a"}; // the second operand has none
  known.inTypes = {"2xf32", "i32"};
  json events = eventsOf({known, own});
  json add = named(events, "add"), copy = named(events, "copy");
  EXPECT_EQ(add["args"]["ins"], json({"a: 2xf32", "i32"}));
  EXPECT_EQ(add["args"]["call"], 3);
  EXPECT_FALSE(copy["args"].contains("call")) << "the executor's own";
  EXPECT_EQ(ofPhase(events, "C").size(), 1u) << "bytes are known of calls";
  EXPECT_EQ(add["cat"], "eager");
  events = eventsOf({replayed("add", 0, 1, false)});
  EXPECT_EQ(named(events, "add")["cat"], "replay");
  EXPECT_EQ(named(events, "process_name")["args"]["name"], "aicf");
}

TEST(ChromeTrace, ArrowsAreBetweenCallsWhoseTimesAreKnown) {
  auto arrows = [](TraceRecord from, TraceRecord to, uint32_t after) {
    to.stream = 1;
    to.after = {after};
    json events = eventsOf({from, to});
    std::vector<json> both = ofPhase(events, "s");
    for (const json &end : ofPhase(events, "f"))
      both.push_back(end);
    return both;
  };
  std::vector<json> both = arrows(eager("a", 0), eager("b", 1), 0);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_FALSE(both[0].contains("bp"));
  EXPECT_EQ(both[1]["bp"], "e") << "to the slice that begins there";
  EXPECT_TRUE(arrows(eager("a", 0), eager("b", 1), 7).empty())
      << "call 7 ran before the trace began";
  EXPECT_TRUE(
      arrows(replayed("a", 0, 9, true), replayed("b", 1, 9, true), 0).empty());
}

TEST(ChromeTrace, ALaunchLastsAsLongAsItsCalls) {
  auto duration = [](double first, double second, bool areWhole) {
    return named(eventsOf({replayed("a", 0, first, areWhole),
                           replayed("b", 1, second, areWhole)}),
                 "launch of train")["dur"];
  };
  EXPECT_EQ(duration(3, 4, false), 7);
  EXPECT_EQ(duration(7, 7, true), 7) << "each has the launch's time";
}

TEST(Profile, HasTheMedianOfEagerCalls) {
  std::vector<TraceRecord> trace = {eager("a", 0, 1), eager("a", 0, 9),
                                    eager("a", 0, 2),
                                    replayed("b", 0, 5, false)};
  for (TraceRecord &record : trace) {
    record.inTypes = {"2xf32", "i32"};
    record.outTypes = {"2xf32"};
  }
  EXPECT_EQ(json::parse(traceToProfileJson(trace, "cpu")),
            json({{"device", "cpu"},
                  {"kernels", {{"a", {{"2xf32,i32->2xf32", 2.0}}}}}}));
}

} // namespace
