//===- PlanTest.cpp - plan files in and out -------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Plan.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Plan/MemoryFacts.h"
#include "lib/Plan/Order.h"
#include "unittests/Common/Allocations.h"
#include "unittests/Common/SamplePlans.h"
#include "unittests/Common/SharedOperands.h"
#include "unittests/Plan/Corpus.h"

#include "plan_generated.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

using namespace aicf;
using namespace aicf::test;

namespace {

TEST(Plan, RoundTrips) {
  std::set<OpKind> kinds;
  for (const auto &[name, plan] : samplePlans()) {
    std::vector<uint8_t> bytes = plan.serialize();
    StatusOr<Plan> parsed = Plan::parse(bytes);
    ASSERT_TRUE(parsed.ok()) << name << ": " << parsed.status().toString();
    EXPECT_EQ(diffPlans(plan, *parsed), "") << name;
    EXPECT_EQ(parsed->serialize(), bytes) << name;
    for (const PlanEntry &entry : plan.entries)
      for (const PlanCall &call : entry.calls)
        for (const Primitive &primitive : call.body->primitives)
          kinds.insert(primitive.kind);
  }
  for (uint16_t kind = 0; kind < kNumOpKinds; ++kind)
    EXPECT_EQ(kinds.count(OpKind(kind)), isKnown(OpKind(kind)))
        << kind << ": a kind without a sample plan";
}

/// Lets each result of the plan's call overwrite each operand of its type where
/// nothing ties the two; returns how many plans were refused.
size_t refusedInPlace(const Plan &plan, const std::string &name) {
  const PlanEntry &entry = plan.entries[0];
  const PlanCall &call = entry.calls[0];
  BodyFacts facts = factsOf(*call.body);
  size_t refused = 0;
  for (size_t r = 0; r < call.outs.size(); ++r)
    for (size_t i = 0; i < call.ins.size(); ++i) {
      if (facts.mayShareStorage(r, i) ||
          plan.tensor(entry, call.outs[r]).desc !=
              plan.tensor(entry, call.ins[i]).desc)
        continue;
      Plan bad = plan;
      bad.entries[0].calls[0].ins[i] = call.outs[r];
      Status status = Plan::parse(bad.serialize()).status();
      EXPECT_NE(status.message().find("[CallInplace]"), std::string::npos)
          << name << ": " << status.toString();
      ++refused;
    }
  return refused;
}

/// Where an op has no tie, reading and writing one tensor is refused.
TEST(Plan, OnlyTiesWorkInPlace) {
  size_t refused = 0;
  for (const auto &[name, plan] : samplePlans())
    refused += refusedInPlace(plan, name);
  EXPECT_GT(refused, 30u);
}

/// The loader asks whether a kernel takes a call, not whether it pays: that
/// may change from one version to the next.
TEST(Plan, MayNameKernelsThatWouldNotBeChosen) {
  const TensorDesc x(DType::F32, {3, 4});
  Plan plan =
      makeCallPlan({{x}, {x}, {}, OpKind::Softmax}, DeviceKind::CUDA);
  PlanCall &call = plan.entries[0].calls[0];
  EXPECT_EQ(call.kid, "softmax_f32_v0");
  call.kid = "softmax_graph_v0"; // for large tensors
  EXPECT_TRUE(verifyPlan(plan).ok()) << verifyPlan(plan).toString();
  call.kid = "softmax_f64_v0";
  EXPECT_NE(verifyPlan(plan).toString().find("not a kernel for this call"),
            std::string::npos);
}

/// Calls of several primitives, two of whose slots read one tensor.
TEST(Plan, SharedOperandsAreOverwrittenByTiesAlone) {
  size_t refused = 0, accepted = 0;
  for (const KindRow &row : allCallRows())
    for (const Sample &sample : samplesForSharing(row, row.usualType()))
      for (const SharedSample &shared : withSharedOperands(sample)) {
        StatusOr<TypedBody> typed = typedBodyOf(shared.sample);
        if (!typed.ok() || !selectKernel(DeviceKind::CUDA, *typed))
          continue;
        // It overwrites what the ties that hold allow.
        Plan plan = makeCallPlan(shared.sample, DeviceKind::CUDA);
        ASSERT_TRUE(verifyPlan(plan).ok())
            << row.name << ": " << verifyPlan(plan).toString();
        ++accepted;
        refused += refusedInPlace(plan, row.name);
      }
  EXPECT_GT(accepted, 500u);
  EXPECT_GT(refused, 500u);
}

TEST(Plan, OtherReadsInsideAreRefused) {
  size_t refused = 0;
  for (const KindRow &row : allCallRows())
    for (const Sample &sample : samplesForSharing(row, row.usualType())) {
      StatusOr<TypedBody> typed = typedBodyOf(sample);
      if (!typed.ok() || !selectKernel(DeviceKind::CUDA, *typed))
        continue;
      Plan plan = makeCallPlan(sample, DeviceKind::CUDA);
      for (const Body &body : withReadsInside(*sample.body)) {
        if (factsOf(body).pattern) // a graph, which may
          continue;
        Plan bad = plan;
        PlanCall &call = bad.entries[0].calls[0];
        call.body = std::make_shared<Body>(body);
        call.ins.resize(body.numOperands);
        EXPECT_NE(verifyPlan(bad).message().find("[BodyPattern]"),
                  std::string::npos)
            << row.name << ": " << verifyPlan(bad).toString();
        ++refused;
      }
    }
  EXPECT_GT(refused, 200u);
}

/// The code in brackets at the start of a refusal.
std::string codeOf(const Status &status) {
  size_t open = status.message().find('['), close = status.message().find(']');
  return open == std::string::npos
             ? status.message()
             : status.message().substr(open + 1, close - open - 1);
}

// Each case is written to a file, because that is what a loader meets; to the
// same one, because making files takes longer than loading them.
TEST(Plan, RefusesTheCorpus) {
  const std::string path = testing::TempDir() + "aicf-corpus.plan";
  std::set<std::string> hit, names;
  for (const CorpusCase &c : makeCorpus()) {
    EXPECT_TRUE(names.insert(c.name).second) << c.name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(c.bytes.data()),
               std::streamsize(c.bytes.size()));
    StatusOr<Plan> plan = Plan::load(path);
    ASSERT_FALSE(plan.ok()) << c.name;
    EXPECT_EQ(plan.status().code(), StatusCode::InvalidPlan) << c.name;
    EXPECT_EQ(codeOf(plan.status()), nameOf(c.expected))
        << c.name << ": " << plan.status().message();
    EXPECT_NE(plan.status().message().find(c.text), std::string::npos)
        << c.name << ": " << plan.status().message();
    EXPECT_NE(plan.status().message().find("plan '" + path + "'"),
              std::string::npos);
    hit.insert(codeOf(plan.status()));
  }
  for (PlanError error : allPlanErrors())
    EXPECT_TRUE(hit.count(std::string(nameOf(error))))
        << "no corpus file is refused for " << nameOf(error);
  std::filesystem::remove(path);
}

/// Bodies are shared by many calls.
TEST(Plan, BodiesAreCheckedOnce) {
  auto allocations = [](auto &&run) {
    uint64_t before = allocationCount();
    run();
    return allocationCount() - before;
  };
  Plan shared = makeViewPlan();
  std::vector<PlanCall> &calls = shared.entries[0].calls;
  calls.insert(calls.begin(), 10, calls[0]);
  Plan apart = shared;
  for (PlanCall &call : apart.entries[0].calls)
    setBody(call, [](Body &) {});
  auto ofPlan = [&](const Plan &plan) {
    return allocations([&] { EXPECT_TRUE(verifyPlan(plan).ok()); });
  };
  uint64_t ofBody = allocations([&] {
    EXPECT_TRUE(checkForm(*calls[0].body).ok());
    factsOf(*calls[0].body);
  });
  EXPECT_GT(ofBody, 1u);
  EXPECT_GE(ofPlan(apart), ofPlan(shared) + 10 * ofBody);
}

TEST(Plan, EntriesThatHaveOutputsSayHowTheyReturnThem) {
  Plan plan = makeTrainPlan();
  plan.entries[0].outputForm = OutputForm::Tuple;
  EXPECT_TRUE(verifyPlan(plan).ok()) << verifyPlan(plan).toString();
}

/// However many calls take it, and where its bytes overlap each other too.
TEST(Plan, AValueHasOneRegion) {
  Plan plan = makeViewPlan();
  PlanEntry &entry = plan.entries[0];
  entry.values[4].desc =
      TensorDesc::strided(DType::F32, std::vector<int64_t>{4, 4},
                          std::vector<int64_t>{2, 1});
  entry.calls.insert(entry.calls.end(), 20, entry.calls.back());
  StatusOr<EntryRegions> regions = EntryRegions::create(plan, entry);
  ASSERT_TRUE(regions.ok()) << regions.status().toString();
  EXPECT_EQ(regions->map().numRegions(), entry.values.size());
}

TEST(Plan, KnowsWhatValuesCostOrSpare) {
  using Facts = std::vector<std::tuple<MemoryUse, uint32_t, uint64_t>>;
  auto factsOf = [](const Plan &plan) {
    Facts facts;
    for (const MemoryFact &fact : memoryFactsOf(plan, plan.entries[0]))
      facts.emplace_back(fact.use, fact.value, fact.bytes);
    return facts;
  };
  EXPECT_EQ(factsOf(makeViewPlan()), (Facts{{MemoryUse::View, 4, 48}}));
  // What repeats would have all of its elements in a copy.
  Plan repeated = makeViewPlan();
  repeated.entries[0].values[4].desc =
      TensorDesc::strided(DType::F32, std::vector<int64_t>{4, 3},
                          std::vector<int64_t>{0, 1});
  EXPECT_EQ(factsOf(repeated), (Facts{{MemoryUse::View, 4, 48}}));
  EXPECT_EQ(factsOf(makePartsPlan()),
            (Facts{{MemoryUse::Part, 3, 48}, {MemoryUse::Part, 4, 48}}));
  // The second call is a gradient, which reads what the first one makes.
  Plan saved = makeViewPlan();
  PlanEntry &entry = saved.entries[0];
  entry.values.pop_back();
  entry.values[1].desc = TensorDesc(DType::F32, {3, 4});
  entry.calls.resize(2);
  entry.calls[1] = makeCall(OpKind::ReluBwd, "relu_bwd_f32_v0", {0, 2}, {1});
  EXPECT_EQ(factsOf(saved), (Facts{{MemoryUse::Save, 2, 48}}));
}

/// Parts that lie beside each other are written side by side.
TEST(Plan, PartsMayBeWrittenOnTwoStreams) {
  EXPECT_TRUE(verifyPlan(makePartsPlan()).ok());
  EXPECT_TRUE(verifyPlan(makePartsPlan(/*onTwoStreams=*/true)).ok());
}

TEST(Plan, ListsWhatIsDerivedFromWhat) {
  Plan plan = makeTrainPlan();
  EXPECT_TRUE(derivedStatesOf(plan).empty());
  plan.buffers[2].derivedFrom = 0;
  DerivedStates derived = derivedStatesOf(plan);
  EXPECT_EQ(derived.size(), 1u);
  EXPECT_EQ(derived[0], std::vector<uint32_t>{2});
}

TEST(Plan, MessagesNameRecordAndValues) {
  Plan plan = makeTrainPlan();
  plan.buffers[1].offset = 100;
  EXPECT_EQ(verifyPlan(plan).message(),
            "[BufferOffset] persistent, buffer 1: offset is 100, expected a "
            "multiple of 256");
}

/// Kinds of fused calls are gone; their numbers stay theirs.
TEST(Plan, ReservedKindsAreRefused) {
  for (uint16_t kind = 19; kind <= 26; ++kind) {
    Plan plan = makeTrainPlan();
    setBody(plan.entries[0].calls[0],
            [&](Body &body) { body.primitives[0].kind = OpKind(kind); });
    EXPECT_NE(verifyPlan(plan).message().find("[BodyKind]"), std::string::npos)
        << verifyPlan(plan).toString();
  }
}

/// Only a plan made in memory can have one.
TEST(Plan, CallsWithoutABodyAreRefused) {
  Plan plan = makeTrainPlan(), other = makeTrainPlan();
  PlanCall &call = plan.entries[0].calls[0];
  PlanCall &otherCall = other.entries[0].calls[0];
  call.body = nullptr;
  EXPECT_NE(verifyPlan(plan).message().find("[CallBody]"), std::string::npos)
      << verifyPlan(plan).toString();
  EXPECT_FALSE(call == otherCall);
  EXPECT_FALSE(otherCall == call);
  otherCall.body = nullptr;
  EXPECT_TRUE(call == otherCall);
  std::string message = Plan::parse(plan.serialize()).status().message();
  EXPECT_NE(message.find("[CallBody]"), std::string::npos) << message;
}

TEST(Plan, WhatANewerVersionMadeIsCalledThat) {
  auto message = [](auto change) {
    Plan plan = makeTrainPlan();
    change(plan);
    return Plan::parse(plan.serialize()).status().message();
  };
  EXPECT_EQ(message([](Plan &p) {
              setBody(p.entries[0].calls[0], [](Body &body) {
                body.primitives[0].kind = OpKind(kNumOpKinds);
              });
            }),
            "[BodyKind] body 0, primitive 0: kind is " +
                std::to_string(kNumOpKinds) + ", this reader knows 0 to " +
                std::to_string(kNumOpKinds - 1) +
                ": a newer AICF made the plan");
  EXPECT_EQ(message([](Plan &p) { p.buffers[0].role = Role(99); }),
            "[BufferRole] buffer 0: role is 99, this reader knows 0 to " +
                std::to_string(kNumRoles - 1) +
                ": a newer AICF made the plan");
  for (const std::string &text :
       {message([](Plan &p) { p.buffers[0].role = Role(99); }),
        message([](Plan &p) { p.values[0].desc.dtype = DType(99); }),
        message([](Plan &p) { p.buffers[0].init = InitKind(99); }),
        message([](Plan &p) { p.device = DeviceKind(99); })})
    EXPECT_NE(text.find("a newer AICF made the plan"), std::string::npos)
        << text;
  EXPECT_NE(message([](Plan &p) {
              p.entries[0].calls[0].kid = "gemm_f32_blas_v7";
            }).find("another version of AICF may have made the plan"),
            std::string::npos);
}

/// A dump says what the file says, not what this reader would write.
/// Without the debug table the same runs: labels, places and counts are gone.
TEST(Plan, DebugTableMayBeLeftOut) {
  for (const auto &[name, plan] : samplePlans()) {
    std::vector<uint8_t> bytes = plan.serialize(/*withDebug=*/false);
    EXPECT_LT(bytes.size(), plan.serialize().size()) << name;
    StatusOr<Plan> parsed = Plan::parse(bytes);
    ASSERT_TRUE(parsed.ok()) << name << ": " << parsed.status().toString();
    Plan expected = plan;
    auto strip = [](std::vector<PlanValue> &values) {
      for (PlanValue &value : values)
        value.vid = -1;
    };
    strip(expected.values);
    for (PlanEntry &entry : expected.entries) {
      strip(entry.values);
      entry.numStepValues = entry.numStepNodes = 0;
      entry.tempLowerBound = 0;
      for (PlanCall &call : entry.calls) {
        call.inVids.clear();
        call.vids.clear();
        call.location.clear();
      }
    }
    EXPECT_EQ(diffPlans(expected, *parsed), "") << name;
    EXPECT_EQ(parsed->serialize(false), bytes) << name;
  }
}

TEST(Plan, SaysHowManyBatchesMakeAnUpdate) {
  auto batches = [](const Plan &plan, const char *entry, uint32_t given) {
    StatusOr<uint32_t> number = plan.batchesPerUpdate(entry, given);
    return number.ok() ? std::to_string(*number) : number.status().message();
  };
  Plan plan = makeTrainPlan();
  EXPECT_EQ(batches(plan, "train", 0), "1");
  EXPECT_EQ(batches(plan, "train", 1), "1");
  EXPECT_NE(batches(plan, "train", 4).find("no entry \"train.accumulate\""),
            std::string::npos);
  EXPECT_NE(batches(plan, "nothing", 0).find("no entry \"nothing\""),
            std::string::npos);
  plan.entries.push_back(plan.entries[0]);
  plan.entries.back().name = "train.accumulate";
  EXPECT_EQ(batches(plan, "train", 0), "0"); // of before 3.1
  EXPECT_EQ(batches(plan, "train", 4), "4");
  plan.entries[0].accumulate = 3;
  StatusOr<Plan> parsed = Plan::parse(plan.serialize());
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  EXPECT_EQ(batches(*parsed, "train", 0), "3");
  EXPECT_EQ(batches(*parsed, "train", 3), "3");
  EXPECT_EQ(batches(*parsed, "train", 4),
            "4 batches per update: entry \"train\" was compiled for 3");
  EXPECT_EQ(batches(*parsed, "train.accumulate", 0), "1");
}

/// Tensors of version 3 become buffers and values, inputs and outputs first.
TEST(Plan, OfVersion3AreTakenApart) {
  size_t plans = 0;
  for (const auto &file : std::filesystem::recursive_directory_iterator(
           AICF_SOURCE_DIR "/test/plans"))
    if (file.path().extension() == ".plan" &&
        file.path().parent_path().filename().string()[0] == '3') {
      StatusOr<Plan> plan = Plan::load(file.path().string());
      ASSERT_TRUE(plan.ok()) << file.path() << plan.status().toString();
      ++plans;
      for (const PlanEntry &entry : plan->entries)
        for (size_t i = 1; i < entry.buffers.size(); ++i)
          EXPECT_FALSE(segmentOf(entry.buffers[i].role) == Segment::IO &&
                       segmentOf(entry.buffers[i - 1].role) != Segment::IO);
    }
  EXPECT_GT(plans, 10u);
}

/// As they were written: fields that came later are absent.
TEST(Plan, OfEveryVersionAreRead) {
  namespace fs = std::filesystem;
  size_t read = 0;
  for (const auto &file :
       fs::recursive_directory_iterator(AICF_SOURCE_DIR "/test/plans")) {
    if (file.path().extension() != ".plan")
      continue;
    StatusOr<Plan> plan = Plan::load(file.path().string());
    EXPECT_TRUE(plan.ok()) << plan.status().toString();
    ++read;
  }
  EXPECT_GE(read, 25u);
}

TEST(Plan, BitsMayStartAsZeroOrOne) {
  for (double value : {0.0, 1.0}) {
    Plan plan = makeConstantsPlan();
    plan.buffers[2].init = InitKind::Constant;
    plan.buffers[2].initValue = value;
    Status status = Plan::parse(plan.serialize()).status();
    EXPECT_TRUE(status.ok()) << value << ": " << status.toString();
  }
}

TEST(Plan, DumpsTheVersionOfTheFile) {
  std::vector<uint8_t> bytes = makeTrainPlan().serialize();
  StatusOr<Plan> plan = Plan::parse(bytes);
  ASSERT_TRUE(plan.ok()) << plan.status().toString();
  plan->major = 3; // an older one
  plan->minor = 1;
  EXPECT_NE(dumpPlan(*plan, false).find("plan version 3.1"), std::string::npos);
  EXPECT_NE(dumpPlanAsJson(*plan).find("\"version\": [\n    3,\n    1\n"),
            std::string::npos);
}

TEST(Plan, LoadReportsFiles) {
  EXPECT_EQ(Plan::load("/nonexistent/x.plan").status().code(),
            StatusCode::FileNotFound);
  EXPECT_EQ(Plan::load("/tmp").status().code(), StatusCode::FileError);
}

TEST(Plan, EveryTruncationIsRefused) {
  for (const auto &[name, plan] : samplePlans()) {
    std::vector<uint8_t> bytes = plan.serialize();
    for (size_t n = 0; n < bytes.size(); ++n)
      ASSERT_FALSE(Plan::parse({bytes.data(), n}).ok()) << name << " " << n;
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
  EXPECT_TRUE(differs([](Plan &p) { p.buffers[0].offset += 256; }));
  EXPECT_TRUE(differs([](Plan &p) { p.entries[0].calls[0].kid = "x"; }));
  EXPECT_TRUE(differs([](Plan &p) {
    setBody(p.entries[0].calls[7],
            [](Body &b) { b.primitives[0].attrs[0] ^= 1; });
  }));
  EXPECT_TRUE(differs([](Plan &p) { p.entries[1].calls[0].stream = 1; }));
  EXPECT_TRUE(differs([](Plan &p) { p.entries.pop_back(); }));
  EXPECT_TRUE(differs([](Plan &p) { std::swap(p.entries[0], p.entries[1]); }));
  // Every byte of every attr blob counts: seeds above 2^53 too.
  for (const auto &[name, plan] : samplePlans())
    for (size_t i = 0;
         i < plan.entries[0].calls[0].body->primitives[0].attrs.size(); ++i) {
      Plan other = plan;
      setBody(other.entries[0].calls[0],
              [&](Body &body) { body.primitives[0].attrs[i] ^= 1; });
      EXPECT_NE(diffPlans(plan, other), "") << name << ", byte " << i;
    }
  EXPECT_FALSE(differs([](Plan &p) { // the debug table's
    PlanCall &call = p.entries[0].calls[0];
    call.location = "a.mlir:1:1";
    call.isProtective = !call.isProtective;
    call.inVids[0] += 1;
    call.vids[0] += 1;
    p.values[0].vid += 1;
  }));
}

} // namespace
