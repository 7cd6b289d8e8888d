//===- Device.h - devices, streams, graphs ----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What an executor needs of a device. The CPU device is in this library; others
// implement the same three classes. Not thread-safe: one stream, one thread.
//===----------------------------------------------------------------------===//
#ifndef AICF_RUNTIME_DEVICE_H
#define AICF_RUNTIME_DEVICE_H

#include "aicf/Runtime/OpCall.h"

#include <atomic>
#include <memory>

namespace aicf {

/// Work that was recorded instead of run, to be launched as a whole.
class Graph {
public:
  virtual ~Graph() = default;
  /// What each node runs, in recorded order.
  virtual size_t numNodes() const = 0;
  virtual const ResolvedCall &node(size_t i) const = 0;
};

/// An ordered queue of work on a device.
class Stream {
public:
  virtual ~Stream() = default;
  /// Runs a resolved call, or records it while capturing. Returns after
  /// enqueue.
  virtual Status enqueue(const ResolvedCall &call) = 0;
  /// Waits for everything enqueued; a device error surfaces here.
  virtual Status synchronize() = 0;
  virtual Status beginCapture() = 0;
  virtual StatusOr<std::unique_ptr<Graph>> endCapture() = 0;
  virtual Status launch(Graph &graph) = 0;
  virtual bool isCapturing() const = 0;
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
  /// Sets every byte; ordered on `stream`.
  virtual Status fill(Stream &stream, void *at, uint8_t value,
                      uint64_t bytes) = 0;
  /// The function of a row of Kernels.def, or nullptr.
  virtual CpuKernel findFunction(const KernelRow &row) const = 0;
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

// Low-level graph calls, for op_calls of one's own.

/// A stream that can capture.
StatusOr<std::unique_ptr<Stream>> graph_stream(Device &device);
/// From here on calls on `stream` are recorded. Errors: FailedState if it is
/// capturing already.
Status graph_begin(Stream &stream);
/// Ends recording. Errors: FailedState if it was not capturing.
StatusOr<std::unique_ptr<Graph>> graph_end(Stream &stream);
/// Runs what was recorded. Errors: FailedState if `stream` is capturing.
Status graph_launch(Graph &graph, Stream &stream);
/// Frees a graph; safe on an empty pointer.
void graph_reset(std::unique_ptr<Graph> &graph);

} // namespace aicf

#endif // AICF_RUNTIME_DEVICE_H
