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
#include "unittests/Common/SamplePlans.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <set>
#include <thread>

// Counts every allocation of this process, to show that running makes none.
static std::atomic<uint64_t> allocationCount{0};
#define AICF_NOINLINE __attribute__((noinline))
AICF_NOINLINE void *operator new(size_t bytes) {
  ++allocationCount;
  if (void *memory = std::malloc(bytes))
    return memory;
  throw std::bad_alloc();
}
AICF_NOINLINE void *operator new(size_t bytes,
                                 const std::nothrow_t &) noexcept {
  ++allocationCount;
  return std::malloc(bytes);
}
AICF_NOINLINE void operator delete(void *memory) noexcept { std::free(memory); }
AICF_NOINLINE void operator delete(void *memory, size_t) noexcept {
  std::free(memory);
}

using namespace aicf;
using namespace aicf::test;

namespace {

std::shared_ptr<const Plan> share(Plan plan) {
  return std::make_shared<const Plan>(std::move(plan));
}

/// An executor of the train plan with its inputs and lr written.
std::unique_ptr<Executor> makeTrainer(ExecutorOptions options = {},
                                      int numThreads = 2) {
  auto executor = Executor::create(share(makeTrainPlan()),
                                   createCPUDevice({numThreads}), options);
  EXPECT_TRUE(executor.ok()) << executor.status().toString();
  float x[8] = {1, -2, 3, 0.5f, -1, 2, 0.25f, 1}, t[6] = {1, 0, 0, 0, 1, 0};
  float lr = 0.1f;
  EXPECT_TRUE((*executor)->write("train/x", x, sizeof(x)).ok());
  EXPECT_TRUE((*executor)->write("t", t, sizeof(t)).ok());
  EXPECT_TRUE((*executor)->write("lr", &lr, sizeof(lr)).ok());
  return std::move(*executor);
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
  struct Probe : Device {
    std::shared_ptr<Device> inner = createCPUDevice({1});
    std::function<void()> onAllocate;
    DeviceKind kind() const override { return inner->kind(); }
    std::string description() const override { return inner->description(); }
    StatusOr<void *> allocate(uint64_t bytes) override {
      if (onAllocate)
        onAllocate();
      return inner->allocate(bytes);
    }
    void deallocate(void *memory) noexcept override {
      inner->deallocate(memory);
    }
    uint64_t freeBytes() const override { return inner->freeBytes(); }
    int numThreads() const override { return 1; }
    StatusOr<std::unique_ptr<Stream>> createStream() override {
      return inner->createStream();
    }
    Status copyToDevice(Stream &stream, void *to, const void *from,
                        uint64_t bytes) override {
      return inner->copyToDevice(stream, to, from, bytes);
    }
    Status copyToHost(Stream &stream, void *to, const void *from,
                      uint64_t bytes) override {
      return inner->copyToHost(stream, to, from, bytes);
    }
    Status copyOnDevice(Stream &stream, void *to, const void *from,
                        uint64_t bytes) override {
      return inner->copyOnDevice(stream, to, from, bytes);
    }
    Status copy2D(Stream &stream, void *to, uint64_t toPitch, const void *from,
                  uint64_t fromPitch, uint64_t rowBytes,
                  uint64_t numRows) override {
      return inner->copy2D(stream, to, toPitch, from, fromPitch, rowBytes,
                           numRows);
    }
    Status fill(Stream &stream, void *memory, uint8_t byte,
                uint64_t bytes) override {
      return inner->fill(stream, memory, byte, bytes);
    }
    StatusOr<std::shared_ptr<const DeviceCall>>
    prepareCall(const ResolvedCall &call) override {
      return inner->prepareCall(call);
    }
  };
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
  uint64_t allocations = allocationCount;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(executor->run("train").ok());
    ASSERT_TRUE(executor->replay("train", 2).ok());
    ASSERT_TRUE(executor->run(key).ok());
  }
  EXPECT_EQ(allocationCount, allocations);
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
