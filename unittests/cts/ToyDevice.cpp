//===- ToyDevice.cpp - a device that runs nothing until it must -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/cts/ToyDevice.h"
#include "kernels/cpu/Kernels.h"
#include "lib/Runtime/CallArgs.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>

namespace aicf::cts {
namespace {

std::atomic<size_t> alive{0};

/// Counts the objects that a test may leak.
struct Counted {
  Counted() { ++alive; }
  Counted(const Counted &) { ++alive; }
  ~Counted() { --alive; }
};

struct ToyCall : DeviceCall {
  CpuKernel function = nullptr;
};

struct ToyGraph : Graph, Counted {
  std::vector<ResolvedCall> calls;
  size_t numCalls() const override { return calls.size(); }
  const ResolvedCall &call(size_t i) const override { return calls[i]; }
  size_t numNodes() const override { return calls.size(); }
};

/// Branches are run one after the other, in the order in which their calls
/// come, which respects every event.
class ToyStream : public Stream, Counted {
public:
  ~ToyStream() override { run(); }

  void push(std::function<void()> work) { queue.push_back(std::move(work)); }
  /// Runs what waits.
  void run() {
    for (const std::function<void()> &work : queue)
      work();
    queue.clear();
  }

  Status reserve(uint32_t, uint32_t) override { return {}; }
  Status fork() override { return {}; }
  Status enqueue(const ResolvedCall &call) override {
    if (recording)
      recording->calls.push_back(call);
    else
      push([call] { runCall(call); });
    return {};
  }
  Status synchronize() override {
    if (recording)
      return refused("cannot wait for a stream that is capturing");
    run();
    return {};
  }
  Status beginCapture() override {
    if (recording)
      return refused("the stream is capturing already");
    recording = std::make_unique<ToyGraph>();
    return {};
  }
  StatusOr<std::unique_ptr<Graph>> endCapture() override {
    if (!recording)
      return refused("the stream is not capturing");
    return std::unique_ptr<Graph>(std::move(recording));
  }
  Status launch(Graph &graph) override {
    if (recording)
      return refused("cannot launch a graph on a stream that is capturing");
    for (const ResolvedCall &call : static_cast<ToyGraph &>(graph).calls)
      push([call] { runCall(call); });
    return {};
  }
  bool isCapturing() const override { return recording != nullptr; }
  StatusOr<double> enqueueTimed(const ResolvedCall &call) override {
    run();
    auto start = std::chrono::steady_clock::now();
    AICF_RETURN_IF_ERROR(enqueue(call));
    AICF_RETURN_IF_ERROR(synchronize());
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now() - start)
        .count();
  }
  StatusOr<LaunchTimes> launchTimed(Graph &graph) override {
    LaunchTimes times;
    for (size_t i = 0; i < graph.numCalls(); ++i) {
      AICF_ASSIGN_OR_RETURN(double micros, enqueueTimed(graph.call(i)));
      times.micros += micros;
      times.calls.push_back(micros);
    }
    return times;
  }

private:
  static Status refused(const char *why) {
    return makeError(StatusCode::FailedState, why);
  }
  static void runCall(const ResolvedCall &call) {
    static_cast<const ToyCall &>(*call.deviceCall).function(call.launchArgs());
  }

  std::vector<std::function<void()>> queue;
  std::unique_ptr<ToyGraph> recording;
};

class ToyDevice : public Device {
public:
  ~ToyDevice() override {
    for (auto &[memory, bytes] : allocations)
      std::free(const_cast<char *>(memory));
    alive -= allocations.size();
  }

  /// Whose kernels it runs: plans for the CPU are for it, too.
  DeviceKind kind() const override { return DeviceKind::CPU; }

  StatusOr<void *> allocate(uint64_t bytes) override {
    bytes = std::max<uint64_t>(bytes, 1);
    if (bytes > freeBytes())
      return makeError(StatusCode::DeviceError, "a toy has no ", bytes,
                       " bytes");
    void *memory = std::aligned_alloc(kTensorAlignment, alignedBytes(bytes));
    std::memset(memory, 0, bytes);
    countAllocation();
    std::lock_guard<std::mutex> lock(mutex);
    allocations.emplace(static_cast<char *>(memory), bytes);
    ++alive;
    return memory;
  }
  void deallocate(void *memory) noexcept override {
    std::lock_guard<std::mutex> lock(mutex);
    alive -= allocations.erase(static_cast<char *>(memory));
    std::free(memory);
  }
  StatusOr<std::unique_ptr<Stream>> createStream() override {
    return std::unique_ptr<Stream>(std::make_unique<ToyStream>());
  }

  Status copyToDevice(Stream &stream, void *to, const void *from,
                      uint64_t bytes) override {
    AICF_RETURN_IF_ERROR(check(to, bytes));
    std::vector<char> staged(static_cast<const char *>(from),
                             static_cast<const char *>(from) + bytes);
    static_cast<ToyStream &>(stream).push([to, staged = std::move(staged)] {
      std::memcpy(to, staged.data(), staged.size());
    });
    return {};
  }
  Status copyToHost(Stream &stream, void *to, const void *from,
                    uint64_t bytes) override {
    AICF_RETURN_IF_ERROR(check(from, bytes));
    static_cast<ToyStream &>(stream).run();
    std::memcpy(to, from, bytes);
    return {};
  }
  Status copyOnDevice(Stream &stream, void *to, const void *from,
                      uint64_t bytes) override {
    return copy2D(stream, to, bytes, from, bytes, bytes, 1);
  }
  Status copy2D(Stream &stream, void *to, uint64_t toPitch, const void *from,
                uint64_t fromPitch, uint64_t rowBytes,
                uint64_t numRows) override {
    for (auto [at, pitch] :
         {std::pair<const void *, uint64_t>(to, toPitch),
          std::pair<const void *, uint64_t>(from, fromPitch)})
      AICF_RETURN_IF_ERROR(check(at, (numRows - 1) * pitch + rowBytes));
    static_cast<ToyStream &>(stream).push([=] {
      for (uint64_t row = 0; row < numRows; ++row)
        std::memcpy(static_cast<char *>(to) + row * toPitch,
                    static_cast<const char *>(from) + row * fromPitch,
                    rowBytes);
    });
    return {};
  }
  Status fill(Stream &stream, void *at, uint8_t value,
              uint64_t bytes) override {
    AICF_RETURN_IF_ERROR(check(at, bytes));
    static_cast<ToyStream &>(stream).push(
        [=] { std::memset(at, value, bytes); });
    return {};
  }

  StatusOr<std::shared_ptr<const DeviceCall>>
  prepareCall(const ResolvedCall &call) override {
    auto prepared = std::make_shared<ToyCall>();
    prepared->function = cpu::findFunction(call.row->kid);
    if (!prepared->function)
      return makeError(StatusCode::NotImplemented, "kernel ", call.row->kid,
                       " is not in this build");
    return std::shared_ptr<const DeviceCall>(std::move(prepared));
  }
  std::string description() const override { return "toy"; }
  uint64_t freeBytes() const override { return uint64_t(1) << 30; }
  int numThreads() const override { return 1; }

private:
  /// Ok if the bytes are in an allocation of this device.
  Status check(const void *at, uint64_t bytes) {
    auto *begin = static_cast<const char *>(at);
    std::lock_guard<std::mutex> lock(mutex);
    auto next = allocations.upper_bound(begin);
    if (next != allocations.begin()) {
      auto [start, size] = *std::prev(next);
      if (uint64_t(begin - start) + bytes <= size)
        return {};
    }
    return makeError(StatusCode::DeviceError,
                     "the memory is not of this device");
  }

  std::mutex mutex;
  std::map<const char *, uint64_t> allocations; ///< bytes by start
};

} // namespace

std::shared_ptr<Device> createToyDevice() {
  (void)createCPUDevice({1}); // puts the GEMM library into its mode
  return std::make_shared<ToyDevice>();
}

size_t toyObjectsAlive() { return alive; }

} // namespace aicf::cts
