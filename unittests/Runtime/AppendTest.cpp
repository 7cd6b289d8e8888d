//===- AppendTest.cpp - entries behind those that a plan has --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Executor.h"
#include "lib/Plan/Extension.h"
#include "unittests/Common/SamplePlans.h"

#include <gtest/gtest.h>

using namespace aicf;
using namespace aicf::test;

namespace {

/// The plan with one of its entries.
Plan only(Plan plan, const char *name) {
  const PlanEntry entry = *plan.findEntry(name);
  plan.entries = {entry};
  return plan;
}

Plan append(const Plan &plan, const Plan &more) {
  StatusOr<Plan> result = appendEntries(plan, more);
  EXPECT_TRUE(result.ok()) << result.status().message();
  if (!result.ok())
    return {};
  EXPECT_TRUE(verifyPlan(*result).ok()) << verifyPlan(*result).message();
  return std::move(*result);
}

std::vector<float> runWide(const Plan &plan) {
  auto executor = Executor::create(std::make_shared<const Plan>(plan),
                                   createCPUDevice({1}));
  Executor &e = **executor;
  std::vector<float> x(16, 2), W(12), y(12);
  for (size_t i = 0; i < W.size(); ++i)
    W[i] = float(i);
  EXPECT_TRUE(e.write("wide/x", x.data(), 64).ok());
  EXPECT_TRUE(e.write("W", W.data(), 48).ok());
  EXPECT_TRUE(e.run("wide").ok());
  EXPECT_TRUE(e.read("wide/y", y.data(), 48).ok());
  return y;
}

TEST(Append, GivesThePlanThatWasSplit) {
  const Plan plan = makeTrainPlan();
  EXPECT_EQ(append(only(plan, "train"), only(plan, "predict")).serialize(),
            plan.serialize());
}

/// "extra" stands before all others in the further plan, and behind them here.
TEST(Append, AddsBuffersThatOnlyTheOtherHas) {
  Plan plan = makeTrainPlan();
  const Plan longer = makeLongerTrainPlan();
  plan.persistentBytes = 5 * 256 + 4; // behind "lr"
  const Plan result = append(plan, only(longer, "wide"));
  ASSERT_EQ(result.entries.size(), 3u);
  EXPECT_EQ(result.persistentBytes, 7u * 256);
  EXPECT_EQ(result.buffers.back().name, "extra");
  EXPECT_EQ(result.buffers.back().offset, 6u * 256);
  EXPECT_EQ(result.values.back().buffer, 6u);
  EXPECT_EQ(result.buffers[0].name, "W");
  EXPECT_EQ(runWide(result), runWide(longer));
  StatusOr<PlanExtension> found = matchExtension(plan, result);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->entries, (std::vector<int64_t>{0, 1, -1}));
}

/// @predict under another name, with a copy of W in 16 bits before all others.
Plan withCopyOfW() {
  Plan plan = only(makeTrainPlan(), "predict");
  plan.entries[0].name = "again";
  SampleTensor copy =
      makeTensor("W.f16", Role::State, TensorDesc(DType::F16, {3, 4}), 6 * 256);
  copy.buffer.derivedFrom = 1;
  for (PlanValue &value : plan.values)
    ++value.buffer;
  plan.buffers.insert(plan.buffers.begin(), copy.buffer);
  plan.values.insert(plan.values.begin(), copy.value);
  plan.values[0].buffer = 0;
  plan.persistentBytes += 256;
  for (PlanValue &value : plan.entries[0].values)
    ++value.buffer;
  for (PlanCall &call : plan.entries[0].calls)
    for (auto *numbers : {&call.ins, &call.outs})
      for (uint32_t &value : *numbers)
        ++value;
  return plan;
}

TEST(Append, DerivesStatesFromTheirSource) {
  Plan more = withCopyOfW();
  const Plan result = append(only(makeTrainPlan(), "predict"), more);
  EXPECT_EQ(result.buffers.back().name, "W.f16");
  EXPECT_EQ(result.buffers.back().derivedFrom, 0);
  more.entries[0].name = "once more";
  EXPECT_EQ(append(result, more).buffers.size(), result.buffers.size());
  more.buffers[0].derivedFrom = 3; // mW has that shape, too
  EXPECT_EQ(appendEntries(result, more).status().code(),
            StatusCode::InvalidArgument);
}

/// Two legal plans may be none together: @train writes W, and not the copy.
TEST(Append, VerifiesWhatComesOut) {
  Status status =
      appendEntries(only(makeTrainPlan(), "train"), withCopyOfW()).status();
  EXPECT_EQ(status.code(), StatusCode::InvalidPlan);
  EXPECT_NE(status.message().find("[BufferDerived]"), std::string::npos)
      << status.message();
}

/// A workspace is a buffer, and has no value.
TEST(Append, RenumbersWorkspaces) {
  const Plan plan = withKernelsOf(makeTrainPlan(), DeviceKind::CUDA);
  size_t seen = 0;
  for (const auto &[name, more] : samplePlans()) {
    const PlanCall &call = more.entries[0].calls[0];
    if (more.device != plan.device || call.workspace < 0)
      continue;
    ++seen;
    const Plan result = append(plan, more);
    ASSERT_EQ(result.entries.size(), 2 + more.entries.size()) << name;
    const PlanEntry &entry = result.entries[2];
    EXPECT_EQ(result.buffer(entry, uint32_t(entry.calls[0].workspace)).role,
              Role::Workspace)
        << name;
  }
  EXPECT_GT(seen, 0u);
}

TEST(Append, RefusesWhatIsAnotherTensor) {
  const Plan plan = only(makeTrainPlan(), "train");
  auto refuse = [&](auto change, const char *why) {
    Plan more = only(makeTrainPlan(), "predict");
    change(more);
    Status status = appendEntries(plan, more).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << why;
    EXPECT_NE(status.message().find(why), std::string::npos)
        << status.message();
  };
  const char *another = "\"W\" is another tensor in the further entries";
  refuse([](Plan &p) { p.buffers[0].role = Role::State; }, another);
  refuse([](Plan &p) { p.buffers[0].init = InitKind::Ones; }, another);
  refuse([](Plan &p) { p.buffers[0].initValue = 2; }, another);
  refuse([](Plan &p) { p.buffers[0].data.bytes = {1}; }, another);
  refuse([](Plan &p) { p.buffers[0].derivedFrom = 1; }, another);
  refuse([](Plan &p) { p.values[0].desc = TensorDesc(DType::F32, {4, 3}); },
         another);
  refuse([](Plan &p) { p.device = DeviceKind::CUDA; },
         "the plan is for cpu, but its further entries for cuda");
  refuse([](Plan &p) { p.entries[0].name = "train"; },
         "the plan has an entry \"train\"");
}

} // namespace
