//===- PlanTest.cpp - plan files in and out -------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Plan/Plan.h"
#include "aicf/Support/File.h"
#include "unittests/Common/SamplePlans.h"
#include "unittests/Plan/Corpus.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

using namespace aicf;
using namespace aicf::test;

namespace {

std::vector<Plan> samples() {
  return {makeTrainPlan(), makeTwoStreamPlan(), makeInitPlan()};
}

TEST(Plan, RoundTrips) {
  for (const Plan &plan : samples()) {
    std::vector<uint8_t> bytes = plan.serialize();
    StatusOr<Plan> parsed = Plan::parse(bytes);
    ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
    EXPECT_EQ(diffPlans(plan, *parsed), "");
    EXPECT_EQ(parsed->serialize(), bytes);
  }
}

/// The code in brackets at the start of a refusal.
std::string codeOf(const Status &status) {
  size_t open = status.message().find('['), close = status.message().find(']');
  return open == std::string::npos
             ? status.message()
             : status.message().substr(open + 1, close - open - 1);
}

// Each case is written to a file, because that is what a loader meets.
TEST(Plan, RefusesTheCorpus) {
  namespace fs = std::filesystem;
  fs::path folder = fs::path(testing::TempDir()) / "aicf-plan-corpus";
  fs::create_directories(folder);
  std::set<std::string> hit, names;
  for (const CorpusCase &c : makeCorpus()) {
    EXPECT_TRUE(names.insert(c.name).second) << c.name;
    std::string path = (folder / (c.name + ".plan")).string();
    ASSERT_TRUE(writeFileAtomically(path, c.bytes).ok());
    StatusOr<Plan> plan = Plan::load(path);
    ASSERT_FALSE(plan.ok()) << c.name;
    EXPECT_EQ(plan.status().code(), StatusCode::InvalidPlan) << c.name;
    EXPECT_EQ(codeOf(plan.status()), nameOf(c.expected))
        << c.name << ": " << plan.status().message();
    hit.insert(codeOf(plan.status()));
  }
  for (PlanError error : allPlanErrors())
    EXPECT_TRUE(hit.count(std::string(nameOf(error))))
        << "no corpus file is refused for " << nameOf(error);
  fs::remove_all(folder);
}

TEST(Plan, MessagesNameRecordAndValues) {
  Plan plan = makeTrainPlan();
  plan.persistent[1].offset = 100;
  EXPECT_EQ(verifyPlan(plan).message(),
            "[TensorOffset] persistent, tensor 1: offset is 100, expected a "
            "multiple of 256");
}

TEST(Plan, LoadReportsFiles) {
  EXPECT_EQ(Plan::load("/nonexistent/x.plan").status().code(),
            StatusCode::DeviceError);
  EXPECT_EQ(Plan::load("/tmp").status().code(), StatusCode::DeviceError);
}

TEST(Plan, EveryTruncationIsRefused) {
  for (const Plan &plan : samples()) {
    std::vector<uint8_t> bytes = plan.serialize();
    for (size_t n = 0; n < bytes.size(); ++n)
      ASSERT_FALSE(Plan::parse({bytes.data(), n}).ok()) << n;
  }
}

TEST(Plan, DumpsNameEverything) {
  Plan plan = makeTrainPlan();
  std::string text = dumpPlan(plan, true), json = dumpPlanAsJson(plan);
  for (const char *word : {"train", "predict", "sgd_step_f32_v0",
                           "uniform_fan_in", "momentum=0.9", "lifetimes"})
    EXPECT_NE(text.find(word), std::string::npos) << word;
  for (const char *word :
       {"\"train\"", "\"momentum\": 0.9", "\"workspace\": -1"})
    EXPECT_NE(json.find(word), std::string::npos) << word;
}

TEST(Plan, DiffFindsEveryField) {
  Plan a = makeTrainPlan();
  auto differs = [&](auto change) {
    Plan b = makeTrainPlan();
    change(b);
    return !diffPlans(a, b).empty();
  };
  EXPECT_FALSE(differs([](Plan &) {}));
  EXPECT_TRUE(differs([](Plan &p) { p.persistentBytes += 256; }));
  EXPECT_TRUE(differs([](Plan &p) { p.persistent[0].offset += 256; }));
  EXPECT_TRUE(differs([](Plan &p) { p.entries[0].calls[0].kid = "x"; }));
  EXPECT_TRUE(differs([](Plan &p) { p.entries[0].calls[7].attrs[0] ^= 1; }));
  EXPECT_TRUE(differs([](Plan &p) { p.entries[1].calls[0].stream = 1; }));
  EXPECT_TRUE(differs([](Plan &p) { p.entries.pop_back(); }));
  EXPECT_FALSE(
      differs([](Plan &p) { p.entries[0].calls[0].location = "a.mlir:1:1"; }));
}

} // namespace
