//===- Device.h - devices, streams, graphs ----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What an executor needs of a device. The CPU device is in this library, CUDA's
// in libaicf_cuda.so of the same build: what a device makes of a resolved call
// is not public. Threads may share a device; a stream and its graphs belong to
// one thread at a time.
//===----------------------------------------------------------------------===//
#ifndef AICF_DEVICE_H
#define AICF_DEVICE_H

#include "aicf/OpCall.h"

#include <atomic>
#include <memory>
#include <string>

namespace aicf {

/// Work that was recorded instead of run, to be launched as a whole.
class Graph {
public:
  virtual ~Graph() = default;
  /// The calls whose nodes are in the graph, in recorded order.
  virtual size_t numCalls() const = 0;
  virtual const ResolvedCall &call(size_t i) const = 0;
  /// What a launch schedules; a call has one node or more.
  virtual size_t numNodes() const = 0;
};

/// What a graph launch took, in microseconds.
struct LaunchTimes {
  double micros = 0;
  std::vector<double> calls; ///< of each, where the device can say; else empty
};

/// An ordered queue of work on a device. It has branches, which the calls of
/// one run name by ResolvedCall::stream; branch 0 is the queue itself, and a
/// run's last call on it comes after all others (the plan loader checks that).
class Stream {
public:
  virtual ~Stream() = default;
  /// Makes branches and events, so that no later call has to. Never shrinks.
  virtual Status reserve(uint32_t numStreams, uint32_t numEvents) = 0;
  /// Work on other branches from here on starts after what is enqueued so far.
  virtual Status fork() = 0;
  /// Runs a resolved call, or records it while capturing. Returns after
  /// enqueue.
  virtual Status enqueue(const ResolvedCall &call) = 0;
  /// Waits for everything enqueued; a device error surfaces here.
  virtual Status synchronize() = 0;
  virtual Status beginCapture() = 0;
  virtual StatusOr<std::unique_ptr<Graph>> endCapture() = 0;
  virtual Status launch(Graph &graph) = 0;
  virtual bool isCapturing() const = 0;
  /// The queue as the device's own library knows it (a cudaStream_t), for
  /// others to order their work behind it; null where there is none.
  virtual void *nativeHandle() const { return nullptr; }
  /// Work from here on starts behind what `native`, another queue of the
  /// device's library (null: its default one), holds so far; the host does not
  /// wait. Nothing to do where calls are over when they return.
  virtual Status orderBehind(void * /*native*/) { return {}; }
  /// What others enqueue on `native` from here on starts behind what is
  /// enqueued here so far.
  virtual Status orderBefore(void * /*native*/) { return {}; }
  /// enqueue or launch, then waits; the result is what it took on the device,
  /// in microseconds.
  virtual StatusOr<double> enqueueTimed(const ResolvedCall &call) = 0;
  virtual StatusOr<LaunchTimes> launchTimed(Graph &graph) = 0;
};

/// Counts that tests compare before and after a run.
struct DeviceCounters {
  uint64_t allocations = 0; ///< Device::allocate calls
  uint64_t lookups = 0;     ///< kernel look-ups by resolve()
};

class Device {
public:
  virtual ~Device() = default;
  virtual DeviceKind kind() const = 0;
  /// `bytes` of zeroed memory aligned to kTensorAlignment. Errors: DeviceError.
  virtual StatusOr<void *> allocate(uint64_t bytes) = 0;
  virtual void deallocate(void *memory) noexcept = 0;
  virtual StatusOr<std::unique_ptr<Stream>> createStream() = 0;
  /// Ordered after everything on `stream`; returns when host memory is free.
  virtual Status copyToDevice(Stream &stream, void *to, const void *from,
                              uint64_t bytes) = 0;
  virtual Status copyToHost(Stream &stream, void *to, const void *from,
                            uint64_t bytes) = 0;
  /// Between two places in the device's memory; ordered on `stream`. Returns
  /// after enqueue: the caller keeps both until the stream is synchronized.
  virtual Status copyOnDevice(Stream &stream, void *to, const void *from,
                              uint64_t bytes) = 0;
  /// The same for `numRows` rows of `rowBytes` bytes, whose starts lie a pitch
  /// of at least as many bytes apart.
  virtual Status copy2D(Stream &stream, void *to, uint64_t toPitch,
                        const void *from, uint64_t fromPitch, uint64_t rowBytes,
                        uint64_t numRows) = 0;
  /// Sets every byte; ordered on `stream`.
  virtual Status fill(Stream &stream, void *at, uint8_t value,
                      uint64_t bytes) = 0;
  /// Everything that launching `call` needs, but for what finish() does.
  /// Errors: NotImplemented, DeviceError.
  virtual StatusOr<std::shared_ptr<const DeviceCall>>
  prepareCall(const ResolvedCall &call) = 0;
  /// The card or processor, its driver and libraries: what measured times and
  /// tuning belong to.
  virtual std::string description() const = 0;
  /// Bytes that the device could still allocate; 0 where nobody counts.
  virtual uint64_t freeBytes() const = 0;
  /// Threads a kernel may use.
  virtual int numThreads() const = 0;

  DeviceCounters counters() const {
    return {allocations.load(), lookups.load()};
  }
  void countLookup() { ++lookups; }

protected:
  void countAllocation() { ++allocations; }

private:
  std::atomic<uint64_t> allocations{0}, lookups{0};
};

struct CPUDeviceOptions {
  /// Threads a kernel may use; 0 means all cores. Never changes results.
  int numThreads = 0;
};
std::shared_ptr<Device> createCPUDevice(CPUDeviceOptions options = {});

/// How library algorithms are chosen when a call is resolved.
///   Off   the library's first deterministic choice
///   Fast  the best of its first few, timed on scratch memory
///   Full  the best of all it offers
enum class Tuning : uint8_t { Off, Fast, Full };
inline constexpr uint8_t kNumTunings = 3;
constexpr std::string_view nameOf(Tuning tuning) {
  constexpr std::string_view names[kNumTunings] = {"off", "fast", "full"};
  return names[static_cast<uint8_t>(tuning)];
}

struct CUDADeviceOptions {
  int ordinal = 0;
  Tuning tuning = Tuning::Off;
  /// Where timed choices are kept; empty: nowhere. Read if it is there.
  std::string tuningFile;
};
/// Loads libaicf_cuda.so (from AICF_CUDA_LIBRARY, the folder of the library
/// that this code is in, the program's folder, its ../lib, or the loader's
/// path) and makes its device. Errors: NotImplemented (no such library),
/// DeviceError (no GPU, no driver).
StatusOr<std::shared_ptr<Device>>
createCUDADevice(const CUDADeviceOptions &options = {});

/// What users call a device: "cpu", "cuda" (its card 0) or "cuda:N".
struct DeviceName {
  DeviceKind kind = DeviceKind::CPU;
  int ordinal = 0;
};
/// Errors: InvalidArgument.
StatusOr<DeviceName> parseDeviceName(std::string_view name);

/// @name Calls of streams under their former names
/// @{
[[deprecated(
    "use Device::createStream")]] inline StatusOr<std::unique_ptr<Stream>>
graph_stream(Device &device) {
  return device.createStream();
}
[[deprecated("use Stream::beginCapture")]] inline Status
graph_begin(Stream &stream) {
  return stream.beginCapture();
}
[[deprecated("use Stream::endCapture")]] inline StatusOr<std::unique_ptr<Graph>>
graph_end(Stream &stream) {
  return stream.endCapture();
}
[[deprecated("use Stream::launch")]] inline Status
graph_launch(Graph &graph, Stream &stream) {
  return stream.launch(graph);
}
[[deprecated("use unique_ptr::reset")]] inline void
graph_reset(std::unique_ptr<Graph> &graph) {
  graph.reset();
}
/// @}

} // namespace aicf

#endif // AICF_DEVICE_H
