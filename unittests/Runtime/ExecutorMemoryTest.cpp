//===- ExecutorMemoryTest.cpp - what an executor has in memory ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Executor.h"
#include "lib/Runtime/IO/Initializers.h"
#include "unittests/Common/Allocations.h"
#include "unittests/Common/SamplePlans.h"
#include "unittests/Runtime/Probe.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace aicf;
using namespace aicf::test;

namespace {

/// A changed entry whose temps fit into the memory that is there needs none.
TEST(Executor, ExtendingAllocatesWhatIsNew) {
  auto device = std::make_shared<Probe>();
  ExecutorOptions options;
  options.isWarmup = true;
  auto executor = makeTrainer(options, device);
  Plan changed = makeTrainPlan();
  changed.entries[0].calls.pop_back();
  ExecutorStatistics before = executor->statistics();
  device->asked = {};
  device->free = 1;
  Status status = executor->extend(share(changed));
  ASSERT_TRUE(status.ok()) << status.toString();
  EXPECT_TRUE(device->asked.allocations.empty());
  EXPECT_EQ(executor->statistics().tempBytes, before.tempBytes);
  device->workspaces.clear();
  ASSERT_TRUE(executor->extend(share(changed)).ok());
  EXPECT_TRUE(device->workspaces.empty()) << "the calls are there";
}

TEST(Executor, ExtendingIsAllOrNothing) {
  auto device = std::make_shared<Probe>();
  auto executor = makeTrainer({}, device);
  ASSERT_TRUE(executor->capture("train").ok());
  device->free = 1;
  EXPECT_EQ(executor->extend(share(makeLongerTrainPlan())).code(),
            StatusCode::DeviceError);
  EXPECT_EQ(executor->plan().entries.size(), 2u);
  EXPECT_TRUE(executor->replay("train").ok());
}

/// Of what an entry writes one can say before that it will have a value.
TEST(Executor, CheckReadKnowsWhatAnEntryWrites) {
  ExecutorOptions options;
  options.useInitializers = false;
  auto executor = makeTrainer(options);
  EXPECT_TRUE(executor->checkRead("W", "train").ok());
  EXPECT_TRUE(executor->checkRead("loss", "train").ok());
  EXPECT_TRUE(executor->checkRead("lr", "predict").ok()) << "it has one";
  for (const char *name : {"W", "loss", "predict/x"})
    EXPECT_EQ(executor->checkRead(name, "predict").code(),
              StatusCode::NotInitialized)
        << name;
}

TEST(Executor, SeparateBuffersHaveTheirOwnBytes) {
  for (bool canary : {false, true}) {
    ExecutorOptions options;
    options.separateAllocations = true;
    options.canary = canary;
    auto device = std::make_shared<Probe>();
    auto executor = makeTrainer(options, device);
    std::vector<uint64_t> expected;
    for (const SlotInfo &slot : executor->slots())
      expected.push_back(slot.bytes + (canary ? 512 : 0));
    EXPECT_EQ(device->asked.allocations, expected);
    ExecutorStatistics stats = executor->statistics();
    EXPECT_EQ(stats.persistentBytes, 132u);
    EXPECT_EQ(stats.ioBytes, 60u + 56);
    EXPECT_EQ(stats.tempBytes, 108u);
  }
}

/// Segments that are empty take none; warm-up copies what an entry updates,
/// into memory that stays.
TEST(Executor, AllocatesOnceForEachSegment) {
  auto device = std::make_shared<Probe>();
  auto made = Executor::create(share(makeConstantsPlan()), device);
  ASSERT_TRUE((*made)->prepare().ok());
  EXPECT_EQ(device->asked.allocations.size(), 2u) << "no temps";

  ExecutorOptions options;
  options.isWarmup = true;
  auto warm = std::make_shared<Probe>();
  auto executor = makeTrainer(options, warm);
  EXPECT_EQ(warm->asked.allocations.size(), 4u + 5) << "not of lr";
  alignas(256) float lr = 0.1f;
  ASSERT_TRUE(executor->bind("lr", &lr, sizeof(lr)).ok());
  EXPECT_EQ(warm->asked.allocations.size(), 4u + 5);
}

TEST(Executor, TracesTheCopiesOfWarmup) {
  ExecutorOptions options;
  options.isWarmup = true;
  auto executor = makeTrainer(options);
  ASSERT_TRUE(executor->enableTrace(true).ok());
  ASSERT_TRUE(executor->run("train").ok());
  const std::vector<TraceRecord> &trace = executor->trace();
  ASSERT_EQ(trace.size(), 5u + 9 + 5);
  for (size_t i = 0; i < trace.size(); ++i) {
    bool isCopy = i < 5 || i >= 14;
    EXPECT_EQ(trace[i].op == "copy", isCopy) << i;
    EXPECT_EQ(trace[i].call, isCopy ? -1 : int32_t(i) - 5);
    EXPECT_EQ(trace[i].phase.empty(), isCopy);
    EXPECT_EQ(trace[i].outNames.empty(), isCopy);
  }
}

TEST(Executor, SlotsLieInThePlansOrder) {
  Plan plan = makeTrainPlan();
  std::swap(plan.buffers[0].offset, plan.buffers[1].offset);
  PlanEntry &train = plan.entries[0];
  train.values[0].vid = 40;
  train.values.push_back(train.values[0]);
  train.values.back().vid = 41;
  train.values.push_back({5, 0, plan.values[5].desc, 42}); // of lr
  auto executor = makeTrainer({}, createCPUDevice({1}), plan);
  std::vector<SlotInfo> slots = executor->slots();
  EXPECT_EQ(slots[0].offset, 256u);
  EXPECT_EQ(slots[1].offset, 0u);
  EXPECT_EQ(slots[6].name, "x");
  EXPECT_EQ(slots[6].vid, 40) << "of the first value";
  EXPECT_EQ(slots[5].vid, plan.values[5].vid) << "of the plan's";
}

/// Calls that may not work in place refuse the memory; what was bound stays.
TEST(Executor, RefusedBindingsChangeNothing) {
  auto executor = makeTrainer();
  Executor &e = *executor;
  alignas(256) float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, other[8] = {};
  ASSERT_TRUE(e.bind("predict/x", x, sizeof(x)).ok());
  ASSERT_TRUE(e.run("predict").ok());
  float before[6], after[6];
  ASSERT_TRUE(e.read("y", before, sizeof(before)).ok());
  EXPECT_EQ(e.bind("y", x, 24).code(), StatusCode::InvalidArgument);
  ASSERT_TRUE(e.read("y", after, sizeof(after)).ok());
  EXPECT_EQ(std::memcmp(before, after, sizeof(before)), 0);
  ASSERT_TRUE(e.run("predict").ok());
  EXPECT_EQ(x[7], 8);
  ASSERT_TRUE(e.bind("predict/x", other, sizeof(other)).ok());
  EXPECT_TRUE(e.read("y", after, sizeof(after)).ok()) << "it has its value";
}

TEST(Executor, TheLeastRecentlyUsedGraphGoes) {
  ExecutorOptions options;
  options.maxCachedGraphs = 2;
  auto executor = makeTrainer(options);
  for (uint32_t steps : {1, 2, 1, 3, 1})
    ASSERT_TRUE(executor->run(GraphKey{"train", steps}).ok());
  EXPECT_EQ(executor->statistics().captures, 3u);
}

TEST(Executor, CallsGetTheirWorkspace) {
  Plan plan = makeTwoStreamPlan();
  PlanEntry &entry = plan.entries[0];
  entry.calls[0].workspace = int32_t(addTensor(
      plan, entry,
      makeTensor("", Role::Workspace, TensorDesc(DType::I32, {8}), 512)));
  entry.calls[0].workspaceBytes = 32;
  entry.tempBytes = 3 * 256;
  auto device = std::make_shared<Probe>();
  auto made = Executor::create(share(plan), device);
  ASSERT_TRUE((*made)->prepare().ok());
  EXPECT_EQ(device->workspaces,
            (std::vector<const void *>{(*made)->slots()[4].pointer, nullptr,
                                       nullptr}));
}

} // namespace
