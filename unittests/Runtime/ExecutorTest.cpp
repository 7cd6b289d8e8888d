//===- ExecutorTest.cpp - entries run as they should ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Over plans built by hand. Against NumPy and finite differences: test/python.
//===----------------------------------------------------------------------===//

#include "aicf/Executor.h"
#include "lib/Runtime/CallArgs.h"
#include "lib/Runtime/IO/Initializers.h"
#include "lib/Runtime/IndexCheck.h"
#include "lib/Runtime/PreparedEntry.h"
#include "lib/Runtime/Tracer.h"
#include "unittests/Common/Allocations.h"
#include "unittests/Common/SamplePlans.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <utility>

using namespace aicf;
using namespace aicf::test;

namespace {

std::shared_ptr<const Plan> share(Plan plan) {
  return std::make_shared<const Plan>(std::move(plan));
}

/// What an executor asked of a Probe.
struct Asked {
  std::vector<uint64_t> allocations; ///< bytes of each
  int copiesToDevice = 0, copiesToHost = 0, copiesOnDevice = 0, copies2D = 0;
  int fills = 0, forks = 0, waits = 0, calls = 0;
  const void *copiedTo = nullptr; ///< by the last copy to the host
};

/// A CPU device that counts what it is asked, calls back in the middle of it,
/// and fails on demand.
struct Probe : Device {
  std::shared_ptr<Device> inner = createCPUDevice({1});
  std::function<void()> onAllocate;
  Asked asked;
  uint64_t free = 0;
  int callsToRefuse = 0, capturesToSpoil = 0;
  std::vector<const void *> workspaces; ///< of the calls that it prepared

  struct ProbeStream : Stream {
    ProbeStream(Probe &probe, std::unique_ptr<Stream> inner)
        : probe(probe), inner(std::move(inner)) {}
    Probe &probe;
    std::unique_ptr<Stream> inner;

    Status reserve(uint32_t streams, uint32_t events) override {
      return inner->reserve(streams, events);
    }
    Status fork() override {
      ++probe.asked.forks;
      return inner->fork();
    }
    Status enqueue(const ResolvedCall &call) override {
      ++probe.asked.calls;
      if (probe.callsToRefuse > 0 && probe.callsToRefuse--)
        return makeError(StatusCode::DeviceError, "refused");
      return inner->enqueue(call);
    }
    Status synchronize() override {
      ++probe.asked.waits;
      return inner->synchronize();
    }
    Status beginCapture() override { return inner->beginCapture(); }
    StatusOr<std::unique_ptr<Graph>> endCapture() override {
      StatusOr<std::unique_ptr<Graph>> graph = inner->endCapture();
      if (probe.capturesToSpoil > 0 && probe.capturesToSpoil--)
        return makeError(StatusCode::DeviceError, "spoilt");
      return graph;
    }
    Status launch(Graph &graph) override { return inner->launch(graph); }
    bool isCapturing() const override { return inner->isCapturing(); }
    StatusOr<double> enqueueTimed(const ResolvedCall &call) override {
      return inner->enqueueTimed(call);
    }
    StatusOr<LaunchTimes> launchTimed(Graph &graph) override {
      return inner->launchTimed(graph);
    }
  };

  DeviceKind kind() const override { return inner->kind(); }
  std::string description() const override { return inner->description(); }
  StatusOr<void *> allocate(uint64_t bytes) override {
    if (onAllocate)
      onAllocate();
    asked.allocations.push_back(bytes);
    return inner->allocate(bytes);
  }
  void deallocate(void *memory) noexcept override { inner->deallocate(memory); }
  uint64_t freeBytes() const override { return free; }
  int numThreads() const override { return 1; }
  StatusOr<std::unique_ptr<Stream>> createStream() override {
    StatusOr<std::unique_ptr<Stream>> made = inner->createStream();
    return std::unique_ptr<Stream>(
        std::make_unique<ProbeStream>(*this, std::move(*made)));
  }
  // The CPU's copies do not look at their stream.
  Status copyToDevice(Stream &stream, void *to, const void *from,
                      uint64_t bytes) override {
    ++asked.copiesToDevice;
    return inner->copyToDevice(stream, to, from, bytes);
  }
  Status copyToHost(Stream &stream, void *to, const void *from,
                    uint64_t bytes) override {
    ++asked.copiesToHost;
    asked.copiedTo = to;
    return inner->copyToHost(stream, to, from, bytes);
  }
  Status copyOnDevice(Stream &stream, void *to, const void *from,
                      uint64_t bytes) override {
    ++asked.copiesOnDevice;
    return inner->copyOnDevice(stream, to, from, bytes);
  }
  Status copy2D(Stream &stream, void *to, uint64_t toPitch, const void *from,
                uint64_t fromPitch, uint64_t rowBytes,
                uint64_t numRows) override {
    ++asked.copies2D;
    return inner->copy2D(stream, to, toPitch, from, fromPitch, rowBytes,
                         numRows);
  }
  Status fill(Stream &stream, void *memory, uint8_t byte,
              uint64_t bytes) override {
    asked.fills += bytes > 0;
    return inner->fill(stream, memory, byte, bytes);
  }
  StatusOr<std::shared_ptr<const DeviceCall>>
  prepareCall(const ResolvedCall &call) override {
    workspaces.push_back(call.workspace.start());
    return inner->prepareCall(call);
  }
};

/// An executor of the train plan with its inputs and lr written.
std::unique_ptr<Executor> makeTrainer(const ExecutorOptions &options,
                                      std::shared_ptr<Device> device,
                                      Plan plan = makeTrainPlan()) {
  auto executor = Executor::create(share(std::move(plan)), device, options);
  EXPECT_TRUE(executor.ok()) << executor.status().toString();
  float x[8] = {1, -2, 3, 0.5f, -1, 2, 0.25f, 1}, t[6] = {1, 0, 0, 0, 1, 0};
  float lr = 0.1f;
  EXPECT_TRUE((*executor)->write("train/x", x, sizeof(x)).ok());
  EXPECT_TRUE((*executor)->write("t", t, sizeof(t)).ok());
  EXPECT_TRUE((*executor)->write("lr", &lr, sizeof(lr)).ok());
  return std::move(*executor);
}
std::unique_ptr<Executor> makeTrainer(const ExecutorOptions &options = {},
                                      int numThreads = 2) {
  return makeTrainer(options, createCPUDevice({numThreads}));
}

/// All params, states and the loss, as bytes.
std::vector<uint8_t> stateOf(Executor &executor) {
  std::vector<uint8_t> all;
  for (const char *name : {"W", "b", "mW", "mb", "step", "loss"}) {
    std::vector<uint8_t> bytes(executor.find(name)->desc.spanBytes());
    EXPECT_TRUE(executor.read(name, bytes.data(), bytes.size()).ok()) << name;
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

template <typename T> T readScalar(Executor &executor, const char *name) {
  T value{};
  EXPECT_TRUE(executor.read(name, &value, sizeof(value)).ok());
  return value;
}

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
            "the plan has no tensor named \"train/\"");
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
