//===- CUDAStream.h - streams and graphs of a GPU ---------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_CUDA_CUDASTREAM_H
#define AICF_LIB_RUNTIME_CUDA_CUDASTREAM_H

#include "aicf/Device.h"
#include "lib/Runtime/CUDA/Handles.h"

#include <thread>
#include <unordered_set>

namespace aicf {

struct PlannedFunction;

/// One card of the machine.
struct Card {
  const CudaApi &api;
  int ordinal;
  /// Makes it the current one of the calling thread.
  Status activate() const {
    AICF_CUDA_TRY(api, cudaSetDevice, ordinal);
    return {};
  }
};

/// True while the calling thread captures.
bool isCapturingThread();

class CUDAGraph : public Graph {
public:
  size_t numCalls() const override { return calls.size(); }
  const ResolvedCall &call(size_t i) const override { return calls[i]; }
  size_t numNodes() const override { return nodeCount; }

  std::vector<ResolvedCall> calls;
  size_t nodeCount = 0;
  GraphHandle graph;
  GraphExecHandle executable;
};

/// Host memory on its way to the device: a write copies into pinned memory and
/// returns; the transfer runs on a stream of its own, beside the kernels that
/// still read the old value, and a copy on the device, ordered with the
/// kernels, puts the new value in place. Two slots: one is filled while the
/// other is under way.
struct StagingSlot {
  PinnedMemory host;
  DeviceMemory device;
  EventHandle transferred; ///< host memory may be overwritten
  EventHandle placed;      ///< device memory may be overwritten
};

class CUDAStream : public Stream {
public:
  static constexpr uint64_t kStagingBytes = 4 << 20;

  static StatusOr<std::unique_ptr<CUDAStream>> create(Card card);
  ~CUDAStream() override;

  Status reserve(uint32_t numStreams, uint32_t numEvents) override;
  Status fork() override;
  Status enqueue(const ResolvedCall &call) override;
  Status synchronize() override;
  Status beginCapture() override;
  StatusOr<std::unique_ptr<Graph>> endCapture() override;
  Status launch(Graph &graph) override;
  bool isCapturing() const override { return recording != nullptr; }
  void *nativeHandle() const override { return branches[0].get(); }
  Status orderBehind(void *native) override;
  Status orderBefore(void *native) override;
  StatusOr<double> enqueueTimed(const ResolvedCall &call) override;
  StatusOr<LaunchTimes> launchTimed(Graph &graph) override;

  Status upload(void *to, const void *from, uint64_t bytes);
  Status download(void *to, const void *from, uint64_t bytes);
  Status copy(void *to, const void *from, uint64_t bytes);
  Status copy2D(void *to, uint64_t toPitch, const void *from,
                uint64_t fromPitch, uint64_t rowBytes, uint64_t numRows);
  Status fill(void *at, uint8_t value, uint64_t bytes);

private:
  explicit CUDAStream(Card card) : card(card), api(card.api) {}
  Status initialize();
  Status refuseWhileCapturing(const char *what) const;
  /// What is enqueued on `later` from here on starts behind what is on `first`.
  Status order(cudaStream_t first, cudaStream_t later);
  Status uploadPart(char *to, const char *from, uint64_t bytes);
  /// Checks and counts the nodes that a captured call has added.
  Status recordNodes(const ResolvedCall &call);
  Status checkNode(cudaGraphNode_t node,
                   const PlannedFunction *expected) const;
  template <typename Work> StatusOr<double> timed(Work work);

  Card card;
  const CudaApi &api;
  std::vector<StreamHandle> branches; ///< 0 is the queue itself
  std::vector<bool> isForked;         ///< has waited for `forked` in this run
  std::vector<EventHandle> events;
  EventHandle forked, started, stopped, ordered;
  StreamHandle copyStream;
  StagingSlot staging[2];
  size_t nextSlot = 0;
  std::unique_ptr<CUDAGraph> recording;
  std::thread::id recorder;        ///< the thread that began the capture
  cudaGraph_t capturing = nullptr; ///< owned by CUDA until the capture ends
  std::unordered_set<cudaGraphNode_t> knownNodes;
};

} // namespace aicf

#endif // AICF_LIB_RUNTIME_CUDA_CUDASTREAM_H
