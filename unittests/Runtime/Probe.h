//===- Probe.h - executors under test ---------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_RUNTIME_PROBE_H
#define AICF_UNITTESTS_RUNTIME_PROBE_H

#include "aicf/Executor.h"
#include "unittests/Common/SamplePlans.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

namespace aicf::test {

inline std::shared_ptr<const Plan> share(Plan plan) {
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
inline std::unique_ptr<Executor> makeTrainer(const ExecutorOptions &options,
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
inline std::unique_ptr<Executor>
makeTrainer(const ExecutorOptions &options = {}, int numThreads = 2) {
  return makeTrainer(options, createCPUDevice({numThreads}));
}

/// All params, states and the loss, as bytes.
inline std::vector<uint8_t> stateOf(Executor &executor) {
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

} // namespace aicf::test

#endif // AICF_UNITTESTS_RUNTIME_PROBE_H
