//===- PreparedEntryTest.cpp - what is worked out before a run ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Executor.h"
#include "lib/Runtime/IO/Initializers.h"
#include "lib/Runtime/IndexCheck.h"
#include "lib/Runtime/PreparedEntry.h"
#include "lib/Runtime/Tracer.h"
#include "unittests/Common/SamplePlans.h"
#include "unittests/Runtime/Probe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace aicf;
using namespace aicf::test;

namespace {

/// Each once, in the order of the first read.
TEST(PreparedEntry, SaysWhatARunReadsAndWrites) {
  Plan plan = makeTrainPlan();
  PreparedEntry train;
  addTensor(plan, plan.entries[0],
            makeTensor("", Role::Temp, TensorDesc(DType::F32, {}), 0));
  train.calls.resize(1 + 9);
  train.firstPlanCall = 1;
  ASSERT_TRUE(describeEntry(plan, 0, train).ok());
  EXPECT_EQ(train.readBuffers,
            (std::vector<uint32_t>{6, 0, 1, 7, 4, 5, 2, 3}));
  EXPECT_EQ(train.writtenBuffers, (std::vector<uint32_t>{0, 1, 2, 3, 4}));
  std::vector<std::vector<uint32_t>> dies(1 + 9);
  dies[1 + 3] = {9};
  dies[1 + 5] = {10};
  dies[1 + 7] = {11};
  dies[1 + 8] = {12};
  EXPECT_EQ(train.diesAfter, dies) << "one that no call has never dies";
}

/// A state of two rows that an entry writes by rows, and reads.
TEST(PreparedEntry, KnowsPartsOfBuffers) {
  for (int mode = 0; mode < 3; ++mode) {
    Plan plan;
    const TensorDesc row(DType::F32, {4}), whole(DType::F32, {2, 4});
    addTensors(plan, {makeTensor("s", Role::State, whole, 0)});
    PlanEntry entry;
    entry.name = "e";
    addTensors(plan, entry,
               {makeTensor("x", Role::Input, row, 0),        // 1
                makeTensor("y", Role::Output, whole, 256)}); // 2
    entry.values.push_back({0, 0, row});                     // 3
    entry.values.push_back({0, 16, row});                    // 4
    entry.calls = {makeCall(OpKind::Relu, "relu_f32_v0", {1}, {3})};
    if (mode > 0)
      entry.calls.push_back(makeCall(OpKind::Relu, "relu_f32_v0", {0}, {2}));
    if (mode > 1)
      entry.calls.insert(entry.calls.begin(),
                         makeCall(OpKind::Relu, "relu_f32_v0", {1}, {4}));
    plan.entries = {entry};
    PreparedEntry prepared;
    ASSERT_TRUE(describeEntry(plan, 0, prepared).ok());
    std::vector<uint32_t> reads = {1}, writes;
    if (mode == 1)
      reads.push_back(0); // the other row
    if (mode == 2)
      writes = {0};
    EXPECT_EQ(prepared.readBuffers, reads) << mode;
    EXPECT_EQ(prepared.writtenBuffers, writes) << mode;
  }
}

/// Of an embedding by what a cast makes: the index has no memory, and the table
/// is none.
TEST(IndexCheck, LooksAtNothingButIndices) {
  auto device = createCPUDevice({1});
  auto stream = device->createStream();
  float table[6] = {-1, 7, -3, 9, -1, 8}, rows[2];
  int64_t index = 1;
  auto body = std::make_shared<Body>();
  body->numOperands = 2;
  body->primitives = {{OpKind::Cast, {}, {0}},
                      {OpKind::Embedding, {}, {1, 2}}};
  body->results = {3};
  const KernelRow &row = *findKernel(DeviceKind::CPU, "relu_f32_v0");
  TensorView from(&index, TensorDesc(DType::I64, {1})),
      all(table, TensorDesc(DType::F32, {3, 2})),
      to(nullptr, TensorDesc(DType::I32, {1})),
      out(rows, TensorDesc(DType::F32, {1, 2}));
  Status status = checkIndices(
      *device, **stream, ResolvedCall(row, {body, {from, all, to, out}}, {}),
      "e");
  EXPECT_TRUE(status.ok()) << status.toString();
  body->primitives.erase(body->primitives.begin());
  body->primitives[0].operands = {1, 0};
  body->results = {2};
  auto check = [&] {
    return checkIndices(*device, **stream,
                        ResolvedCall(row, {body, {from, all, out}}, {}), "e");
  };
  EXPECT_TRUE(check().ok()) << check().toString();
  index = 3;
  EXPECT_EQ(check().code(), StatusCode::InvalidArgument);
}

TEST(Tracer, WorksOutAnEntryOnceForEachPlan) {
  Plan plan = makeTrainPlan(), other = makeTrainPlan();
  auto call = [&] {
    ResolvedCall made(*findKernel(DeviceKind::CPU, "relu_f32_v0"),
                      {plan.entries[0].calls[3].body, {{}, {}, {}}}, {});
    made.tag = 3;
    return made;
  }();
  Tracer tracer;
  tracer.enable(true);
  auto bytesAlive = [&](const Plan &plan) {
    tracer.addCall(plan, 0, call, 0, 0);
    return tracer.trace().back().bytesAlive;
  };
  uint64_t first = bytesAlive(plan);
  for (PlanBuffer &buffer : plan.entries[0].buffers)
    buffer.bytes *= 2;
  for (PlanBuffer &buffer : other.entries[0].buffers)
    buffer.bytes *= 3;
  EXPECT_EQ(bytesAlive(plan), first) << "not worked out anew";
  tracer.changePlan();
  EXPECT_EQ(bytesAlive(other), 3 * first) << "another plan";
  tracer.enable(true);
  EXPECT_EQ(bytesAlive(plan), 2 * first) << "another trace";
}

/// Where a device times calls, they follow one another; else each has the
/// launch's times.
TEST(Tracer, PlacesTheCallsOfALaunch) {
  struct TwoCalls : Graph {
    ResolvedCall made;
    size_t numCalls() const override { return 2; }
    const ResolvedCall &call(size_t) const override { return made; }
    size_t numNodes() const override { return 2; }
  } graph;
  Plan plan = makeTrainPlan();
  graph.made = ResolvedCall(*findKernel(DeviceKind::CPU, "relu_f32_v0"),
                            {plan.entries[0].calls[3].body, {{}, {}, {}}}, {});
  Tracer tracer;
  tracer.enable(true);
  tracer.addLaunch(plan, 0, graph, 10, {7, {3, 4}});
  tracer.addLaunch(plan, 0, graph, 20, {7, {}});
  std::vector<double> starts, micros;
  std::vector<bool> isWhole;
  for (const TraceRecord &record : tracer.trace()) {
    starts.push_back(record.startMicros);
    micros.push_back(record.micros);
    isWhole.push_back(record.isWholeLaunch);
  }
  EXPECT_EQ(starts, (std::vector<double>{10, 13, 20, 20}));
  EXPECT_EQ(micros, (std::vector<double>{3, 4, 7, 7}));
  EXPECT_EQ(isWhole, (std::vector<bool>{false, false, true, true}));
}

TEST(Initializers, FollowTheirDistribution) {
  Plan plan = makeInitPlan();
  auto floats = [&](size_t i, uint64_t seed) {
    std::vector<uint8_t> bytes =
        initialValue(plan.tensor({}, uint32_t(i)), seed);
    std::vector<float> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  };
  std::vector<float> uniform = floats(3, 1), normal = floats(4, 1);
  double mean = 0, square = 0;
  for (float v : uniform)
    EXPECT_LT(std::fabs(v), 0.25f) << "1/sqrt(16)";
  for (float v : normal) {
    mean += v / 256;
    square += v * v / 256;
  }
  EXPECT_NEAR(mean, 0, 0.15);
  EXPECT_NEAR(std::sqrt(square), 0.5, 0.1);
  double ofNeighbours = 0; // who come from the same random words
  for (size_t i = 0; i < 256; i += 2)
    ofNeighbours += normal[i] * normal[i + 1] / 128;
  EXPECT_NEAR(ofNeighbours, 0, 0.05);
  EXPECT_EQ(floats(3, 1), uniform);
  EXPECT_NE(floats(3, 2), uniform);
  std::vector<uint8_t> constant = initialValue(plan.tensor({}, 2), 0);
  int32_t first = 0;
  std::memcpy(&first, constant.data(), 4);
  EXPECT_EQ(first, -7);
  EXPECT_EQ(initialValue(plan.tensor({}, 1), 0)[1], 0x3c); // 1.0 as f16
  EXPECT_EQ(initialValue(plan.tensor({}, 5), 0)[1], 0x3f); // 1.5 as bf16
}

/// A graph is of no thread and no number of threads.
TEST(CPUGraph, RunsOnAStreamOfMoreThreads) {
  auto recorder = createCPUDevice({1}), runner = createCPUDevice({2});
  auto from = recorder->createStream(), to = runner->createStream();
  float x = -1, y = 5;
  TensorView in{&x, TensorDesc(DType::F32, {1})}, out{&y, in.desc};
  ASSERT_TRUE((*from)->beginCapture().ok());
  Status status = opCall(*recorder, OpKind::Relu, {in}, {out}, 0, {}, **from);
  ASSERT_TRUE(status.ok()) << status.toString();
  auto graph = (*from)->endCapture();
  ASSERT_TRUE(graph.ok()) << graph.status().toString();
  ASSERT_TRUE((*to)->launch(**graph).ok());
  EXPECT_EQ(y, 0);
}

/// Programs that were written for the former names do what they did.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(FormerNames, DoWhatTheNewOnesDo) {
  auto device = createCPUDevice({1});
  auto stream = graph_stream(*device);
  float x = -1, y = 5;
  TensorView in{&x, TensorDesc(DType::F32, {1})}, out{&y, in.desc};
  ASSERT_TRUE(graph_begin(**stream).ok());
  EXPECT_TRUE(
      op_call(*device, OpKind::Relu, {in}, {out}, 0, {}, **stream).ok());
  auto graph = graph_end(**stream);
  ASSERT_TRUE(graph.ok()) << graph.status().toString();
  ASSERT_TRUE(graph_launch(**graph, **stream).ok());
  EXPECT_EQ(y, 0);
  graph_reset(*graph);
  EXPECT_FALSE(*graph);

  std::unique_ptr<Executor> executor = makeTrainer();
  EXPECT_TRUE(executor->trace_enable(true).ok());
  EXPECT_EQ(&executor->trace_get(), &executor->trace());
  EXPECT_TRUE(executor->check_read("W", "train").ok());
  EXPECT_TRUE(executor->reset_state().ok());
  EXPECT_TRUE(executor->reset_graphs().ok());
  EXPECT_EQ(executor->native_stream(), executor->nativeStream());
}
#pragma GCC diagnostic pop

} // namespace
