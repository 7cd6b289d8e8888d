//===- CUDAStream.cpp - streams and graphs of a GPU -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// After each call's capture its new graph nodes are looked at: every node
// belongs to one call, every call has one or more, a kernel of ours is the one
// that was planned, and nothing allocates, frees or runs on the host.
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CUDA/CUDAStream.h"
#include "lib/Ops/KernelTable.h"
#include "lib/Runtime/CUDA/Provider.h"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>

namespace aicf {
namespace {

/// One capture a process: what other threads do to the driver meanwhile cannot
/// be another capture of ours. A thread that captures already is refused
/// instead of waiting for itself.
class CaptureLock {
public:
  bool acquire() {
    std::unique_lock<std::mutex> lock(mutex);
    if (isHeld && owner == std::this_thread::get_id())
      return false;
    released.wait(lock, [&] { return !isHeld; });
    isHeld = true;
    owner = std::this_thread::get_id();
    return true;
  }
  bool isHeldByThisThread() {
    std::lock_guard<std::mutex> lock(mutex);
    return isHeld && owner == std::this_thread::get_id();
  }
  void release() {
    std::lock_guard<std::mutex> lock(mutex);
    isHeld = false;
    released.notify_one();
  }

private:
  std::mutex mutex;
  std::condition_variable released;
  bool isHeld = false;
  std::thread::id owner;
};

CaptureLock &captureLock() {
  static CaptureLock lock;
  return lock;
}

const CUDACall &cudaCall(const ResolvedCall &call) {
  return static_cast<const CUDACall &>(*call.deviceCall);
}

} // namespace

bool isCapturingThread() { return captureLock().isHeldByThisThread(); }

StatusOr<std::unique_ptr<CUDAStream>> CUDAStream::create(Card card) {
  std::unique_ptr<CUDAStream> stream(new CUDAStream(card));
  AICF_RETURN_IF_ERROR(stream->initialize());
  return stream;
}

Status CUDAStream::initialize() {
  AICF_RETURN_IF_ERROR(card.activate());
  AICF_RETURN_IF_ERROR(reserve(1, 0));
  AICF_ASSIGN_OR_RETURN(copyStream, makeStream(api));
  AICF_ASSIGN_OR_RETURN(forked, makeEvent(api, false));
  AICF_ASSIGN_OR_RETURN(ordered, makeEvent(api, false));
  AICF_ASSIGN_OR_RETURN(started, makeEvent(api, true));
  AICF_ASSIGN_OR_RETURN(stopped, makeEvent(api, true));
  for (StagingSlot &slot : staging) {
    AICF_ASSIGN_OR_RETURN(slot.host, makePinnedMemory(api, kStagingBytes));
    AICF_ASSIGN_OR_RETURN(slot.device, makeDeviceMemory(api, kStagingBytes));
    AICF_ASSIGN_OR_RETURN(slot.transferred, makeEvent(api, false));
    AICF_ASSIGN_OR_RETURN(slot.placed, makeEvent(api, false));
  }
  return {};
}

CUDAStream::~CUDAStream() {
  if (recording) {
    cudaGraph_t graph = nullptr;
    (void)api.cudaStreamEndCapture(branches[0].get(), &graph);
    GraphHandle owned(api, graph);
    captureLock().release();
  }
  for (StreamHandle &branch : branches)
    (void)api.cudaStreamSynchronize(branch.get());
}

Status CUDAStream::reserve(uint32_t numStreams, uint32_t numEvents) {
  while (branches.size() < numStreams) {
    AICF_ASSIGN_OR_RETURN(StreamHandle branch, makeStream(api));
    branches.push_back(std::move(branch));
    isForked.push_back(true);
  }
  while (events.size() < numEvents) {
    AICF_ASSIGN_OR_RETURN(EventHandle event, makeEvent(api, false));
    events.push_back(std::move(event));
  }
  return {};
}

Status CUDAStream::fork() {
  if (branches.size() == 1)
    return {};
  AICF_RETURN_IF_ERROR(card.activate());
  AICF_CUDA_TRY(api, cudaEventRecord, forked.get(), branches[0].get());
  isForked.assign(branches.size(), false);
  isForked[0] = true;
  return {};
}

Status CUDAStream::enqueue(const ResolvedCall &call) {
  if (call.stream >= branches.size())
    return makeError(StatusCode::InvalidArgument, "the call is on branch ",
                     call.stream, ", but ", branches.size(), " are reserved");
  for (const auto &numbers : {call.waits, call.signals})
    for (uint32_t event : numbers)
      if (event >= events.size())
        return makeError(StatusCode::InvalidArgument, "the call names event ",
                         event, ", but ", events.size(), " are reserved");
  AICF_RETURN_IF_ERROR(card.activate());
  cudaStream_t branch = branches[call.stream].get();
  if (!isForked[call.stream]) {
    AICF_CUDA_TRY(api, cudaStreamWaitEvent, branch, forked.get(), 0);
    isForked[call.stream] = true;
  }
  for (uint32_t event : call.waits)
    AICF_CUDA_TRY(api, cudaStreamWaitEvent, branch, events[event].get(), 0);
  nvtxRangePushA(call.row->kid.data()); // a literal of the kernel table
  Status launched = cudaCall(call).launch(branch);
  nvtxRangePop();
  if (!launched.ok())
    return launched.withContext(std::string(call.row->kid));
  for (uint32_t event : call.signals)
    AICF_CUDA_TRY(api, cudaEventRecord, events[event].get(), branch);
  return recording ? recordNodes(call) : Status();
}

Status CUDAStream::synchronize() {
  AICF_RETURN_IF_ERROR(refuseWhileCapturing("wait for"));
  AICF_RETURN_IF_ERROR(card.activate());
  for (const StreamHandle &branch : branches)
    AICF_CUDA_TRY(api, cudaStreamSynchronize, branch.get());
  return {};
}

Status CUDAStream::order(cudaStream_t first, cudaStream_t later) {
  AICF_RETURN_IF_ERROR(refuseWhileCapturing("order other streams with"));
  if (first == later)
    return {};
  AICF_RETURN_IF_ERROR(card.activate());
  // A wait is for the last record before it: one event serves all of them.
  AICF_CUDA_TRY(api, cudaEventRecord, ordered.get(), first);
  AICF_CUDA_TRY(api, cudaStreamWaitEvent, later, ordered.get(), 0);
  return {};
}

Status CUDAStream::orderBehind(void *native) {
  return order(static_cast<cudaStream_t>(native), branches[0].get());
}

Status CUDAStream::orderBefore(void *native) {
  return order(branches[0].get(), static_cast<cudaStream_t>(native));
}

Status CUDAStream::refuseWhileCapturing(const char *what) const {
  if (!recording)
    return {};
  return makeError(StatusCode::FailedState, "cannot ", what,
                   " a stream that is capturing");
}

//===----------------------------------------------------------------------===//
// Capture
//===----------------------------------------------------------------------===//

Status CUDAStream::beginCapture() {
  if (recording)
    return makeError(StatusCode::FailedState,
                     "the stream is capturing already");
  AICF_RETURN_IF_ERROR(card.activate());
  auto graph = std::make_unique<CUDAGraph>();
  // Before anything else: waiting would spoil a capture of this thread's own.
  if (!captureLock().acquire())
    return makeError(StatusCode::FailedState,
                     "this thread is capturing on another stream");
  cudaStream_t queue = branches[0].get();
  // What is under way may record events that this capture waits for.
  cudaError_t error = cudaSuccess;
  for (const StreamHandle &branch : branches)
    if (error == cudaSuccess)
      error = api.cudaStreamSynchronize(branch.get());
  Status status = checkCuda(api, error, "cudaStreamSynchronize");
  if (status.ok())
    status = checkCuda(
        api,
        api.cudaStreamBeginCapture(queue, cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
  if (!status.ok()) {
    captureLock().release();
    return status;
  }
  recording = std::move(graph);
  recorder = std::this_thread::get_id();
  knownNodes.clear();
  cudaStreamCaptureStatus state;
  unsigned long long id;
  status =
      checkCuda(api,
                api.cudaStreamGetCaptureInfo(queue, &state, &id, &capturing,
                                             nullptr, nullptr, nullptr),
                "cudaStreamGetCaptureInfo");
  if (!status.ok())
    (void)endCapture();
  return status;
}

/// What the node runs. CUDA names a kernel by its symbol or by the function
/// loaded for it; the runtime knows no kernels that were loaded from text.
static Status checkFunction(const CudaApi &api, cudaGraphNode_t node,
                            const PlannedFunction &expected) {
  const void *captured = nullptr, *other = nullptr;
  if (expected.isLoaded) {
    CUDA_KERNEL_NODE_PARAMS params{};
    AICF_CUDA_TRY(api, cuGraphKernelNodeGetParams_v2, node, &params);
    captured = params.kern;
  } else {
    cudaKernelNodeParams params{};
    AICF_CUDA_TRY(api, cudaGraphKernelNodeGetParams, node, &params);
    captured = params.func;
    cudaFunction_t function = nullptr;
    if (captured != expected.function)
      AICF_CUDA_TRY(api, cudaGetFuncBySymbol, &function, expected.function);
    other = function;
  }
  if (captured != expected.function && captured != other)
    return makeError(StatusCode::DeviceError,
                     "captured another kernel than the planned one");
  return {};
}

Status CUDAStream::checkNode(cudaGraphNode_t node,
                             const PlannedFunction *expected) const {
  cudaGraphNodeType type;
  AICF_CUDA_TRY(api, cudaGraphNodeGetType, node, &type);
  bool isPlain = type == cudaGraphNodeTypeKernel ||
                 type == cudaGraphNodeTypeMemcpy ||
                 type == cudaGraphNodeTypeMemset;
  if (!isPlain || (expected && type != cudaGraphNodeTypeKernel))
    return makeError(StatusCode::DeviceError, "captured a node of type ",
                     int(type), ", expected ",
                     expected ? "a kernel" : "a kernel, memcpy or memset");
  return expected ? checkFunction(api, node, *expected) : Status();
}

Status CUDAStream::recordNodes(const ResolvedCall &call) {
  size_t count = 0;
  AICF_CUDA_TRY(api, cudaGraphGetNodes, capturing, nullptr, &count);
  std::vector<cudaGraphNode_t> nodes(count);
  AICF_CUDA_TRY(api, cudaGraphGetNodes, capturing, nodes.data(), &count);
  std::vector<cudaGraphNode_t> added;
  // CUDA lists nodes as they came, but does not promise to: then each is asked
  // for.
  auto addFrom = [&](size_t first) {
    for (size_t i = first; i < nodes.size(); ++i)
      if (knownNodes.insert(nodes[i]).second)
        added.push_back(nodes[i]);
  };
  const size_t known = std::min(knownNodes.size(), nodes.size());
  addFrom(known);
  if (added.size() != nodes.size() - known)
    addFrom(0);
  std::vector<PlannedFunction> functions = cudaCall(call).functions();
  if (added.empty() || (!functions.empty() && added.size() != functions.size()))
    return makeError(StatusCode::DeviceError, call.row->kid, ": captured ",
                     added.size(), " nodes, expected ",
                     functions.empty() ? "one or more"
                                       : std::to_string(functions.size()));
  for (size_t i = 0; i < added.size(); ++i) {
    Status status =
        checkNode(added[i], functions.empty() ? nullptr : &functions[i]);
    if (!status.ok())
      return status.withContext(std::string(call.row->kid));
  }
  recording->calls.push_back(call);
  recording->nodeCount += added.size();
  return {};
}

StatusOr<std::unique_ptr<Graph>> CUDAStream::endCapture() {
  if (!recording)
    return makeError(StatusCode::FailedState, "the stream is not capturing");
  if (recorder != std::this_thread::get_id())
    return makeError(StatusCode::FailedState,
                     "another thread began this capture: it must end it");
  std::unique_ptr<CUDAGraph> graph = std::move(recording);
  capturing = nullptr;
  cudaGraph_t raw = nullptr;
  cudaError_t ended = api.cudaStreamEndCapture(branches[0].get(), &raw);
  graph->graph = GraphHandle(api, raw);
  captureLock().release();
  isForked.assign(branches.size(), true);
  AICF_RETURN_IF_ERROR(checkCuda(api, ended, "cudaStreamEndCapture"));
  cudaGraphExec_t executable = nullptr;
  AICF_CUDA_TRY(api, cudaGraphInstantiate, &executable, raw, 0);
  graph->executable = GraphExecHandle(api, executable);
  AICF_CUDA_TRY(api, cudaGraphUpload, executable, branches[0].get());
  return std::unique_ptr<Graph>(std::move(graph));
}

Status CUDAStream::launch(Graph &graph) {
  AICF_RETURN_IF_ERROR(refuseWhileCapturing("launch a graph on"));
  AICF_RETURN_IF_ERROR(card.activate());
  AICF_CUDA_TRY(api, cudaGraphLaunch,
                static_cast<CUDAGraph &>(graph).executable.get(),
                branches[0].get());
  return {};
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

template <typename Work> StatusOr<double> CUDAStream::timed(Work work) {
  AICF_RETURN_IF_ERROR(synchronize());
  AICF_RETURN_IF_ERROR(work(started.get(), stopped.get()));
  AICF_CUDA_TRY(api, cudaEventSynchronize, stopped.get());
  float milliseconds = 0;
  AICF_CUDA_TRY(api, cudaEventElapsedTime, &milliseconds, started.get(),
                stopped.get());
  AICF_RETURN_IF_ERROR(synchronize());
  return double(milliseconds) * 1000;
}

StatusOr<double> CUDAStream::enqueueTimed(const ResolvedCall &call) {
  return timed([&](cudaEvent_t start, cudaEvent_t stop) -> Status {
    if (call.stream >= branches.size())
      return enqueue(call); // for its message
    cudaStream_t branch = branches[call.stream].get();
    AICF_CUDA_TRY(api, cudaEventRecord, start, branch);
    AICF_RETURN_IF_ERROR(enqueue(call));
    AICF_CUDA_TRY(api, cudaEventRecord, stop, branch);
    return {};
  });
}

StatusOr<LaunchTimes> CUDAStream::launchTimed(Graph &graph) {
  LaunchTimes times; // nodes have no times of their own
  AICF_ASSIGN_OR_RETURN(
      times.micros, timed([&](cudaEvent_t start, cudaEvent_t stop) -> Status {
        cudaStream_t queue = branches[0].get();
        AICF_CUDA_TRY(api, cudaEventRecord, start, queue);
        AICF_RETURN_IF_ERROR(launch(graph));
        AICF_CUDA_TRY(api, cudaEventRecord, stop, queue);
        return {};
      }));
  return times;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

Status CUDAStream::uploadPart(char *to, const char *from, uint64_t bytes) {
  StagingSlot &slot = staging[nextSlot];
  nextSlot = (nextSlot + 1) % 2;
  cudaStream_t queue = branches[0].get(), copies = copyStream.get();
  // Events that were never recorded have happened.
  AICF_CUDA_TRY(api, cudaEventSynchronize, slot.transferred.get());
  AICF_CUDA_TRY(api, cudaStreamWaitEvent, copies, slot.placed.get(), 0);
  std::memcpy(slot.host.get(), from, bytes);
  AICF_CUDA_TRY(api, cudaMemcpyAsync, slot.device.get(), slot.host.get(), bytes,
                cudaMemcpyHostToDevice, copies);
  AICF_CUDA_TRY(api, cudaEventRecord, slot.transferred.get(), copies);
  AICF_CUDA_TRY(api, cudaStreamWaitEvent, queue, slot.transferred.get(), 0);
  AICF_CUDA_TRY(api, cudaMemcpyAsync, to, slot.device.get(), bytes,
                cudaMemcpyDeviceToDevice, queue);
  AICF_CUDA_TRY(api, cudaEventRecord, slot.placed.get(), queue);
  return {};
}

Status CUDAStream::upload(void *to, const void *from, uint64_t bytes) {
  AICF_RETURN_IF_ERROR(refuseWhileCapturing("write through"));
  AICF_RETURN_IF_ERROR(card.activate());
  auto *target = static_cast<char *>(to);
  const auto *source = static_cast<const char *>(from);
  for (uint64_t at = 0; at < bytes; at += kStagingBytes) {
    Status status = uploadPart(target + at, source + at,
                               std::min(kStagingBytes, bytes - at));
    if (status.ok())
      continue;
    // No event may say when the slots are free: wait for all of it.
    (void)api.cudaStreamSynchronize(copyStream.get());
    (void)api.cudaStreamSynchronize(branches[0].get());
    return status;
  }
  return {};
}

Status CUDAStream::download(void *to, const void *from, uint64_t bytes) {
  AICF_RETURN_IF_ERROR(refuseWhileCapturing("read through"));
  AICF_RETURN_IF_ERROR(card.activate());
  cudaStream_t queue = branches[0].get();
  AICF_CUDA_TRY(api, cudaMemcpyAsync, to, from, bytes, cudaMemcpyDeviceToHost,
                queue);
  AICF_CUDA_TRY(api, cudaStreamSynchronize, queue);
  return {};
}

Status CUDAStream::copy(void *to, const void *from, uint64_t bytes) {
  AICF_RETURN_IF_ERROR(refuseWhileCapturing("copy through"));
  AICF_RETURN_IF_ERROR(card.activate());
  AICF_CUDA_TRY(api, cudaMemcpyAsync, to, from, bytes, cudaMemcpyDeviceToDevice,
                branches[0].get());
  return {};
}

Status CUDAStream::copy2D(void *to, uint64_t toPitch, const void *from,
                          uint64_t fromPitch, uint64_t rowBytes,
                          uint64_t numRows) {
  AICF_RETURN_IF_ERROR(refuseWhileCapturing("copy through"));
  AICF_RETURN_IF_ERROR(card.activate());
  AICF_CUDA_TRY(api, cudaMemcpy2DAsync, to, toPitch, from, fromPitch, rowBytes,
                numRows, cudaMemcpyDeviceToDevice, branches[0].get());
  return {};
}

Status CUDAStream::fill(void *at, uint8_t value, uint64_t bytes) {
  AICF_RETURN_IF_ERROR(refuseWhileCapturing("fill through"));
  AICF_RETURN_IF_ERROR(card.activate());
  if (bytes > 0)
    AICF_CUDA_TRY(api, cudaMemsetAsync, at, value, bytes, branches[0].get());
  return {};
}

} // namespace aicf
