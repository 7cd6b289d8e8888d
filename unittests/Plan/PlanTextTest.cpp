//===- PlanTextTest.cpp - plans for people: dump, diff, view --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/PlanView.h"
#include "lib/Plan/CallFacts.h"
#include "lib/Plan/PlanText.h"
#include "unittests/Common/SamplePlans.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <sstream>

using namespace aicf;
using namespace aicf::test;

namespace {

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(PlanText, NoLineOfADumpIsWide) {
  for (const auto &[name, plan] : samplePlans()) {
    std::istringstream text(dumpPlan(plan, true));
    for (std::string line; std::getline(text, line);)
      EXPECT_LE(line.size(), kTextColumns) << name << ": " << line;
  }
}

TEST(PlanText, LongNamesAndPathsAreWrappedOrCut) {
  Plan plan = makeTrainPlan();
  PlanCall &call = plan.entries[0].calls[0];
  call.location = std::string(300, 'd') + "/model.mlir:3:4";
  plan.entries[0].name = std::string(500, 'e');
  std::string text = dumpPlan(plan, true);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), kTextColumns) << line;
  EXPECT_TRUE(has(text, "model.mlir:3:4"));
  EXPECT_TRUE(has(text, "eee...eee"));
}

TEST(PlanText, WrapsAtBlanks) {
  EXPECT_EQ(wrapped("a b", "> ", ". "), "> a b\n");
  std::string word(60, 'w');
  EXPECT_EQ(wrapped(word + " " + word + " c", "> ", ". "),
            "> " + word + "\n. " + word + " c\n");
  std::string one(2 * kTextColumns, 'w'), text = wrapped(one, "> ", ". ");
  EXPECT_EQ(std::count(text.begin(), text.end(), 'w'), long(one.size()));
}

TEST(PlanText, PrintableLeavesNoControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a?[31mb");
  EXPECT_EQ(printable("fc.\xc3\xa4"), "fc.\xc3\xa4");
  EXPECT_EQ(printable(std::string(30, 'x') + std::string(30, 'y'), 21),
            "xxxxxxxxx...yyyyyyyyy");
  std::string umlauts;
  for (int i = 0; i < 20; ++i)
    umlauts += "\xc3\xa4"; // the cut is inside of a character
  EXPECT_EQ(printable(umlauts, 14).find('\xc3'), std::string::npos);
}

TEST(PlanText, TensorsHaveNamesAndCallsPhases) {
  std::string text = dumpPlan(makeTrainPlan(), false);
  for (const char *line :
       {"gemm(x, W) {transA=0, transB=1}", "forward, gemm_f32", "backward, ",
        "update, sgd_step_f32_v0", "entry predict: ", "uniform_fan_in"})
    EXPECT_TRUE(has(text, line)) << line << "\n" << text;
}

TEST(PlanText, WaitsAreCalls) {
  std::string text = dumpPlan(makeTwoStreamPlan(), false);
  EXPECT_TRUE(has(text, "add_f32_v0, after call 1")) << text;
}

// Made through a gradient, an output leaves its call in the backward pass.
TEST(PlanText, ACallAloneHasThePhaseOfItsOp) {
  std::set<CallPhase> seen;
  for (const auto &[name, plan] : samplePlans()) {
    const PlanEntry &entry = plan.entries[0];
    if (entry.calls.size() != 1 || entry.calls[0].body->primitives.size() != 1)
      continue;
    Phase phase = infoOf(entry.calls[0].body->primitives[0].kind).phase;
    CallPhase expected = isUpdateHalf(phase)        ? CallPhase::Update
                         : phase == Phase::Backward ? CallPhase::Backward
                                                    : CallPhase::Forward;
    EXPECT_EQ(phasesOf(plan, entry)[0], expected) << name;
    seen.insert(expected);
  }
  EXPECT_EQ(seen.size(), 3u);
}

/// Operations and bytes as the records say: products, copies, and rows that are
/// looked up in a table.
TEST(PlanText, CostsOfCallsAreThoseOfTheirRecords) {
  std::set<OpKind> seen;
  for (const auto &[name, plan] : samplePlans()) {
    const PlanEntry &entry = plan.entries[0];
    const PlanCall &call = entry.calls[0];
    const OpKind kind = call.body->primitives[0].kind;
    if (entry.calls.size() != 1 || call.body->primitives.size() != 1 ||
        !seen.insert(kind).second)
      continue;
    auto in = [&](size_t i) { return plan.value(entry, call.ins[i]).desc; };
    const TensorDesc out = plan.value(entry, call.outs[0]).desc;
    const double flops = flopsOf(plan, entry, call);
    const double elements = double(out.elements());
    const double expected =
        kind == OpKind::Gemm || kind == OpKind::BatchedGemm
            ? 2 * elements * double(in(0).elements()) / double(out.rows())
        : kind == OpKind::Copy || kind == OpKind::CopySaved ? 0
                                                            : elements;
    const bool isLookedUp =
        kind == OpKind::Embedding || kind == OpKind::Pick ||
        kind == OpKind::GatherRows;
    if (isLookedUp || kind == OpKind::Relu || expected != elements) {
      EXPECT_EQ(flops, expected) << name;
    }
    uint64_t bytes = out.spanBytes();
    for (size_t i = 0; i < call.ins.size(); ++i)
      bytes += i == 0 && isLookedUp
                   ? std::min(out.spanBytes(), in(0).spanBytes())
                   : in(i).spanBytes();
    if (call.outs.size() == 1) {
      EXPECT_EQ(bytesOf(plan, entry, call), bytes) << name;
    }
  }
  for (OpKind kind : {OpKind::Gemm, OpKind::BatchedGemm, OpKind::Copy,
                      OpKind::CopySaved, OpKind::Relu, OpKind::Embedding,
                      OpKind::Pick, OpKind::GatherRows})
    EXPECT_TRUE(seen.count(kind)) << nameOf(kind);
}

TEST(PlanText, ALossThatComesWithItsGradientIsForward) {
  for (const auto &[name, plan] : samplePlans()) {
    const PlanEntry &entry = plan.entries[0];
    const PlanCall &call = entry.calls[0];
    if (entry.calls.size() != 1 || call.body->primitives.size() != 2 ||
        infoOf(call.body->primitives[0].kind).phase != Phase::Forward ||
        infoOf(call.body->primitives[1].kind).phase != Phase::Backward ||
        call.body->results.size() != 2)
      continue;
    EXPECT_EQ(phasesOf(plan, entry)[0], CallPhase::Forward) << name;
    return;
  }
  FAIL() << "a sample with a loss and its gradient is missing";
}

//===----------------------------------------------------------------------===//
// Diff
//===----------------------------------------------------------------------===//

std::string changed(const std::function<void(Plan &)> &change) {
  Plan plan = makeTrainPlan();
  change(plan);
  return diffPlans(makeTrainPlan(), plan);
}

TEST(PlanDiff, ShowsFieldsWithBothValues) {
  std::string text = changed([](Plan &p) {
    for (PlanCall &call : p.entries[0].calls)
      if (call.body->isOnly(OpKind::SgdStep))
        setBody(call, [](Body &body) {
          SgdStepAttrs attrs{0.5, 0.25, 0};
          std::memcpy(body.primitives[0].attrs.data(), &attrs, sizeof(attrs));
        });
  });
  EXPECT_TRUE(has(text, "momentum 0.9 -> 0.5")) << text;
  EXPECT_TRUE(has(text, "weight_decay ")) << text;
  text = changed([](Plan &p) { p.entries[0].calls[0].kid = "other"; });
  EXPECT_TRUE(has(text, "call 0, gemm: kernel ")) << text;
  EXPECT_TRUE(has(text, " -> other")) << text;
  text = changed([](Plan &p) { p.buffers[0].init = InitKind::Ones; });
  EXPECT_TRUE(has(text, "starts as uniform_fan_in -> ones")) << text;
}

TEST(PlanDiff, AlignsCallsAroundOthers) {
  std::string text = changed([](Plan &p) {
    auto &calls = p.entries[0].calls;
    calls.insert(calls.begin() + 1, calls[0]);
  });
  EXPECT_TRUE(has(text, "+ call ")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '+'), 1) << text;
  EXPECT_FALSE(has(text, "- call")) << text;
  text = changed([](Plan &p) {
    p.entries[1].calls.erase(p.entries[1].calls.begin());
  });
  EXPECT_TRUE(has(text, "- call 0: ")) << text;
  EXPECT_FALSE(has(text, "+ call")) << text;
}

TEST(PlanDiff, AlignsALongerPlanByItsNames) {
  std::string text = diffPlans(makeTrainPlan(), makeLongerTrainPlan());
  EXPECT_TRUE(has(text, "+ param extra: ")) << text;
  EXPECT_TRUE(has(text, "entries train, predict -> ")) << text;
  // What both have runs as before: that temps have other numbers does not count.
  EXPECT_FALSE(has(text, "entry train\n")) << text;
}

TEST(PlanDiff, ARenamedTensorIsOneLine) {
  std::string text = changed([](Plan &p) { p.buffers[0].name = "kernel"; });
  EXPECT_EQ(text, "param W: name W -> kernel\n");
  text = changed([](Plan &p) { p.entries[1].name = "infer"; });
  EXPECT_EQ(text, "entries train, predict -> train, infer\n");
}

TEST(PlanDiff, AnotherSizeIsATypeOfTheSameCalls) {
  std::string text = changed([](Plan &p) {
    PlanEntry &entry = p.entries[0];
    for (const PlanCall &call : entry.calls)
      for (uint32_t value : call.outs)
        if (value >= p.values.size()) {
          TensorDesc &desc = entry.values[value - p.values.size()].desc;
          if (desc.rank == 2)
            desc.dims[0] += 1;
        }
  });
  EXPECT_TRUE(has(text, "call 0, gemm: t")) << text;
  EXPECT_FALSE(has(text, "- call") || has(text, "+ call")) << text;
}

TEST(PlanDiff, ManyEqualCallsAreAlignedSoon) {
  Plan a = makeTrainPlan(), b = a;
  PlanCall call = a.entries[1].calls[0];
  a.entries[1].calls.assign(20000, call);
  b.entries[1].calls.assign(20010, call);
  std::string text = diffPlans(a, b);
  EXPECT_EQ(std::count(text.begin(), text.end(), '+'), 10);
}

//===----------------------------------------------------------------------===//
// View
//===----------------------------------------------------------------------===//

TEST(PlanView, HoldsAllOfItself) {
  for (const auto &[name, plan] : samplePlans()) {
    StatusOr<std::string> page = viewPlans({{&plan, name, ""}});
    ASSERT_TRUE(page.ok()) << name << ": " << page.status().toString();
    EXPECT_FALSE(has(*page, "http:") && !has(*page, "http://www.w3.org/2000/svg"))
        << name;
    EXPECT_FALSE(has(*page, "@DATA@") || has(*page, "@JS@") || has(*page, "@CSS@"));
  }
}

TEST(PlanView, NoNameEndsTheElementThatHoldsIt) {
  Plan plan = makeTrainPlan();
  std::string hostile = "</script><script>alert(1)</script>@JS@@CSS@";
  plan.buffers[0].name = hostile;
  plan.entries[0].name = hostile;
  plan.entries[0].calls[0].location = hostile;
  StatusOr<std::string> plain = viewPlans({{&plan, "t", ""}});
  StatusOr<std::string> page =
      viewPlans({{&plan, hostile, ""}, {&plan, hostile, ""}});
  ASSERT_TRUE(plain.ok() && page.ok());
  EXPECT_FALSE(has(*page, "alert(1)</script>"));
  auto count = [](const std::string &text, const std::string &part) {
    size_t n = 0;
    for (size_t at = text.find(part); at != std::string::npos;
         at = text.find(part, at + 1))
      ++n;
    return n;
  };
  EXPECT_EQ(count(*page, "</script"), 2u);
  EXPECT_EQ(count(*page, "<script"), 2u);
}

TEST(PlanView, TakesTimesFromAProfile) {
  Plan plan = makeTrainPlan();
  const PlanCall &call = plan.entries[0].calls[0];
  std::string problem;
  for (uint32_t value : call.ins)
    problem += (problem.empty() ? "" : ",") +
               plan.value(plan.entries[0], value).desc.toString();
  problem += "->" + plan.value(plan.entries[0], call.outs[0]).desc.toString();
  std::string profile = "{\"device\": \"cpu, x\", \"kernels\": {\"" + call.kid +
                        "\": {\"" + problem + "\": 12.375}}}";
  StatusOr<std::string> page = viewPlans({{&plan, "p", profile}}, {2e9, 0});
  ASSERT_TRUE(page.ok()) << page.status().toString();
  EXPECT_TRUE(has(*page, "\"us\":12.375"));
  EXPECT_TRUE(has(*page, "\"rates\":{\"GB/s\":2.0}"));
}

TEST(PlanView, RefusesWhatItCannotShow) {
  Plan plan = makeTrainPlan();
  ViewedPlan one{&plan, "p", ""};
  EXPECT_EQ(viewPlans({}).status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(viewPlans({one, one, one}).status().code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(viewPlans({{nullptr, "p", ""}}).status().code(),
            StatusCode::InvalidArgument);
  for (const char *profile :
       {"{", "[]", "{}", "{\"kernels\": 1}", "{\"kernels\": {\"k\": 1}}",
        "{\"kernels\": {\"k\": {\"p\": \"x\"}}}",
        "{\"device\": \"NVIDIA\", \"kernels\": {}}"})
    EXPECT_EQ(viewPlans({{&plan, "p", profile}}).status().code(),
              StatusCode::InvalidArgument)
        << profile;
}

} // namespace
