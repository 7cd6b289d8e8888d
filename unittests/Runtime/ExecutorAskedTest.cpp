//===- ExecutorAskedTest.cpp - what an executor asks of its device --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Executor.h"
#include "lib/Runtime/IO/Initializers.h"
#include "lib/Runtime/Tracer.h"
#include "unittests/Common/Allocations.h"
#include "unittests/Common/SamplePlans.h"
#include "unittests/Runtime/Probe.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <utility>

using namespace aicf;
using namespace aicf::test;

namespace {

TEST(Executor, TracesWhatRan) {
  auto executor = makeTrainer();
  ASSERT_TRUE(executor->capture("train").ok());
  ASSERT_TRUE(executor->enableTrace(true).ok());
  ASSERT_TRUE(executor->run("train").ok());
  std::vector<TraceRecord> eager = executor->trace();
  ASSERT_TRUE(executor->enableTrace(true).ok());
  ASSERT_TRUE(executor->replay("train").ok());
  std::vector<TraceRecord> replay = executor->trace();
  ASSERT_TRUE(executor->enableTrace(false).ok());
  ASSERT_TRUE(executor->run("train").ok());
  EXPECT_EQ(executor->trace().size(), replay.size());
  const auto &calls = executor->plan().entries[0].calls;
  ASSERT_EQ(eager.size(), calls.size());
  ASSERT_EQ(replay.size(), calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(eager[i].op, primitiveNames(*calls[i].body));
    EXPECT_EQ(eager[i].kid, replay[i].kid);
    EXPECT_EQ(eager[i].inVids, replay[i].inVids);
    EXPECT_EQ(eager[i].outVids, calls[i].vids);
    EXPECT_TRUE(replay[i].isReplay);
    EXPECT_GE(eager[i].micros, 0);
  }
  EXPECT_NE(traceToChromeJson(eager).find("\"sgd_step\""), std::string::npos);
  std::string json = traceToChromeJson(replay, "cpu");
  for (const char *text : {"graph launches", "launch of train", "aicf on cpu"})
    EXPECT_NE(json.find(text), std::string::npos) << text;
  // On a device that times no nodes, a call is an instant.
  for (TraceRecord &r : replay)
    r.isWholeLaunch = true;
  json = traceToChromeJson(replay);
  EXPECT_NE(json.find("\"ph\":\"i\""), std::string::npos);
  EXPECT_NE(json.find("\"timed\":false"), std::string::npos);
}

TEST(Executor, TracesSayPhasesOrderAndMemory) {
  auto executor = makeTrainer();
  ASSERT_TRUE(executor->enableTrace(true).ok());
  ASSERT_TRUE(executor->run("train").ok());
  std::vector<TraceRecord> trace = executor->trace();
  std::set<std::string> phases;
  uint64_t most = 0;
  for (size_t i = 0; i < trace.size(); ++i) {
    EXPECT_EQ(trace[i].call, int32_t(i));
    phases.insert(trace[i].phase);
    most = std::max(most, trace[i].bytesAlive);
  }
  EXPECT_EQ(phases, (std::set<std::string>{"forward", "backward", "update"}));
  EXPECT_GT(most, 0u);
  EXPECT_LE(most, executor->statistics().tempBytes);
  auto forked = Executor::create(share(makeTwoStreamPlan()),
                                 createCPUDevice({2}), {});
  ASSERT_TRUE(forked.ok());
  float x[8] = {};
  ASSERT_TRUE((*forked)->write("x", x, sizeof(x)).ok());
  ASSERT_TRUE((*forked)->enableTrace(true).ok());
  ASSERT_TRUE((*forked)->run("fork").ok());
  trace = (*forked)->trace();
  ASSERT_EQ(trace.size(), 3u);
  EXPECT_EQ(trace[2].after, std::vector<uint32_t>{1});
  trace[2].location = "model.mlir:3:4";
  nlohmann::json events =
      nlohmann::json::parse(traceToChromeJson(trace))["traceEvents"];
  std::map<std::string, size_t> kinds;
  for (const auto &event : events) {
    ++kinds[event["ph"]];
    if (event["ph"] == "f") { // ends where the call begins
      EXPECT_EQ(event["ts"], trace[2].startMicros);
    }
  }
  EXPECT_EQ(kinds["s"], 1u);
  EXPECT_EQ(kinds["f"], 1u);
  EXPECT_EQ(kinds["C"], 3u);
  EXPECT_NE(events.dump().find("\"location\":\"model.mlir:3:4\""),
            std::string::npos);
  EXPECT_NE(events.dump().find("\"phase\":\"forward\""), std::string::npos);
}

TEST(Executor, SlotsFollowThePlan) {
  auto executor = makeTrainer();
  std::vector<SlotInfo> slots = executor->slots();
  ASSERT_EQ(slots.size(), 6u + 7 + 2);
  EXPECT_EQ(slots[0].name, "W");
  EXPECT_EQ(slots[1].offset - slots[0].offset, 256u);
  EXPECT_EQ(static_cast<const char *>(slots[1].pointer) -
                static_cast<const char *>(slots[0].pointer),
            256);
  EXPECT_EQ(slots[9].pointer, slots[11].pointer) << "y and dW share bytes";
}

TEST(Executor, TwoStreams) {
  for (bool poison : {false, true}) {
    ExecutorOptions options;
    options.poison = poison;
    auto executor = Executor::create(share(makeTwoStreamPlan()),
                                     createCPUDevice({2}), options);
    ASSERT_TRUE(executor.ok());
    float x[8] = {-1, 2, -3, 4, -5, 6, -7, 8}, y[8];
    ASSERT_TRUE((*executor)->write("x", x, sizeof(x)).ok());
    ASSERT_TRUE((*executor)->run("fork").ok());
    ASSERT_TRUE((*executor)->read("y", y, sizeof(y)).ok());
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(y[i], std::max(x[i], 0.0f) + x[i]);
  }
}

TEST(Executor, TwoExecutorsInTwoThreads) {
  auto reference = makeTrainer();
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(reference->run("train").ok());
  std::vector<uint8_t> results[2];
  auto work = [&](int which) {
    auto executor = makeTrainer({}, 1);
    for (int i = 0; i < 200; ++i)
      if (!executor->run(GraphKey{"train", 1}).ok())
        return;
    results[which] = stateOf(*executor);
  };
  std::thread a(work, 0), b(work, 1);
  a.join();
  b.join();
  EXPECT_EQ(results[0], stateOf(*reference));
  EXPECT_EQ(results[1], results[0]);
}

TEST(Executor, NeedsAPlanAndADevice) {
  EXPECT_EQ(Executor::create(nullptr, createCPUDevice({1})).status().message(),
            "the plan is null");
  EXPECT_EQ(
      Executor::create(share(makeTrainPlan()), nullptr).status().message(),
      "the device is null");
}

TEST(Executor, MessagesSayWhichAndWhy) {
  ExecutorOptions options;
  auto made = Executor::create(share(makeTrainPlan()), createCPUDevice({1}));
  ASSERT_TRUE(made.ok());
  Executor &e = **made;
  float x[8] = {};
  EXPECT_EQ(e.run("nothing").message(), "the plan has no entry \"nothing\"; it "
                                        "has train, predict");
  EXPECT_EQ(e.write("x", x, sizeof(x)).message(),
            "\"x\" is in 2 entries: name one, such as \"train/x\"");
  EXPECT_EQ(e.find("train/").status().message(),
            "the plan has no tensor named \"train/\"; it has predict/x, predict/y, "
            "train/loss, train/t, train/x, beside parameters and states");
  EXPECT_EQ(e.find("rate").status().message(),
            "the plan has no tensor named \"rate\"; it has loss, lr, t, x, y, "
            "beside parameters and states");
  EXPECT_EQ(e.read("loss", x, 4).message(),
            "\"loss\" has no value: its entry has not run");
  EXPECT_EQ(e.read("lr", x, 4).message(), "\"lr\" was never written");
  EXPECT_EQ(e.run("train").message(),
            "entry train: input \"x\" was never written");
  ASSERT_TRUE(e.write("train/x", x, sizeof(x)).ok());
  ASSERT_TRUE(e.write("t", x, 24).ok());
  EXPECT_EQ(e.run("train").message(),
            "entry train: hyper \"lr\" was never written: set it before the "
            "first run");
  options.useInitializers = false;
  EXPECT_EQ(makeTrainer(options)->run("train").message(),
            "entry train: param \"W\" was never written");
}

/// Dead temps are NaN bytes before a run and after it, and only where somebody
/// asked: two fills for each temp.
TEST(Executor, PoisonIsInWhatIsDead) {
  for (int mode = 0; mode < 3; ++mode) {
    ExecutorOptions options;
    options.poison = mode < 2;
    options.isWarmup = mode == 1;
    options.canary = mode == 2;
    auto device = std::make_shared<Probe>();
    auto executor = makeTrainer(options, device);
    device->asked = {};
    ASSERT_TRUE(executor->run("train").ok());
    EXPECT_EQ(device->asked.fills, options.poison ? 2 * 4 : 0) << mode;
    EXPECT_EQ(executor->capture("train").code(), StatusCode::FailedState);
    for (const SlotInfo &slot : executor->slots()) {
      auto *bytes = static_cast<const uint8_t *>(slot.pointer);
      bool isDead = std::all_of(bytes, bytes + slot.bytes,
                                [](uint8_t byte) { return byte == 0xff; });
      EXPECT_EQ(isDead, options.poison && slot.segment == Segment::Temp)
          << slot.buffer;
    }
  }
}

TEST(Executor, CanariesFindWhatIsOverwritten) {
  ExecutorOptions options;
  options.canary = true;
  auto made =
      Executor::create(share(makeTrainPlan()), createCPUDevice({1}), options);
  ASSERT_TRUE(made.ok());
  Executor &e = **made;
  alignas(256) float bound[3 * 64] = {};
  float t[6] = {}, lr = 0;
  ASSERT_TRUE(e.bind("train/x", bound + 64, 32).ok());
  ASSERT_TRUE(e.write("t", t, sizeof(t)).ok());
  ASSERT_TRUE(e.write("lr", &lr, sizeof(lr)).ok());
  EXPECT_TRUE(e.run("train").ok()) << "nothing stands around what is bound";
  for (const SlotInfo &slot : e.slots()) {
    if (slot.pointer == bound + 64)
      continue;
    auto *begin = static_cast<uint8_t *>(const_cast<void *>(slot.pointer));
    for (uint8_t *guard : {begin - 1, begin + slot.bytes}) {
      uint8_t old = std::exchange(*guard, uint8_t(7));
      std::string name = slot.name.empty() ? "" : " (" + slot.name + ")";
      Status status = e.run("train");
      EXPECT_EQ(status.code(), StatusCode::DeviceError);
      EXPECT_EQ(status.message(),
                "after gemm_f32_blas_v0 (call 0 of train): the guard bytes "
                "around buffer " +
                    std::to_string(slot.buffer) + name + " were overwritten");
      *guard = old;
    }
  }
  EXPECT_TRUE(e.run("train").ok()) << "still usable";
}

/// A run waits only after an error, and forks once a step, behind the copies of
/// warm-up.
TEST(Executor, RunsForkOnceAndDoNotWait) {
  for (bool isWarmup : {false, true}) {
    ExecutorOptions options;
    options.isWarmup = isWarmup;
    auto device = std::make_shared<Probe>();
    auto executor = makeTrainer(options, device);
    device->asked = {};
    ASSERT_TRUE(executor->run("train").ok());
    EXPECT_EQ(device->asked.forks, 1);
    ASSERT_TRUE(executor->run(GraphKey{"train", 3}).ok());
    EXPECT_EQ(device->asked.forks, 1 + 3);
    EXPECT_EQ(device->asked.waits, 0);
    device->callsToRefuse = 1;
    EXPECT_EQ(executor->run("train").code(), StatusCode::DeviceError);
    EXPECT_EQ(device->asked.waits, 1) << "nothing runs on";
  }
}

TEST(Executor, CapturesAreTriedTwice) {
  auto device = std::make_shared<Probe>();
  auto executor = makeTrainer({}, device);
  device->capturesToSpoil = 1;
  EXPECT_TRUE(executor->capture("train").ok());
  ASSERT_TRUE(executor->resetGraphs().ok());
  device->capturesToSpoil = 2;
  EXPECT_EQ(executor->capture("train").message(),
            "capture of entry train failed twice; it still runs eagerly: "
            "spoilt");
  EXPECT_TRUE(executor->run("train").ok());
  EXPECT_EQ(executor->replay("train", 0).code(), StatusCode::InvalidArgument);
}

/// A param with its 16-bit copy, which is padded, and an entry that reads it.
Plan makeDerivedPlan() {
  Plan plan;
  plan.persistentBytes = 512;
  const std::vector<int64_t> shape = {8, 8};
  TensorDesc half(DType::F16, shape);
  half.layout = Layout::Padded;
  addTensors(plan,
             {makeTensor("W", Role::Param, TensorDesc(DType::F32, shape), 0),
              makeTensor("W.f16", Role::State, half, 256)});
  plan.buffers[0].init = InitKind::Ones;
  plan.buffers[1].derivedFrom = 0;
  PlanEntry entry;
  entry.name = "show";
  entry.ioBytes = 256;
  addTensors(plan, entry,
             {makeTensor("y", Role::Output, TensorDesc(DType::F32, shape), 0)});
  entry.calls = {makeCall(OpKind::Copy, "copy_f32_v0", {0}, {2})};
  plan.entries = {entry};
  EXPECT_TRUE(verifyPlan(plan).ok()) << verifyPlan(plan).message();
  return plan;
}

TEST(Executor, DerivedStatesFollowEveryWrite) {
  auto made = Executor::create(share(makeDerivedPlan()), createCPUDevice({1}));
  ASSERT_TRUE(made.ok());
  Executor &e = **made;
  alignas(256) float W[64];
  uint16_t halves[64];
  std::fill(W, W + 64, 0.5f);
  ASSERT_TRUE(e.write("W", W, sizeof(W)).ok());
  ASSERT_TRUE(e.read("W.f16", halves, sizeof(halves)).ok());
  EXPECT_EQ(halves[63], 0x3800); // 0.5
  std::fill(W, W + 64, 2.0f);
  ASSERT_TRUE(e.bind("W", W, sizeof(W)).ok());
  ASSERT_TRUE(e.read("W.f16", halves, sizeof(halves)).ok());
  EXPECT_EQ(halves[63], 0x4000); // 2
}

/// What was never written is copied nowhere, and nothing is made of it.
TEST(Executor, WithoutInitializersNothingIsCopied) {
  ExecutorOptions options;
  options.useInitializers = false;
  auto device = std::make_shared<Probe>();
  auto made = Executor::create(share(makeDerivedPlan()), device, options);
  ASSERT_TRUE(made.ok());
  ASSERT_TRUE((*made)->prepare().ok());
  EXPECT_EQ(device->asked.copiesToDevice, 0);
  EXPECT_EQ(device->asked.calls, 0);
  uint16_t halves[64];
  EXPECT_EQ((*made)->read("W.f16", halves, sizeof(halves)).code(),
            StatusCode::NotInitialized);
}

/// Dense tensors are copied as they are; of others the host gets one copy, from
/// which it leaves the pads out, and the device copies rows.
TEST(Executor, ReadsMakeOneCopy) {
  auto device = std::make_shared<Probe>();
  auto made = Executor::create(share(makeDerivedPlan()), device);
  ASSERT_TRUE(made.ok());
  ASSERT_TRUE((*made)->prepare().ok());
  float W[64];
  uint16_t halves[64];
  auto read = [&](const char *name, void *to, uint64_t bytes,
                  MemorySpace space) {
    device->asked = {};
    std::memset(to, 0, bytes);
    EXPECT_TRUE((*made)->read(name, to, bytes, space).ok());
    const Asked &a = device->asked;
    return std::vector<int>{a.copiesToHost, a.copiesOnDevice, a.copies2D};
  };
  EXPECT_EQ(read("W", W, 256, MemorySpace::Host), (std::vector{1, 0, 0}));
  EXPECT_EQ(device->asked.copiedTo, W);
  EXPECT_EQ(read("W", W, 256, MemorySpace::Device), (std::vector{0, 1, 0}));
  EXPECT_EQ(W[63], 1);
  EXPECT_EQ(read("W.f16", halves, 128, MemorySpace::Host),
            (std::vector{1, 0, 0}));
  EXPECT_NE(device->asked.copiedTo, halves);
  EXPECT_EQ(halves[63], 0x3c00); // 1
  EXPECT_EQ(read("W.f16", halves, 128, MemorySpace::Device),
            (std::vector{0, 0, 1}));
  EXPECT_EQ(halves[63], 0x3c00);
}

TEST(Executor, BitsFromTheDeviceAreNotLookedAt) {
  auto made =
      Executor::create(share(makeConstantsPlan()), createCPUDevice({1}));
  ASSERT_TRUE(made.ok());
  const uint8_t bits[5] = {0, 1, 0, 2, 1};
  EXPECT_TRUE((*made)->write("m", bits, 5, MemorySpace::Device).ok());
}

/// All that has no place yet, before anything is allocated.
TEST(Executor, PreparingSaysWhatItNeeds) {
  constexpr uint64_t kPersistent = 2 * 48 + 2 * 12 + 8 + 4, kIO = 60 + 56;
  auto prepare = [](Plan plan, bool isSeparate, bool isBound, uint64_t free) {
    ExecutorOptions options;
    options.separateAllocations = isSeparate;
    auto device = std::make_shared<Probe>();
    device->free = free;
    auto executor = Executor::create(share(std::move(plan)), device, options);
    EXPECT_TRUE(executor.ok());
    alignas(256) float W[12], x[8];
    if (isBound) {
      EXPECT_TRUE((*executor)->bind("W", W, sizeof(W)).ok());
      EXPECT_TRUE((*executor)->bind("predict/x", x, sizeof(x)).ok());
    }
    Status status = (*executor)->prepare();
    EXPECT_EQ(device->asked.allocations.empty(), !status.ok());
    return status.message();
  };
  auto needs = [](uint64_t bytes) {
    return "the plan needs " + std::to_string(bytes) +
           " bytes, the device has 1 free";
  };
  Plan plan = makeTrainPlan();
  EXPECT_EQ(prepare(plan, false, false, 1), needs(kPersistent + kIO + 768));
  EXPECT_EQ(prepare(plan, false, true, 1),
            needs(kPersistent + kIO + 768 - 48 - 32));
  EXPECT_EQ(prepare(plan, true, false, 1), needs(kPersistent + kIO + 108));
  EXPECT_EQ(prepare(plan, true, true, 1),
            needs(kPersistent + kIO + 108 - 48 - 32));
  EXPECT_EQ(prepare(plan, false, false, kPersistent + kIO + 768), "");
  EXPECT_EQ(prepare(plan, false, false, 0), "") << "nobody counts";
  plan.entries[0].tempBytes = UINT64_MAX;
  EXPECT_EQ(prepare(plan, false, false, 1), needs(UINT64_MAX));
}

} // namespace
