//===- ExtendTest.cpp - an executor goes on with a longer plan ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Executor.h"
#include "lib/Plan/CallFacts.h"
#include "lib/Plan/Extension.h"
#include "unittests/Common/SamplePlans.h"

#include <gtest/gtest.h>

#include <map>

using namespace aicf;
using namespace aicf::test;

namespace {

std::shared_ptr<const Plan> share(Plan plan) {
  EXPECT_TRUE(verifyPlan(plan).ok()) << verifyPlan(plan).message();
  return std::make_shared<const Plan>(std::move(plan));
}

void writeInputs(Executor &e) {
  float x[8] = {1, -2, 3, 0.5f, -1, 2, 0.25f, 1}, t[6] = {1, 0, 0, 0, 1, 0};
  float lr = 0.1f;
  EXPECT_TRUE(e.write("train/x", x, sizeof(x)).ok());
  EXPECT_TRUE(e.write("predict/x", x, sizeof(x)).ok());
  EXPECT_TRUE(e.write("t", t, sizeof(t)).ok());
  EXPECT_TRUE(e.write("lr", &lr, sizeof(lr)).ok());
}

std::unique_ptr<Executor> makeTrainer(ExecutorOptions options = {}) {
  auto executor =
      Executor::create(share(makeTrainPlan()), createCPUDevice({1}), options);
  EXPECT_TRUE(executor.ok()) << executor.status().toString();
  return std::move(*executor);
}

std::vector<float> readAll(Executor &e, const char *name) {
  std::vector<float> values(e.find(name)->desc.elements());
  Status read = e.read(name, values.data(), values.size() * sizeof(float));
  EXPECT_TRUE(read.ok()) << name << ": " << read.toString();
  return values;
}

/// Of what has a name: temps may move.
std::map<std::string, const void *> addresses(const Executor &e) {
  std::map<std::string, const void *> found;
  for (const SlotInfo &slot : e.slots())
    if (slot.entry != "wide" && slot.name != "extra" && !slot.name.empty())
      found[slot.entry + "/" + slot.name] = slot.pointer;
  return found;
}

/// Of the largest entry.
uint64_t tempBytesOf(const Plan &plan) {
  uint64_t most = 0;
  for (const PlanEntry &entry : plan.entries)
    most = std::max(most, entry.tempBytes);
  return most;
}

TEST(Extend, KeepsValuesAddressesAndGraphs) {
  auto executor = makeTrainer(), reference = makeTrainer();
  Executor &e = *executor;
  alignas(256) float bound[12];
  for (int i = 0; i < 12; ++i)
    bound[i] = 0.1f * float(i);
  ASSERT_TRUE(reference->write("W", bound, sizeof(bound)).ok());
  ASSERT_TRUE(e.bind("W", bound, sizeof(bound)).ok());
  writeInputs(e);
  writeInputs(*reference);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(e.run(GraphKey{"train"}).ok());
    ASSERT_TRUE(reference->run("train").ok());
  }
  auto before = addresses(e);
  uint64_t persistent = e.statistics().persistentBytes;
  Status status = e.extend(share(makeLongerTrainPlan()));
  ASSERT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(addresses(e), before);
  EXPECT_EQ(e.statistics().persistentBytes, persistent + 256);
  EXPECT_EQ(readAll(e, "loss"), readAll(*reference, "loss"));
  EXPECT_TRUE(e.replay("train").ok()) << "it is captured anew";
  ASSERT_TRUE(e.run("train").ok());
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(reference->run("train").ok());
  EXPECT_EQ(e.statistics().captures, 2u) << "the new entry has more temps";
  EXPECT_EQ(e.statistics().tempBytes, tempBytesOf(e.plan()));
  for (const char *name : {"W", "b", "mW", "mb", "loss"})
    EXPECT_EQ(readAll(e, name), readAll(*reference, name)) << name;
  EXPECT_EQ(readAll(e, "W"), std::vector<float>(bound, bound + 12));

  // The new entry sees the trained parameters, and its own param is there.
  EXPECT_EQ(e.run("wide").code(), StatusCode::NotInitialized);
  float x[16] = {1, -2, 3, 0.5f, -1, 2, 0.25f, 1};
  ASSERT_TRUE(e.write("wide/x", x, sizeof(x)).ok());
  ASSERT_TRUE(e.run(GraphKey{"wide"}).ok());
  ASSERT_TRUE(reference->run("predict").ok());
  std::vector<float> wide = readAll(e, "wide/y"),
                     narrow = readAll(*reference, "y");
  for (size_t i = 0; i < narrow.size(); ++i)
    EXPECT_FLOAT_EQ(wide[i], narrow[i] + 1);
  ASSERT_TRUE(e.resetState().ok());
  EXPECT_EQ(readAll(e, "extra"), std::vector<float>(12, 1));
}

/// The plan with `numMore` entries "train<i>", whose temps are larger by
/// `bytes` each time.
Plan withLargerEntries(int numMore, uint64_t bytes) {
  Plan plan = makeTrainPlan();
  const PlanEntry train = plan.entries[0];
  for (int i = 1; i <= numMore; ++i) {
    PlanEntry entry = train;
    entry.name = "train" + std::to_string(i);
    entry.tempBytes += uint64_t(i) * bytes;
    plan.entries.push_back(std::move(entry));
  }
  return plan;
}

TEST(Extend, TempsOfAllEntriesAreThoseOfTheLargest) {
  auto executor = makeTrainer(), reference = makeTrainer();
  Executor &e = *executor;
  writeInputs(e);
  writeInputs(*reference);
  ASSERT_TRUE(e.run(GraphKey{"train"}).ok());
  ASSERT_TRUE(reference->run("train").ok());
  for (int more = 1; more <= 4; ++more) {
    ASSERT_TRUE(e.extend(share(withLargerEntries(more, 4096))).ok());
    EXPECT_EQ(e.statistics().tempBytes, tempBytesOf(e.plan())) << more;
    // A graph and an eager run, of an entry that was there before.
    ASSERT_TRUE(e.replay("train").ok());
    ASSERT_TRUE(e.run("train").ok());
    for (int i = 0; i < 2; ++i)
      ASSERT_TRUE(reference->run("train").ok());
    EXPECT_EQ(readAll(e, "W"), readAll(*reference, "W")) << more;
  }
  const uint64_t captures = e.statistics().captures;
  ASSERT_TRUE(e.extend(share(withLargerEntries(5, 256))).ok());
  ASSERT_TRUE(e.replay("train").ok());
  EXPECT_EQ(e.statistics().captures, captures)
      << "no more temps: nothing moves";
}

TEST(Extend, InEveryMode) {
  for (int mode = 0; mode < 5; ++mode) {
    ExecutorOptions options;
    options.separateAllocations = mode == 1;
    options.poison = mode == 2;
    options.canary = mode == 3;
    options.isWarmup = mode == 4;
    auto executor = makeTrainer(options), reference = makeTrainer(options);
    Executor &e = *executor;
    writeInputs(e);
    writeInputs(*reference);
    ASSERT_TRUE(e.run("train").ok());
    ASSERT_TRUE(reference->run("train").ok());
    Status status = e.extend(share(makeLongerTrainPlan()));
    ASSERT_TRUE(status.ok()) << status.toString();
    ASSERT_TRUE(e.run("train").ok());
    ASSERT_TRUE(reference->run("train").ok());
    float x[16] = {1};
    ASSERT_TRUE(e.write("wide/x", x, sizeof(x)).ok());
    ASSERT_TRUE(e.run("wide").ok());
    EXPECT_EQ(readAll(e, "W"), readAll(*reference, "W")) << mode;
    EXPECT_EQ(readAll(e, "loss"), readAll(*reference, "loss")) << mode;
  }
}

/// Entries have other numbers in the new plan.
TEST(Extend, TracesAreOfTheNewPlan) {
  auto executor = makeTrainer();
  Executor &e = *executor;
  writeInputs(e);
  ASSERT_TRUE(e.enableTrace(true).ok());
  ASSERT_TRUE(e.run("train").ok());
  size_t before = e.trace().size();
  Plan longer = makeLongerTrainPlan();
  ASSERT_TRUE(e.extend(share(longer)).ok());
  float x[16] = {1};
  ASSERT_TRUE(e.write("wide/x", x, sizeof(x)).ok());
  ASSERT_TRUE(e.run("wide").ok());
  ASSERT_TRUE(e.run("train").ok());
  std::map<std::string, std::vector<uint64_t>> expected;
  for (const PlanEntry &entry : longer.entries)
    expected[entry.name] = bytesAlive(longer, entry);
  ASSERT_GT(e.trace().size(), before);
  for (size_t i = before; i < e.trace().size(); ++i) {
    const TraceRecord &record = e.trace()[i];
    EXPECT_EQ(record.bytesAlive,
              expected.at(record.entry).at(size_t(record.call)))
        << record.entry << " " << record.call;
  }
}

/// Before prepare() only what is bound is there to be kept.
TEST(Extend, BeforeItIsPrepared) {
  auto executor = makeTrainer();
  alignas(256) float bound[12] = {3};
  ASSERT_TRUE(executor->bind("W", bound, sizeof(bound)).ok());
  ASSERT_TRUE(executor->extend(share(makeLongerTrainPlan())).ok());
  EXPECT_EQ(executor->statistics().persistentBytes, 0u);
  writeInputs(*executor);
  ASSERT_TRUE(executor->run("train").ok());
  EXPECT_EQ(readAll(*executor, "W"), std::vector<float>(bound, bound + 12));
  EXPECT_EQ(executor->statistics().persistentBytes, 6 * 256u);
}

/// An entry that runs other calls now is prepared anew, and its graph goes. Its
/// inputs and outputs are where they were, bound or not.
TEST(Extend, WhatChangedIsPreparedAnew) {
  auto executor = makeTrainer();
  Executor &e = *executor;
  alignas(256) float x[8] = {1, 2}, bound[6] = {};
  writeInputs(e);
  ASSERT_TRUE(e.bind("predict/x", x, sizeof(x)).ok());
  ASSERT_TRUE(e.bind("predict/y", bound, sizeof(bound)).ok());
  ASSERT_TRUE(e.run(GraphKey{"train"}).ok());
  ASSERT_TRUE(e.run(GraphKey{"predict"}).ok());
  float before[6];
  std::copy(bound, bound + 6, before);
  Plan longer = makeLongerTrainPlan();
  longer.entries[2].calls.pop_back(); // without the bias
  ASSERT_TRUE(e.extend(share(longer)).ok());
  EXPECT_TRUE(e.replay("train").ok());
  EXPECT_EQ(e.replay("predict").code(), StatusCode::FailedState);
  std::vector<float> y = readAll(e, "predict/y"); // of the last run
  EXPECT_EQ(y, std::vector<float>(before, before + 6));
  x[0] = 5;
  ASSERT_TRUE(e.run("predict").ok());
  EXPECT_NE(bound[0], before[0]) << "the caller's memory, as before";
}

/// Of an entry that has another output now, nothing can be read before it ran.
TEST(Extend, NewOutputsHaveNoValue) {
  auto executor = makeTrainer();
  Executor &e = *executor;
  writeInputs(e);
  ASSERT_TRUE(e.run("predict").ok());
  Plan longer = makeLongerTrainPlan();
  longer.entries[2].buffers[1].name = "z";
  ASSERT_TRUE(e.extend(share(longer)).ok());
  float z[6];
  EXPECT_EQ(e.read("predict/z", z, sizeof(z)).code(),
            StatusCode::NotInitialized);
  EXPECT_TRUE(e.run("predict").ok()) << "its input is as it was written";
}

/// A derived state that comes later is the cast of what its source is by then.
TEST(Extend, DerivedStatesFollowTheirSource) {
  Plan plan = makeTrainPlan();
  plan.entries.erase(plan.entries.begin()); // only @predict
  auto executor = Executor::create(share(plan), createCPUDevice({1}));
  ASSERT_TRUE(executor.ok());
  Executor &e = **executor;
  std::vector<float> W(12, 0.5f);
  ASSERT_TRUE(e.write("W", W.data(), 48).ok());
  Plan longer = plan;
  SampleTensor copy = makeTensor(
      "W.f16", Role::State, TensorDesc(DType::F16, plan.values[0].desc.shape()),
      longer.persistentBytes);
  copy.buffer.derivedFrom = 0;
  longer.persistentBytes += 256;
  addTensor(longer, copy);
  for (PlanValue &value : longer.entries[0].values)
    ++value.buffer;
  for (PlanCall &call : longer.entries[0].calls)
    for (auto *numbers : {&call.ins, &call.outs})
      for (uint32_t &value : *numbers)
        value += value >= plan.values.size();
  ASSERT_TRUE(e.extend(share(longer)).ok());
  std::vector<uint16_t> halves(12);
  ASSERT_TRUE(e.read("W.f16", halves.data(), 24).ok());
  EXPECT_EQ(halves, std::vector<uint16_t>(12, 0x3800)); // 0.5
  ASSERT_TRUE(e.extend(share(plan)).ok()) << "a derived state may go";
  EXPECT_EQ(readAll(e, "W"), W);
  Plan other = longer; // the same state, of another source
  other.buffers.back().derivedFrom = 2;
  StatusOr<PlanExtension> found = matchExtension(longer, other);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->persistent.back(), -1);
}

/// relu from one tensor to another, under the names `from` and `to`.
Plan makeReluPlan(const char *from, const char *to, int64_t size,
                  Plan plan = {}) {
  auto first = uint32_t(plan.values.size());
  const TensorDesc desc(DType::F32, {size});
  PlanEntry entry;
  entry.name = "e";
  entry.ioBytes = 512;
  addTensors(plan, entry, {makeTensor(from, Role::Input, desc, 0),
                           makeTensor(to, Role::Output, desc, 256)});
  entry.calls = {makeCall(OpKind::Relu, "relu_f32_v0", {first}, {first + 1})};
  plan.entries = {entry};
  return plan;
}

TEST(Extend, ValuesOfAnotherTypeMakeAnotherEntry) {
  const Plan plan = makeReluPlan("a", "b", 8);
  EXPECT_EQ(matchExtension(plan, plan)->entries[0], 0);
  Plan next = plan; // the same bytes
  for (PlanValue &value : next.entries[0].values)
    value.desc = TensorDesc(DType::F32, {2, 4});
  EXPECT_EQ(matchExtension(plan, next)->entries[0], -1);
}

/// An entry that changed has the caller's memory where it has the same input.
TEST(Extend, OtherInputsAndOutputsHaveTheirOwnMemory) {
  alignas(256) float bound[16];
  const std::vector<float> ones(16, 1);
  const Plan plan = makeReluPlan("a", "b", 8);
  for (const Plan &next :
       {makeReluPlan("b", "a", 8), makeReluPlan("a", "b", 16),
        makeReluPlan("c", "b", 8)}) {
    auto made = Executor::create(share(plan), createCPUDevice({1}));
    Executor &e = **made;
    std::fill(bound, bound + 16, -3.0f);
    ASSERT_TRUE(e.bind("a", bound, 32).ok());
    ASSERT_TRUE(e.run("e").ok());
    ASSERT_TRUE(e.extend(share(next)).ok());
    EXPECT_EQ(e.run("e").code(), StatusCode::NotInitialized);
    TensorInfo input = next.tensor(next.entries[0], 0);
    TensorInfo output = next.tensor(next.entries[0], 1);
    ASSERT_TRUE(
        e.write(input.name, ones.data(), input.desc.spanBytes()).ok());
    ASSERT_TRUE(e.run("e").ok());
    EXPECT_EQ(readAll(e, output.name.c_str()),
              std::vector<float>(ones.begin(),
                                 ones.begin() + output.desc.elements()));
    EXPECT_EQ(std::vector<float>(bound, bound + 16),
              std::vector<float>(16, -3.0f));
  }
}

TEST(Extend, TempsOfWhatChangedStayApart) {
  auto executor = makeTrainer();
  writeInputs(*executor);
  ASSERT_TRUE(executor->run("train").ok());
  Plan changed = makeTrainPlan();
  changed.entries[0].calls.pop_back();
  ASSERT_TRUE(executor->extend(share(changed)).ok());
  std::vector<SlotInfo> slots = executor->slots();
  for (size_t i = 9; i < 13; ++i)
    EXPECT_EQ(static_cast<const char *>(slots[i].pointer) -
                  static_cast<const char *>(slots[9].pointer),
              int64_t(changed.entries[0].buffers[i - 6].offset))
        << i;
}

TEST(Extend, GraphsOfWhatChangedTakeNoRoom) {
  ExecutorOptions options;
  options.maxCachedGraphs = 2;
  auto executor = makeTrainer(options);
  writeInputs(*executor);
  ASSERT_TRUE(executor->run(GraphKey{"train"}).ok());
  ASSERT_TRUE(executor->run(GraphKey{"predict"}).ok());
  Plan changed = makeTrainPlan();
  changed.entries[1].calls.pop_back();
  ASSERT_TRUE(executor->extend(share(changed)).ok());
  ASSERT_TRUE(executor->run(GraphKey{"train", 2}).ok());
  EXPECT_TRUE(executor->replay("train").ok());
}

/// A derived state may stand before its source.
TEST(Extend, NewDerivedStatesFollowTheirNewSource) {
  auto made =
      Executor::create(share(makeReluPlan("a", "b", 8)), createCPUDevice({1}));
  Executor &e = **made;
  ASSERT_TRUE(e.prepare().ok());
  Plan next;
  next.persistentBytes = 512;
  addTensors(next,
             {makeTensor("h", Role::State, TensorDesc(DType::F16, {4}), 0),
              makeTensor("W", Role::Param, TensorDesc(DType::F32, {4}), 256)});
  next.buffers[0].derivedFrom = 1;
  next.buffers[1].init = InitKind::Ones;
  ASSERT_TRUE(e.extend(share(makeReluPlan("a", "b", 8, next))).ok());
  uint16_t halves[4] = {};
  ASSERT_TRUE(e.read("h", halves, sizeof(halves)).ok());
  EXPECT_EQ(halves[3], 0x3c00); // 1
}

/// Constants are the plan's: a plan to go on with may have others, under the
/// same name, too.
TEST(Extend, BringsItsConstants) {
  auto made = Executor::create(share(makeConstantsPlan()),
                               createCPUDevice({1}));
  ASSERT_TRUE(made.ok());
  Executor &e = **made;
  const std::vector<float> ones(6, 1);
  const uint8_t bits[5] = {0, 0, 1, 1, 1};
  auto run = [&] {
    EXPECT_TRUE(e.write("x", ones.data(), 24).ok());
    EXPECT_TRUE(e.write("m", bits, sizeof(bits)).ok());
    EXPECT_TRUE(e.run("use").ok());
    return readAll(e, "y");
  };
  EXPECT_EQ(run(), (std::vector<float>{2, -1, 4, 1.5, 1, 9}));
  Plan other = makeConstantsPlan();
  std::vector<uint8_t> &table = other.buffers[0].data.bytes;
  std::fill(table.begin(), table.end(), uint8_t(0));
  StatusOr<PlanExtension> found = matchExtension(makeConstantsPlan(), other);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->persistent, (std::vector<int64_t>{-1, 1, 2}));
  ASSERT_TRUE(e.extend(share(other)).ok());
  EXPECT_EQ(run(), ones);
  other.buffers[0].name = "zeros";
  ASSERT_TRUE(e.extend(share(other)).ok()) << "a constant may go";
  EXPECT_EQ(run(), ones);
}

TEST(Extend, RefusesWhatLacksSomething) {
  auto executor = makeTrainer();
  Executor &e = *executor;
  writeInputs(e);
  ASSERT_TRUE(e.run(GraphKey{"train"}).ok());
  std::vector<float> W = readAll(e, "W");
  auto refused = [&](Plan plan, const char *why) {
    Status status = e.extend(std::make_shared<const Plan>(std::move(plan)));
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << why;
    EXPECT_NE(status.message().find(why), std::string::npos)
        << status.message();
  };
  Plan plan = makeLongerTrainPlan();
  plan.entries.erase(plan.entries.begin() + 1);
  refused(plan, "has no entry \"train\"");
  plan = makeLongerTrainPlan();
  plan.buffers[1].name = "V";
  refused(plan, "has no \"W\"");
  plan = makeLongerTrainPlan();
  retype(plan.buffers[1], plan.values[1], TensorDesc(DType::F32, {2, 4}));
  refused(plan, "\"W\" is a param of 3x4xf32, but in the new plan it is a "
                "param of 2x4xf32");
  plan = makeLongerTrainPlan();
  plan.buffers[1].role = Role::State;
  refused(plan, "in the new plan it is a state of 3x4xf32");
  plan = makeLongerTrainPlan();
  plan.device = DeviceKind::CUDA;
  refused(plan, "the plan is for cpu, but the new plan is for cuda");
  EXPECT_EQ(e.extend(nullptr).code(), StatusCode::InvalidArgument);
  EXPECT_TRUE(e.replay("train").ok());
  EXPECT_NE(readAll(e, "W"), W);
}

/// Everything that a run could tell is compared; a plan goes on as itself.
TEST(Extend, MatchesEntriesByWhatTheyRun) {
  Plan plan = makeTrainPlan();
  StatusOr<PlanExtension> same = matchExtension(plan, plan);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->entries, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(same->persistent, (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
  auto differs = [&](const char *what, auto change) {
    Plan other = plan;
    change(other.entries[0]);
    StatusOr<PlanExtension> found = matchExtension(plan, other);
    ASSERT_TRUE(found.ok()) << what;
    EXPECT_EQ(found->entries, (std::vector<int64_t>{-1, 1})) << what;
  };
  differs("a call less", [](PlanEntry &e) { e.calls.pop_back(); });
  differs("a buffer more",
          [](PlanEntry &e) { e.buffers.push_back(e.buffers[0]); });
  differs("a value more",
          [](PlanEntry &e) { e.values.push_back(e.values[0]); });
  differs("a value elsewhere", [](PlanEntry &e) { e.values[3].buffer = 10; });
  differs("io", [](PlanEntry &e) { e.ioBytes += 256; });
  differs("temp", [](PlanEntry &e) { e.tempBytes += 256; });
  differs("batches", [](PlanEntry &e) { e.accumulate = 2; });
  differs("an offset", [](PlanEntry &e) { e.buffers[3].offset = 512; });
  differs("a name", [](PlanEntry &e) { e.buffers[0].name = "z"; });
  differs("a kernel", [](PlanEntry &e) { e.calls[0].kid = "other"; });
  differs("an operand", [](PlanEntry &e) { e.calls[1].ins[1] = 3; });
  differs("a result", [](PlanEntry &e) { e.calls[0].outs[0] = 10; });
  differs("a workspace", [](PlanEntry &e) { e.calls[0].workspace = 10; });
  differs("its size", [](PlanEntry &e) { e.calls[0].workspaceBytes = 4; });
  differs("a stream", [](PlanEntry &e) { e.calls[0].stream = 1; });
  differs("a wait", [](PlanEntry &e) { e.calls[0].waits = {1}; });
  differs("an attribute", [](PlanEntry &e) {
    setBody(e.calls[0], [](Body &b) { b.primitives[0].attrs[0] ^= 1; });
  });
  Plan labels = plan;
  labels.entries[0].values[3].vid = 77;
  labels.entries[0].calls[0].vids = {77};
  labels.entries[0].calls[0].location = "elsewhere";
  EXPECT_EQ(matchExtension(plan, labels)->entries,
            (std::vector<int64_t>{0, 1}));
}

} // namespace
