//===- ExecutorSuite.cpp - an executor's life on every device -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/KernelTable.h"
#include "unittests/cts/Suite.h"

using namespace aicf;
using namespace aicf::cts;
using namespace aicf::test;

namespace {

class ExecutorTest : public DeviceTest {
protected:
  /// A sample plan with the kernels of the device under test.
  std::shared_ptr<const Plan> forDevice(Plan plan) {
    plan = withKernelsOf(std::move(plan), device->kind());
    Status legal = verifyPlan(plan);
    EXPECT_TRUE(legal.ok()) << legal.toString();
    return std::make_shared<const Plan>(std::move(plan));
  }
  std::unique_ptr<Executor> make(Plan plan, ExecutorOptions options = {}) {
    auto made = Executor::create(forDevice(std::move(plan)), device, options);
    EXPECT_TRUE(made.ok()) << made.status().toString();
    return std::move(*made);
  }
  /// For what is refused before a call is looked at.
  std::unique_ptr<Executor> makeUnverified(Plan plan) {
    plan.device = device->kind();
    auto made =
        Executor::create(std::make_shared<const Plan>(std::move(plan)), device);
    EXPECT_TRUE(made.ok()) << made.status().toString();
    return std::move(*made);
  }
  std::unique_ptr<Executor> makeTrainer(ExecutorOptions options = {},
                                        Plan plan = makeTrainPlan()) {
    auto executor = make(std::move(plan), options);
    const float x[8] = {1, -2, 3, 0.5f, -1, 2, 0.25f, 1};
    const float t[6] = {1, 0, 0, 0, 1, 0}, lr = 0.1f;
    EXPECT_TRUE(executor->write("train/x", x, sizeof(x)).ok());
    EXPECT_TRUE(executor->write("predict/x", x, sizeof(x)).ok());
    EXPECT_TRUE(executor->write("t", t, sizeof(t)).ok());
    EXPECT_TRUE(executor->write("lr", &lr, sizeof(lr)).ok());
    return executor;
  }
  static std::vector<uint8_t> stateOf(Executor &executor) {
    std::vector<uint8_t> all;
    for (const char *name : {"W", "b", "mW", "mb", "step"}) {
      std::vector<uint8_t> bytes(executor.find(name)->desc.spanBytes());
      Status read = executor.read(name, bytes.data(), bytes.size());
      EXPECT_TRUE(read.ok()) << read.toString();
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  }
};

TEST_P(ExecutorTest, EveryWayGivesTheSameBits) {
  auto eager = makeTrainer();
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(eager->run("train").ok());
  std::vector<uint8_t> expected = stateOf(*eager);
  for (bool separate : {false, true}) {
    ExecutorOptions options;
    options.separateAllocations = separate;
    auto graph = makeTrainer(options);
    ASSERT_TRUE(graph->capture("train").ok());
    ASSERT_TRUE(graph->replay("train", 10).ok());
    EXPECT_EQ(stateOf(*graph), expected);
    auto keyed = makeTrainer(options);
    for (int i = 0; i < 2; ++i)
      ASSERT_TRUE(keyed->run(GraphKey{"train", 5}).ok());
    EXPECT_EQ(stateOf(*keyed), expected);
    EXPECT_EQ(keyed->statistics().captures, 1u);
  }
}

TEST_P(ExecutorTest, BranchesRunEagerlyAndCaptured) {
  auto executor = make(makeTwoStreamPlan());
  float x[8] = {1, -2, 3, -4, 5, -6, 7, -8}, y[8];
  ASSERT_TRUE(executor->write("x", x, sizeof(x)).ok());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(executor->run("fork").ok());
    ASSERT_TRUE(executor->run(GraphKey{"fork", 2}).ok());
  }
  ASSERT_TRUE(executor->read("y", y, sizeof(y)).ok());
  for (int i = 0; runsKernels() && i < 8; ++i)
    EXPECT_EQ(y[i], x[i] + std::max(x[i], 0.0f));
}

/// A loop of the plan does what its runs do, one after the other.
TEST_P(ExecutorTest, PartsRunSeveralTimes) {
  auto eager = makeTrainer();
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(eager->run("train").ok());
  const std::vector<uint8_t> expected = stateOf(*eager);
  Plan plan = makeTrainPlan();
  const auto all = uint32_t(plan.entries[0].calls.size());
  plan.entries[0].parts = {{all, 5}};
  for (bool isDebugging : {false, true}) {
    ExecutorOptions options;
    options.poison = options.canary = isDebugging;
    auto looped = makeTrainer(options, plan);
    ASSERT_TRUE(looped->enableTrace(true).ok());
    ASSERT_TRUE(looped->run("train").ok());
    EXPECT_EQ(looped->trace().size(), 5 * all);
    ASSERT_TRUE(looped->run("train").ok());
    EXPECT_EQ(stateOf(*looped), expected) << isDebugging;
  }
  auto graph = makeTrainer({}, plan);
  ASSERT_TRUE(graph->run(GraphKey{"train", 2}).ok());
  EXPECT_EQ(stateOf(*graph), expected);
  EXPECT_EQ(graph->statistics().launches, 1u);
  plan.entries[0].parts = {{all, 1 << 16}}; // too many for a graph
  auto many = makeTrainer({}, plan);
  EXPECT_EQ(many->capture("train").code(), StatusCode::FailedState);
  plan.entries[0].parts = {{all, uint32_t(kMaxGraphCalls / all)}};
  auto some = makeTrainer({}, plan);
  ASSERT_TRUE(some->run(GraphKey{"train", 2}).ok());
  EXPECT_EQ(some->statistics().captures, 0u);
  EXPECT_EQ(some->statistics().runs, 2u);
}

TEST_P(ExecutorTest, BranchesForkInEachRunOfAPart) {
  Plan plan = makeTwoStreamPlan();
  plan.entries[0].parts = {{3, 4}};
  auto executor = make(plan);
  float x[8] = {1, -2, 3, -4, 5, -6, 7, -8}, y[8];
  ASSERT_TRUE(executor->write("x", x, sizeof(x)).ok());
  ASSERT_TRUE(executor->run("fork").ok());
  ASSERT_TRUE(executor->run(GraphKey{"fork", 2}).ok());
  ASSERT_TRUE(executor->read("y", y, sizeof(y)).ok());
  for (int i = 0; runsKernels() && i < 8; ++i)
    EXPECT_EQ(y[i], x[i] + std::max(x[i], 0.0f));
}

TEST_P(ExecutorTest, RunsAllocateNothing) {
  auto executor = makeTrainer();
  ASSERT_TRUE(executor->run("train").ok());
  ASSERT_TRUE(executor->capture("train").ok());
  DeviceCounters before = device->counters();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(executor->run("train").ok());
    ASSERT_TRUE(executor->replay("train", 3).ok());
  }
  EXPECT_EQ(device->counters().allocations, before.allocations);
  EXPECT_EQ(device->counters().lookups, before.lookups);
}

TEST_P(ExecutorTest, CaptureChangesNothing) {
  auto executor = makeTrainer();
  ASSERT_TRUE(executor->run("train").ok());
  std::vector<uint8_t> before = stateOf(*executor);
  ASSERT_TRUE(executor->capture("train").ok());
  ASSERT_TRUE(executor->capture("predict").ok());
  EXPECT_EQ(stateOf(*executor), before);
}

TEST_P(ExecutorTest, WarmupKeepsTheBits) {
  ExecutorOptions options;
  options.isWarmup = true;
  auto executor = makeTrainer(options);
  std::vector<uint8_t> before = stateOf(*executor);
  ASSERT_TRUE(executor->run("train").ok());
  ASSERT_TRUE(executor->run(GraphKey{"train", 2}).ok());
  EXPECT_EQ(stateOf(*executor), before);
}

TEST_P(ExecutorTest, RebindingDropsGraphs) {
  auto executor = makeTrainer();
  ASSERT_TRUE(executor->capture("train").ok());
  Buffer lr(*device, 4);
  ASSERT_TRUE(executor->bind("lr", lr.at(), 4).ok());
  EXPECT_EQ(executor->replay("train").code(), StatusCode::FailedState);
  float zero = 0;
  ASSERT_TRUE(executor->write("lr", &zero, 4).ok()) << "into the new memory";
  std::vector<uint8_t> before = stateOf(*executor);
  ASSERT_TRUE(executor->run(GraphKey{"train", 1}).ok());
  std::vector<uint8_t> after = stateOf(*executor);
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + 60, after.begin()))
      << "with a rate of 0, W and b stay";
  EXPECT_FALSE(executor->bind("lr", nullptr, 4).ok());
  EXPECT_FALSE(executor->bind("lr", lr.at(), 8).ok());
}

TEST_P(ExecutorTest, ReadsAndWritesMemoryOfTheDevice) {
  auto executor = makeTrainer();
  uint64_t bytes = executor->find("W")->desc.spanBytes();
  Buffer buffer(*device, 2 * 256);
  std::vector<uint8_t> first(bytes), second(bytes);
  ASSERT_TRUE(executor->read("W", first.data(), bytes).ok());
  ASSERT_TRUE(
      executor->read("W", buffer.at(), bytes, MemorySpace::Device).ok());
  ASSERT_TRUE(executor->run("train").ok());
  ASSERT_TRUE(
      executor->write("W", buffer.at(), bytes, MemorySpace::Device).ok());
  ASSERT_TRUE(executor->read("W", second.data(), bytes).ok());
  EXPECT_EQ(first, second);
  EXPECT_EQ(executor->nativeStream() != nullptr,
            device->kind() == DeviceKind::CUDA);
}

TEST_P(ExecutorTest, WhatWasNeverWrittenIsAnError) {
  auto executor = make(makeTrainPlan());
  float value = 0;
  EXPECT_EQ(executor->replay("train").code(), StatusCode::FailedState);
  EXPECT_EQ(executor->run("train").code(), StatusCode::NotInitialized);
  EXPECT_EQ(executor->run(GraphKey{"train", 1}).code(),
            StatusCode::NotInitialized);
  EXPECT_EQ(executor->read("loss", &value, 4).code(),
            StatusCode::NotInitialized);
  EXPECT_EQ(executor->read("lr", &value, 4).code(), StatusCode::NotInitialized);
  EXPECT_EQ(executor->write("loss", &value, 4).code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(executor->write("lr", &value, 8).code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(executor->write("lr", nullptr, 4).code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(executor->write("none", &value, 4).code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(executor->run("none").code(), StatusCode::InvalidArgument);
  EXPECT_EQ(executor->run(GraphKey{"train", 0}).code(),
            StatusCode::InvalidArgument);
}

TEST_P(ExecutorTest, ResettingGivesTheFirstBits) {
  auto executor = makeTrainer();
  std::vector<uint8_t> before = stateOf(*executor);
  ASSERT_TRUE(executor->run("train").ok());
  if (runsKernels()) {
    EXPECT_NE(stateOf(*executor), before);
  }
  ASSERT_TRUE(executor->resetState().ok());
  EXPECT_EQ(stateOf(*executor), before);
}

TEST_P(ExecutorTest, GraphsAreBounded) {
  ExecutorOptions options;
  options.maxCachedGraphs = 2;
  auto executor = makeTrainer(options);
  for (uint32_t steps : {1u, 2u, 3u, 1u, 2u, 3u})
    ASSERT_TRUE(executor->run(GraphKey{"train", steps}).ok());
  EXPECT_EQ(executor->statistics().captures, 6u)
      << "each was dropped in between";
  ASSERT_TRUE(executor->run(GraphKey{"train", 3}).ok());
  EXPECT_EQ(executor->statistics().captures, 6u);
  ASSERT_TRUE(executor->resetGraphs().ok());
  ASSERT_TRUE(executor->run(GraphKey{"train", 3}).ok());
  EXPECT_EQ(executor->statistics().captures, 7u);
}

TEST_P(ExecutorTest, ShareADeviceAndEndInAnyOrder) {
  auto a = makeTrainer(), b = makeTrainer();
  ASSERT_TRUE(a->capture("train").ok());
  ASSERT_TRUE(b->capture("train").ok());
  ASSERT_TRUE(a->replay("train", 5).ok());
  ASSERT_TRUE(b->replay("train", 5).ok());
  a.reset(); // with work in flight
  ASSERT_TRUE(b->run("train").ok());
  EXPECT_TRUE(b->sync().ok());
  EXPECT_EQ(stateOf(*b).size(), 48u + 12 + 48 + 12 + 8);
}

TEST_P(ExecutorTest, TheTraceIsThePlan) {
  auto executor = makeTrainer();
  ASSERT_TRUE(executor->enableTrace(true).ok());
  ASSERT_TRUE(executor->run("train").ok());
  std::vector<TraceRecord> eager = executor->trace();
  ASSERT_TRUE(executor->enableTrace(true).ok());
  ASSERT_TRUE(executor->run(GraphKey{"train"}).ok());
  std::vector<TraceRecord> replay = executor->trace();
  const PlanEntry &entry = executor->plan().entries[0];
  ASSERT_EQ(eager.size(), entry.calls.size());
  ASSERT_EQ(replay.size(), entry.calls.size());
  for (size_t i = 0; i < eager.size(); ++i) {
    EXPECT_EQ(eager[i].kid, entry.calls[i].kid);
    EXPECT_EQ(replay[i].kid, entry.calls[i].kid);
    EXPECT_EQ(replay[i].inVids, entry.calls[i].inVids);
    EXPECT_EQ(replay[i].outVids, entry.calls[i].vids);
    EXPECT_EQ(replay[i].inTypes.size(), entry.calls[i].ins.size());
    EXPECT_TRUE(replay[i].isReplay && !eager[i].isReplay);
  }
}

TEST_P(ExecutorTest, PlansOfOtherDevicesAreRefused) {
  Plan plan = makeTrainPlan();
  plan.device =
      device->kind() == DeviceKind::CPU ? DeviceKind::CUDA : DeviceKind::CPU;
  auto made =
      Executor::create(std::make_shared<const Plan>(std::move(plan)), device);
  EXPECT_EQ(made.status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(Executor::create(nullptr, device).status().code(),
            StatusCode::InvalidArgument);
}

/// A plan that claims more than there is gets an error, not a killed process.
TEST_P(ExecutorTest, TooLargeAPlanIsAnError) {
  Plan plan = makeTrainPlan();
  plan.entries[0].tempBytes = uint64_t(8) << 40;
  auto executor = make(std::move(plan));
  Status status = executor->prepare();
  EXPECT_EQ(status.code(), StatusCode::DeviceError) << status.toString();
  EXPECT_EQ(device->counters().allocations, 0u);
  if (uint64_t available = device->freeBytes()) { // each fits, both do not
    plan = makeTrainPlan();
    auto rows = int64_t(available / 10 * 7 / 16);
    retype(plan.buffers[0], plan.values[0], TensorDesc(DType::F32, {rows, 4}));
    plan.entries[0].tempBytes = available / 10 * 7;
    executor = makeUnverified(std::move(plan));
    EXPECT_NE(executor->prepare().message().find("the plan needs"),
              std::string::npos);
    EXPECT_EQ(device->counters().allocations, 0u);
  }
}

AICF_INSTANTIATE_FOR_DEVICES(ExecutorTest);

} // namespace
