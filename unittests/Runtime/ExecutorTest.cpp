//===- ExecutorTest.cpp - entries run as they should ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Over plans built by hand. Against NumPy and finite differences: test/python.
//===----------------------------------------------------------------------===//

#include "aicf/Executor.h"
#include "lib/Runtime/IO/Initializers.h"
#include "unittests/Common/Allocations.h"
#include "unittests/Common/SamplePlans.h"
#include "unittests/Runtime/Probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace aicf;
using namespace aicf::test;

namespace {

TEST(Executor, Trains) {
  auto executor = makeTrainer();
  ASSERT_TRUE(executor->run("train").ok());
  float first = readScalar<float>(*executor, "loss");
  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(executor->run("train").ok());
  EXPECT_LT(readScalar<float>(*executor, "loss"), first / 10);
  EXPECT_EQ(readScalar<int64_t>(*executor, "step"), 51);
}

/// Two threads on one executor: each call runs alone or is refused, and no step
/// is lost.
TEST(Executor, AnotherThreadIsRefused) {
  auto shared = makeTrainer({}, 1);
  ASSERT_TRUE(shared->capture("train").ok());
  std::atomic<int> ran{0}, other{0};
  auto work = [&] {
    for (int i = 0; i < 5000; ++i) {
      Status s = i % 2 ? shared->replay("train") : shared->run("train");
      ran += s.ok();
      other += !s.ok() && s.code() != StatusCode::FailedState;
    }
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  EXPECT_EQ(other, 0);
  EXPECT_EQ(readScalar<int64_t>(*shared, "step"), ran);
  auto reference = makeTrainer({}, 1);
  for (int i = 0; i < ran; ++i)
    ASSERT_TRUE(reference->run("train").ok());
  EXPECT_EQ(stateOf(*shared), stateOf(*reference));
}

/// A device that calls back in the middle of a run: every call is refused then.
TEST(Executor, EveryCallIsRefusedWhileAnotherRuns) {
  auto device = std::make_shared<Probe>();
  auto made = Executor::create(share(makeTrainPlan()), device);
  ASSERT_TRUE(made.ok());
  Executor &executor = **made;
  int asked = 0;
  device->onAllocate = [&] {
    float value = 0;
    for (const Status &status :
         {executor.prepare(), executor.write("lr", &value, 4),
          executor.read("lr", &value, 4), executor.bind("lr", &value, 4),
          executor.run("train"), executor.run(GraphKey{"train", 1}),
          executor.capture("train"), executor.replay("train"),
          executor.checkRead("lr", "train"), executor.resetGraphs(),
          executor.resetState(), executor.sync(), executor.enableTrace(true)}) {
      EXPECT_EQ(status.code(), StatusCode::FailedState) << asked;
      ++asked;
    }
  };
  EXPECT_TRUE(executor.prepare().ok());
  EXPECT_GE(asked, 13);
  device->onAllocate = {};
  EXPECT_TRUE(executor.sync().ok());
}

TEST(Executor, EveryWayGivesTheSameBits) {
  auto reference = makeTrainer();
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(reference->run("train").ok());
  std::vector<uint8_t> expected = stateOf(*reference);

  auto graph = makeTrainer();
  ASSERT_TRUE(graph->capture("train").ok());
  ASSERT_TRUE(graph->replay("train", 20).ok());
  EXPECT_EQ(stateOf(*graph), expected) << "capture + replay";

  auto keyed = makeTrainer();
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(keyed->run(GraphKey{"train", 5}).ok());
  EXPECT_EQ(stateOf(*keyed), expected) << "five steps a launch";
  EXPECT_EQ(keyed->statistics().captures, 1u);

  for (bool poison : {false, true})
    for (bool canary : {false, true}) {
      ExecutorOptions options;
      options.poison = poison;
      options.canary = canary;
      options.separateAllocations = !poison;
      auto other = makeTrainer(options);
      for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(other->run("train").ok());
      EXPECT_EQ(stateOf(*other), expected) << poison << canary;
    }
  auto oneThread = makeTrainer({}, 1);
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(oneThread->run("train").ok());
  EXPECT_EQ(stateOf(*oneThread), expected) << "one thread";
}

TEST(Executor, RunAndReplayAllocateNothing) {
  auto executor = makeTrainer();
  ASSERT_TRUE(executor->capture("train").ok());
  ASSERT_TRUE(executor->run("train").ok());
  GraphKey key{"train", 1};
  ASSERT_TRUE(executor->run(key).ok());
  DeviceCounters before = executor->device().counters();
  uint64_t allocations = allocationCount();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(executor->run("train").ok());
    ASSERT_TRUE(executor->replay("train", 2).ok());
    ASSERT_TRUE(executor->run(key).ok());
  }
  EXPECT_EQ(allocationCount(), allocations);
  DeviceCounters after = executor->device().counters();
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.lookups, before.lookups);
}

TEST(Executor, CaptureChangesNothing) {
  auto executor = makeTrainer();
  ASSERT_TRUE(executor->run("train").ok());
  std::vector<uint8_t> before = stateOf(*executor);
  ASSERT_TRUE(executor->capture("train").ok());
  EXPECT_EQ(stateOf(*executor), before);
}

TEST(Executor, HyperChangesNeedNoRecapture) {
  auto graph = makeTrainer(), eager = makeTrainer();
  ASSERT_TRUE(graph->capture("train").ok());
  for (float lr : {0.1f, 0.01f, 0.5f}) {
    ASSERT_TRUE(graph->write("lr", &lr, sizeof(lr)).ok());
    ASSERT_TRUE(eager->write("lr", &lr, sizeof(lr)).ok());
    ASSERT_TRUE(graph->replay("train", 3).ok());
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE(eager->run("train").ok());
  }
  EXPECT_EQ(stateOf(*graph), stateOf(*eager));
  EXPECT_EQ(graph->statistics().captures, 1u);
}

TEST(Executor, EntriesShareParameters) {
  auto executor = makeTrainer();
  float x[8] = {1, -2, 3, 0.5f, -1, 2, 0.25f, 1}, before[6], after[6];
  ASSERT_TRUE(executor->write("predict/x", x, sizeof(x)).ok());
  ASSERT_TRUE(executor->run("predict").ok());
  ASSERT_TRUE(executor->read("y", before, sizeof(before)).ok());
  ASSERT_TRUE(executor->run("train").ok());
  ASSERT_TRUE(executor->run("predict").ok());
  ASSERT_TRUE(executor->read("y", after, sizeof(after)).ok());
  EXPECT_NE(std::memcmp(before, after, sizeof(before)), 0);
}

TEST(Executor, WarmupKeepsEveryUpdatedTensor) {
  ExecutorOptions options;
  options.isWarmup = true;
  auto executor = makeTrainer(options), trained = makeTrainer();
  ASSERT_TRUE(executor->prepare().ok());
  auto persistent = [](Executor &e) {
    std::vector<uint8_t> all = stateOf(e);
    all.resize(all.size() - sizeof(float)); // without the loss
    return all;
  };
  ASSERT_TRUE(executor->run("train").ok());
  std::vector<uint8_t> first = persistent(*executor);
  ASSERT_TRUE(executor->run("train").ok());
  ASSERT_TRUE(executor->run(GraphKey{"train", 3}).ok());
  EXPECT_EQ(persistent(*executor), first);
  EXPECT_EQ(readScalar<int64_t>(*executor, "step"), 0);
  ASSERT_TRUE(trained->run("train").ok());
  EXPECT_EQ(readScalar<float>(*trained, "loss"),
            readScalar<float>(*executor, "loss"));
  setenv("AICF_WARMUP", "1", 1);
  EXPECT_TRUE(ExecutorOptions::fromEnvironment().isWarmup);
  setenv("AICF_WARMUP", "0", 1);
  EXPECT_FALSE(ExecutorOptions::fromEnvironment().isWarmup);
}

TEST(Executor, ErrorsNameWhatIsWrong) {
  auto executor = Executor::create(share(makeTrainPlan()), createCPUDevice());
  ASSERT_TRUE(executor.ok());
  Executor &e = **executor;
  float value = 0;
  EXPECT_EQ(e.run("train").code(), StatusCode::NotInitialized);
  EXPECT_NE(e.run("train").message().find("\"x\" was never written"),
            std::string::npos);
  EXPECT_EQ(e.run("nothing").code(), StatusCode::InvalidArgument);
  EXPECT_EQ(e.write("nothing", &value, 4).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(e.write("lr", &value, 8).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(e.write("lr", nullptr, 4).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(e.write("loss", &value, 4).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(e.write("x", &value, 4).code(), StatusCode::InvalidArgument)
      << "two entries have an x";
  EXPECT_EQ(e.read("loss", &value, 4).code(), StatusCode::NotInitialized);
  EXPECT_EQ(e.read("lr", &value, 4).code(), StatusCode::NotInitialized);
  EXPECT_EQ(e.replay("train").code(), StatusCode::FailedState);
  EXPECT_EQ(e.replay("train", 0).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(e.run(GraphKey{"train", 0}).code(), StatusCode::InvalidArgument);
  Plan cuda = makeTrainPlan();
  cuda.device = DeviceKind::CUDA;
  EXPECT_EQ(Executor::create(share(cuda), createCPUDevice()).status().code(),
            StatusCode::InvalidArgument);
  ExecutorOptions options;
  options.canary = true;
  auto debug = makeTrainer(options);
  EXPECT_EQ(debug->capture("train").code(), StatusCode::FailedState);
  EXPECT_TRUE(debug->run("train").ok()) << "still usable";
}

/// New pointers: graphs are gone, nothing old is read, a bad bind changes
/// nothing.
TEST(Executor, RebindingDropsGraphs) {
  auto executor = makeTrainer();
  Executor &e = *executor;
  ASSERT_TRUE(e.run(GraphKey{"train"}).ok());
  auto reference = makeTrainer();
  ASSERT_TRUE(reference->run("train").ok());
  float x[8] = {2, 1, 0, -1, 0.5f, 3, -2, 4};
  ASSERT_TRUE(reference->write("train/x", x, sizeof(x)).ok());
  alignas(256) float other[8];
  std::copy(x, x + 8, other);
  EXPECT_EQ(e.bind("train/x", reinterpret_cast<char *>(other) + 1, 32).code(),
            StatusCode::Misaligned);
  EXPECT_TRUE(e.replay("train").ok()) << "a refused bind drops nothing";
  ASSERT_TRUE(reference->write("train/x", x, 32).ok());
  ASSERT_TRUE(e.resetState().ok());
  ASSERT_TRUE(reference->resetState().ok());
  ASSERT_TRUE(e.bind("train/x", other, sizeof(other)).ok());
  EXPECT_EQ(e.replay("train").code(), StatusCode::FailedState);
  ASSERT_TRUE(e.run(GraphKey{"train"}).ok());
  ASSERT_TRUE(reference->run("train").ok());
  EXPECT_EQ(stateOf(e), stateOf(*reference));
  EXPECT_EQ(e.statistics().captures, 2u);
  float y[6];
  alignas(256) float bound[6] = {};
  ASSERT_TRUE(e.write("predict/x", x, sizeof(x)).ok());
  ASSERT_TRUE(e.run("predict").ok());
  ASSERT_TRUE(e.bind("y", bound, sizeof(bound)).ok());
  EXPECT_EQ(e.read("y", y, sizeof(y)).code(), StatusCode::NotInitialized)
      << "its value is not in the new memory";
}

TEST(Executor, BoundTensorsUseTheCallersMemory) {
  auto made = Executor::create(share(makeTrainPlan()), createCPUDevice({1}));
  ASSERT_TRUE(made.ok());
  Executor &e = **made;
  alignas(256) float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  alignas(256) float w[12] = {};
  alignas(256) float y[6] = {};
  EXPECT_EQ(e.bind("predict/x", x, 4).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(e.bind("W", reinterpret_cast<char *>(w) + 1, sizeof(w)).code(),
            StatusCode::Misaligned);
  EXPECT_EQ(e.bind("W", nullptr, sizeof(w)).code(),
            StatusCode::InvalidArgument);
  ASSERT_TRUE(e.bind("predict/x", x, sizeof(x)).ok());
  ASSERT_TRUE(e.bind("W", w, sizeof(w)).ok());
  ASSERT_TRUE(e.bind("y", y, sizeof(y)).ok());
  w[0] = 2; // y[:, 0] = 2 x[:, 0]
  ASSERT_TRUE(e.run("predict").ok());
  EXPECT_EQ(y[0], 2);
  EXPECT_EQ(y[3], 10);
  EXPECT_EQ(e.statistics().persistentBytes, 5u * 256) << "W takes no bytes";
}

TEST(Executor, DerivedStatesAreNotTheCallersToSet) {
  Plan plan = makeTrainPlan();
  plan.entries.erase(plan.entries.begin()); // only @predict, which writes none
  PlanBuffer &copy = plan.buffers[2];
  retype(copy, plan.values[2],
         TensorDesc(DType::F16, plan.values[0].desc.shape()));
  copy.derivedFrom = 0;
  auto executor = Executor::create(std::make_shared<const Plan>(plan),
                                   createCPUDevice({1}));
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  std::vector<uint8_t> bytes(copy.bytes);
  for (Status status :
       {(*executor)->write(copy.name, bytes.data(), bytes.size()),
        (*executor)->bind(copy.name, bytes.data(), bytes.size())}) {
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_NE(status.message().find("is derived from"), std::string::npos)
        << status.message();
  }
}

TEST(Executor, ConstantsAreThePlans) {
  for (bool isSeparate : {false, true}) {
    ExecutorOptions options;
    options.separateAllocations = isSeparate;
    auto made = Executor::create(share(makeConstantsPlan()),
                                 createCPUDevice({1}), options);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    Executor &e = **made;
    const float x[6] = {1, 1, 1, 1, 1, 1};
    const uint8_t m[5] = {0, 1, 0, 0, 1};
    ASSERT_TRUE(e.write("x", x, sizeof(x)).ok());
    ASSERT_TRUE(e.write("m", m, sizeof(m)).ok());
    ASSERT_TRUE(e.run("use").ok());
    float y[6], table[6];
    uint8_t k[5], kept[5];
    ASSERT_TRUE(e.read("y", y, sizeof(y)).ok());
    ASSERT_TRUE(e.read("k", k, sizeof(k)).ok());
    ASSERT_TRUE(e.read("kept", kept, sizeof(kept)).ok());
    ASSERT_TRUE(e.read("table", table, sizeof(table)).ok());
    const float sums[6] = {2, -1, 4, 1.5, 1, 9};
    EXPECT_EQ(std::memcmp(y, sums, sizeof(y)), 0);
    EXPECT_EQ(std::memcmp(k, "\1\0\1\1\0", 5), 0);
    EXPECT_EQ(std::memcmp(kept, m, 5), 0);
    EXPECT_EQ(table[5], 8);
    alignas(256) float other[6] = {};
    for (Status status : {e.write("table", other, sizeof(other)),
                          e.bind("table", other, sizeof(other))}) {
      EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
      EXPECT_NE(status.message().find("\"table\" is a constant of the plan"),
                std::string::npos)
          << status.message();
    }
    ASSERT_TRUE(e.resetState().ok());
    ASSERT_TRUE(e.read("kept", kept, sizeof(kept)).ok());
    EXPECT_EQ(kept[0], 1);
    ASSERT_TRUE(e.run("use").ok());
    ASSERT_TRUE(e.read("y", y, sizeof(y)).ok());
    EXPECT_EQ(std::memcmp(y, sums, sizeof(y)), 0) << "as before";
  }
}

/// One entry: rows of a table by index, and a loss by label.
Plan makeIndexPlan() {
  Plan plan;
  PlanEntry entry;
  entry.name = "look";
  entry.ioBytes = 6 * 256;
  addTensors(plan, entry,
             {makeTensor("table", Role::Input, TensorDesc(DType::F32, {5, 3}), 0),
              makeTensor("index", Role::Input, TensorDesc(DType::I32, {2, 2}), 256),
              makeTensor("rows", Role::Output, TensorDesc(DType::F32, {2, 2, 3}), 512),
              makeTensor("logits", Role::Input, TensorDesc(DType::F32, {2, 4}), 768),
              makeTensor("label", Role::Input, TensorDesc(DType::I64, {2}), 1024),
              makeTensor("loss", Role::Output, TensorDesc(DType::F32, {}), 1280)});
  entry.calls = {makeCall(OpKind::Embedding, "embedding_f32_v0", {0, 1}, {2}),
                 makeCall(OpKind::SoftmaxCrossEntropy, "softmax_cross_entropy_f32_v0",
                          {3, 4}, {5},
                          encodeAttrs(SoftmaxCrossEntropyAttrs{0, -7}))};
  plan.entries = {entry};
  return plan;
}

void writeTables(Executor &executor) {
  const float zeros[15] = {};
  EXPECT_TRUE(executor.write("table", zeros, sizeof(zeros)).ok());
  EXPECT_TRUE(executor.write("logits", zeros, 8 * sizeof(float)).ok());
}

/// What is out of range ends the run, by either way to run; the ignored label is in
/// range; and the executor goes on.
TEST(Executor, IndicesAreChecked) {
  ExecutorOptions options;
  options.checkIndices = true;
  auto made =
      Executor::create(share(makeIndexPlan()), createCPUDevice({2}), options);
  ASSERT_TRUE(made.ok()) << made.status().toString();
  Executor &e = **made;
  const GraphKey key{"look", 3};
  writeTables(e);
  auto run = [&](int32_t index, int64_t label) {
    const int32_t indices[4] = {0, 4, 1, index};
    const int64_t labels[2] = {3, label};
    EXPECT_TRUE(e.write("index", indices, sizeof(indices)).ok());
    EXPECT_TRUE(e.write("label", labels, sizeof(labels)).ok());
    Status once = e.run("look"), several = e.run(key);
    EXPECT_EQ(once.toString(), several.toString());
    return once;
  };
  auto expectRefused = [](Status status, std::string_view words) {
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
  };
  EXPECT_TRUE(run(0, 0).ok());
  EXPECT_TRUE(run(4, -7).ok()) << "the ignored label";
  expectRefused(run(5, 0),
                "entry look: embedding gets index 5 at element 3 of its operand index, "
                "expected a number in [0, 5): dimension 0 of its operand table");
  expectRefused(run(-1, 0), "index -1 at element 3");
  expectRefused(run(0, 4), "softmax_cross_entropy gets index 4 at element 1 of its "
                           "operand labels, expected a number in [0, 4) or -7: "
                           "dimension 1 of its operand logits");
  EXPECT_TRUE(run(3, 3).ok()) << "still usable";
  EXPECT_EQ(e.run(GraphKey{"look", 0}).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(e.capture("look").code(), StatusCode::FailedState);
  EXPECT_EQ(e.statistics().captures, 0u);

  auto unchecked = Executor::create(share(makeIndexPlan()), createCPUDevice({1}));
  const int32_t bad[4] = {0, 4, 1, 5};
  const int64_t labels[2] = {3, 0};
  writeTables(**unchecked);
  ASSERT_TRUE((*unchecked)->write("label", labels, sizeof(labels)).ok());
  ASSERT_TRUE((*unchecked)->write("index", bad, sizeof(bad)).ok());
  EXPECT_TRUE((*unchecked)->run("look").ok()) << "nobody asked";
  float rows[12];
  ASSERT_TRUE((*unchecked)->read("rows", rows, sizeof(rows)).ok());
  EXPECT_TRUE(std::isnan(rows[9]) && rows[8] == 0);
}

TEST(Executor, BitsAreZeroOrOne) {
  auto made =
      Executor::create(share(makeConstantsPlan()), createCPUDevice({1}));
  ASSERT_TRUE(made.ok());
  const uint8_t good[5] = {0, 1, 0, 1, 1}, bad[5] = {0, 1, 0, 2, 1};
  for (const char *name : {"m", "kept"}) {
    ASSERT_TRUE((*made)->write(name, good, sizeof(good)).ok());
    Status status = (*made)->write(name, bad, sizeof(bad));
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_NE(status.message().find("element 3 of 5xi1 is the byte 2, expected "
                                    "0 or 1"),
              std::string::npos)
        << status.message();
    uint8_t now[5];
    ASSERT_TRUE((*made)->read(name, now, sizeof(now)).ok());
    EXPECT_EQ(std::memcmp(now, good, sizeof(now)), 0) << "nothing is lost";
  }
}

TEST(Executor, ResetStateAndGraphs) {
  auto executor = makeTrainer();
  ASSERT_TRUE(executor->run("train").ok());
  std::vector<uint8_t> first = stateOf(*executor);
  ASSERT_TRUE(executor->run("train").ok());
  ASSERT_TRUE(executor->resetState().ok());
  EXPECT_EQ(readScalar<int64_t>(*executor, "step"), 0);
  ASSERT_TRUE(executor->run("train").ok());
  EXPECT_EQ(stateOf(*executor), first);
  ASSERT_TRUE(executor->capture("train").ok());
  ASSERT_TRUE(executor->resetGraphs().ok());
  EXPECT_EQ(executor->replay("train").code(), StatusCode::FailedState);
}

TEST(Executor, GraphCacheIsBounded) {
  ExecutorOptions options;
  options.maxCachedGraphs = 2;
  auto executor = makeTrainer(options);
  for (uint32_t steps : {1, 2, 3, 2, 3, 1})
    ASSERT_TRUE(executor->run(GraphKey{"train", steps}).ok());
  EXPECT_EQ(executor->statistics().captures, 4u);
  EXPECT_EQ(readScalar<int64_t>(*executor, "step"), 12);
}

} // namespace
