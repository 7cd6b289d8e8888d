//===- FakeCuda.cpp - CUDA on host memory, for tests ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace aicf::test {
namespace {

struct Node {
  cudaGraphNodeType type;
  const void *function;
};
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};
struct Stream;
struct Event {
  bool isRecorded = false;
  Stream *captured = nullptr; ///< recorded in a capture, on this stream
  uint64_t position = 0;      ///< operations of that stream before it
};
/// A capture: its first stream, and all that joined it.
struct Capture {
  Stream *origin;
  std::thread::id thread;
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  bool isInvalid = false;
};
struct Stream {
  std::shared_ptr<Capture> capture;
  uint64_t operations = 0; ///< in this capture
  uint64_t joined = 0;     ///< of which another stream waits for
};
struct Exec {
  uint64_t kernels;
};
/// Text that was loaded, with its kernels.
struct Library {
  std::map<std::string, char> kernels; ///< by name; each is its address
};

/// Everything alive. One lock: tests run two executors in two threads.
struct World {
  std::mutex mutex;
  std::map<void *, size_t> memory;
  std::set<void *> objects;
  std::set<Stream *> streams;
  std::set<const void *> unloaded; ///< kernels of libraries that are gone
  std::map<const void *, size_t> sharedBytesOf; ///< of functions that asked
  /// Of kernels that are loaded: what their text declares.
  std::map<const void *, size_t> ownSharedBytesOf;
  std::map<int, uint32_t> minAlignments;
  uint64_t kernels = 0, misuses = 0;
  float milliseconds = 0.001f; ///< between two events
#ifdef AICF_HAVE_CUBLASLT
  FakeLibrary library;
#endif
  bool otherFunction = false;
  int extraNode = -1;
  char decoy = 0;

  template <typename T> T *make(T *object) {
    objects.insert(object);
    return object;
  }
  /// Null, and a misuse, for what is not alive.
  template <typename T> T *get(void *handle) {
    if (objects.count(handle))
      return static_cast<T *>(handle);
    ++misuses;
    return nullptr;
  }
  template <typename T> cudaError_t destroy(void *handle) {
    T *object = get<T>(handle);
    if (!object)
      return cudaErrorInvalidResourceHandle;
    objects.erase(handle);
    delete object;
    return cudaSuccess;
  }
  /// True when [at, at + bytes) lies in one allocation.
  bool holds(const void *at, size_t bytes) {
    auto it = memory.upper_bound(const_cast<void *>(at));
    if (it == memory.begin())
      return false;
    --it;
    const char *begin = static_cast<char *>(it->first);
    const char *from = static_cast<const char *>(at);
    return from + bytes <= begin + it->second;
  }
};

World &world() {
  static World instance;
  return instance;
}
#define AICF_LOCKED                                                            \
  World &w = world();                                                          \
  std::lock_guard<std::mutex> lock(w.mutex)

/// Adds a node where `stream` captures; false where it does not.
bool addNode(Stream &stream, cudaGraphNodeType type, const void *function) {
  if (!stream.capture)
    return false;
  stream.capture->graph->nodes.push_back(
      std::make_unique<Node>(Node{type, function}));
  ++stream.operations;
  return true;
}

cudaError_t countDevices(int *count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t setDevice(int ordinal) {
  return ordinal == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
/// Of a block; of one whose kernel did not ask; what a kernel may declare.
constexpr size_t kSharedBytes = 227 << 10, kSharedBytesUnasked = 48 << 10,
                 kOwnSharedBytes = 1 << 10;
cudaError_t getProperties(cudaDeviceProp *properties, int) {
  *properties = {};
  std::strcpy(properties->name, "fake");
  properties->major = 9;
  properties->multiProcessorCount = 132;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->sharedMemPerBlockOptin = kSharedBytes;
  return cudaSuccess;
}
cudaError_t driverVersion(int *version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t memInfo(size_t *available, size_t *total) {
  AICF_LOCKED;
  *total = size_t(1) << 40;
  *available = *total;
  for (const auto &[at, bytes] : w.memory)
    *available -= bytes;
  return cudaSuccess;
}
cudaError_t allocate(void **memory, size_t bytes) {
  AICF_LOCKED;
  constexpr size_t kMemory = size_t(1) << 32; // of the fake card
  *memory = nullptr;
  if (bytes == 0)
    return cudaSuccess;
  *memory = bytes > kMemory
                ? nullptr
                : std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!*memory)
    return cudaErrorMemoryAllocation;
  std::memset(*memory, 0xcd, bytes); // as CUDA: not zeroed
  w.memory[*memory] = bytes;
  return cudaSuccess;
}
cudaError_t release(void *memory) {
  AICF_LOCKED;
  if (!w.memory.erase(memory)) {
    ++w.misuses;
    return cudaErrorInvalidValue;
  }
  std::free(memory);
  return cudaSuccess;
}
cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t handle) {
  AICF_LOCKED;
  auto *stream = w.get<Stream>(handle);
  if (!stream)
    return cudaErrorInvalidResourceHandle;
  bool toDevice = kind != cudaMemcpyDeviceToHost;
  bool fromDevice = kind != cudaMemcpyHostToDevice;
  if ((toDevice && !w.holds(to, bytes)) ||
      (fromDevice && !w.holds(from, bytes))) {
    ++w.misuses;
    return cudaErrorInvalidValue;
  }
  if (!addNode(*stream, cudaGraphNodeTypeMemcpy, nullptr))
    std::memcpy(to, from, bytes);
  return cudaSuccess;
}
/// Between two places on the device; no kernel waits for it, so it is not a
/// node.
cudaError_t copy2D(void *to, size_t toPitch, const void *from, size_t fromPitch,
                   size_t width, size_t height, cudaMemcpyKind kind,
                   cudaStream_t handle) {
  AICF_LOCKED;
  auto span = [&](size_t pitch) { return (height - 1) * pitch + width; };
  if (!w.get<Stream>(handle) || kind != cudaMemcpyDeviceToDevice ||
      toPitch < width || fromPitch < width || !w.holds(to, span(toPitch)) ||
      !w.holds(from, span(fromPitch))) {
    ++w.misuses;
    return cudaErrorInvalidValue;
  }
  for (size_t row = 0; row < height; ++row)
    std::memcpy(static_cast<char *>(to) + row * toPitch,
                static_cast<const char *>(from) + row * fromPitch, width);
  return cudaSuccess;
}
cudaError_t set(void *at, int value, size_t bytes, cudaStream_t handle) {
  AICF_LOCKED;
  auto *stream = w.get<Stream>(handle);
  if (!stream || !w.holds(at, bytes)) {
    ++w.misuses;
    return cudaErrorInvalidValue;
  }
  if (!addNode(*stream, cudaGraphNodeTypeMemset, nullptr))
    std::memset(at, value, bytes);
  return cudaSuccess;
}
cudaError_t createStream(cudaStream_t *stream, unsigned) {
  AICF_LOCKED;
  Stream *made = w.make(new Stream);
  w.streams.insert(made);
  *stream = reinterpret_cast<cudaStream_t>(made);
  return cudaSuccess;
}
cudaError_t destroyStream(cudaStream_t stream) {
  AICF_LOCKED;
  w.streams.erase(reinterpret_cast<Stream *>(stream));
  return w.destroy<Stream>(stream);
}
cudaError_t syncStream(cudaStream_t handle) {
  AICF_LOCKED;
  auto *stream = w.get<Stream>(handle);
  if (!stream)
    return cudaErrorInvalidResourceHandle;
  if (!stream->capture)
    return cudaSuccess;
  stream->capture->isInvalid = true;
  return cudaErrorStreamCaptureUnsupported;
}
cudaError_t waitEvent(cudaStream_t streamHandle, cudaEvent_t eventHandle,
                      unsigned) {
  AICF_LOCKED;
  auto *stream = w.get<Stream>(streamHandle);
  auto *event = w.get<Event>(eventHandle);
  if (!stream || !event)
    return cudaErrorInvalidResourceHandle;
  if (!event->captured)
    return cudaSuccess;
  if (!event->captured->capture) // recorded in a capture that is over
    return cudaErrorStreamCaptureIsolation;
  if (!stream->capture) {
    stream->capture = event->captured->capture;
    stream->operations = stream->joined = 0;
  }
  event->captured->joined = std::max(event->captured->joined, event->position);
  return cudaSuccess;
}
cudaError_t createEvent(cudaEvent_t *event, unsigned) {
  AICF_LOCKED;
  *event = reinterpret_cast<cudaEvent_t>(w.make(new Event));
  return cudaSuccess;
}
cudaError_t destroyEvent(cudaEvent_t event) {
  AICF_LOCKED;
  return w.destroy<Event>(event);
}
cudaError_t recordEvent(cudaEvent_t eventHandle, cudaStream_t streamHandle) {
  AICF_LOCKED;
  auto *stream = w.get<Stream>(streamHandle);
  auto *event = w.get<Event>(eventHandle);
  if (!stream || !event)
    return cudaErrorInvalidResourceHandle;
  event->isRecorded = true;
  event->captured = stream->capture ? stream : nullptr;
  event->position = stream->operations;
  return cudaSuccess;
}
cudaError_t syncEvent(cudaEvent_t handle) {
  AICF_LOCKED;
  auto *event = w.get<Event>(handle);
  return !event            ? cudaErrorInvalidResourceHandle
         : event->captured ? cudaErrorCapturedEvent
                           : cudaSuccess;
}
cudaError_t elapsed(float *milliseconds, cudaEvent_t a, cudaEvent_t b) {
  AICF_LOCKED;
  *milliseconds = w.milliseconds;
  auto *start = w.get<Event>(a), *stop = w.get<Event>(b);
  return start && stop && start->isRecorded && stop->isRecorded
             ? cudaSuccess
             : cudaErrorInvalidResourceHandle;
}
cudaError_t setFunctionAttribute(const void *function, cudaFuncAttribute which,
                                 int value) {
  AICF_LOCKED;
  if (!function || which != cudaFuncAttributeMaxDynamicSharedMemorySize ||
      value < 0 || size_t(value) > kSharedBytes - kOwnSharedBytes)
    return cudaErrorInvalidValue;
  w.sharedBytesOf[function] = size_t(value);
  return cudaSuccess;
}
cudaError_t launch(const cudaLaunchConfig_t *config, const void *function,
                   void **parameters) {
  AICF_LOCKED;
  auto allowed = w.sharedBytesOf.find(function);
  if (config->dynamicSmemBytes > (allowed == w.sharedBytesOf.end()
                                      ? kSharedBytesUnasked - kOwnSharedBytes
                                      : allowed->second))
    return cudaErrorInvalidValue;
  auto *stream = w.get<Stream>(config->stream);
  w.misuses += w.unloaded.count(function);
  if (!stream || !function || !parameters || !parameters[0] ||
      w.unloaded.count(function))
    return cudaErrorInvalidValue;
  unsigned threads =
      config->blockDim.x * config->blockDim.y * config->blockDim.z;
  if (threads == 0 || threads > 1024 || config->gridDim.x == 0 ||
      config->gridDim.y == 0 || config->gridDim.y > 65535 ||
      config->gridDim.z == 0 || config->gridDim.z > 65535)
    return cudaErrorInvalidConfiguration;
  if (!stream->capture) {
    ++w.kernels;
    return cudaSuccess;
  }
  if (w.extraNode >= 0)
    addNode(*stream, cudaGraphNodeType(w.extraNode), nullptr);
  if (w.extraNode < 0 || !w.otherFunction)
    addNode(*stream, cudaGraphNodeTypeKernel,
            w.otherFunction ? &w.decoy : function);
  w.extraNode = -1;
  w.otherFunction = false;
  return cudaSuccess;
}
cudaError_t lastError() { return cudaSuccess; }
cudaError_t functionOf(cudaFunction_t *function, const void *) {
  *function = nullptr;
  return cudaSuccess;
}
cudaError_t beginCapture(cudaStream_t handle, cudaStreamCaptureMode) {
  AICF_LOCKED;
  auto *stream = w.get<Stream>(handle);
  if (!stream)
    return cudaErrorInvalidResourceHandle;
  if (stream->capture)
    return cudaErrorIllegalState;
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  stream->capture->thread = std::this_thread::get_id();
  stream->operations = stream->joined = 0;
  return cudaSuccess;
}
/// Each thread has its own; nothing here is refused by it.
cudaError_t exchangeMode(cudaStreamCaptureMode *mode) {
  static thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  std::swap(current, *mode);
  return cudaSuccess;
}
cudaError_t endCapture(cudaStream_t handle, cudaGraph_t *graph) {
  AICF_LOCKED;
  *graph = nullptr;
  auto *stream = w.get<Stream>(handle);
  if (!stream || !stream->capture)
    return cudaErrorIllegalState;
  std::shared_ptr<Capture> capture = stream->capture;
  bool isUnjoined = false;
  for (Stream *other : w.streams) {
    if (other == stream || other->capture != capture)
      continue;
    isUnjoined |= other->joined < other->operations;
    other->capture = nullptr;
  }
  stream->capture = nullptr;
  if (capture->thread != std::this_thread::get_id())
    return cudaErrorStreamCaptureWrongThread;
  if (capture->isInvalid)
    return cudaErrorStreamCaptureInvalidated;
  if (isUnjoined)
    return cudaErrorStreamCaptureUnjoined;
  *graph = reinterpret_cast<cudaGraph_t>(w.make(capture->graph.release()));
  return cudaSuccess;
}
cudaError_t captureInfo(cudaStream_t handle, cudaStreamCaptureStatus *status,
                        unsigned long long *id, cudaGraph_t *graph,
                        const cudaGraphNode_t **, const cudaGraphEdgeData **,
                        size_t *) {
  AICF_LOCKED;
  auto *stream = w.get<Stream>(handle);
  if (!stream)
    return cudaErrorInvalidResourceHandle;
  *status = stream->capture ? cudaStreamCaptureStatusActive
                            : cudaStreamCaptureStatusNone;
  *id = 1;
  if (graph && stream->capture)
    *graph = reinterpret_cast<cudaGraph_t>(stream->capture->graph.get());
  return cudaSuccess;
}
cudaError_t getNodes(cudaGraph_t handle, cudaGraphNode_t *nodes,
                     size_t *count) {
  AICF_LOCKED;
  auto *graph = reinterpret_cast<Graph *>(handle);
  for (size_t i = 0; nodes && i < *count && i < graph->nodes.size(); ++i)
    nodes[i] = reinterpret_cast<cudaGraphNode_t>(graph->nodes[i].get());
  *count = graph->nodes.size();
  return cudaSuccess;
}
cudaError_t nodeType(cudaGraphNode_t node, cudaGraphNodeType *type) {
  *type = reinterpret_cast<Node *>(node)->type;
  return cudaSuccess;
}
cudaError_t kernelParams(cudaGraphNode_t node, cudaKernelNodeParams *params) {
  auto *known = reinterpret_cast<Node *>(node);
  params->func = const_cast<void *>(known->function);
  return known->type == cudaGraphNodeTypeKernel ? cudaSuccess
                                                : cudaErrorInvalidValue;
}
/// The runtime's call does not know kernels that were loaded.
CUresult loadedKernelParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params) {
  auto *known = reinterpret_cast<Node *>(node);
  params->kern =
      reinterpret_cast<CUkernel>(const_cast<void *>(known->function));
  return known->type == cudaGraphNodeTypeKernel ? CUDA_SUCCESS
                                                : CUDA_ERROR_INVALID_VALUE;
}
/// The bytes of ".shared .align 8 .b8 name[bytes];", all together.
size_t ownSharedBytes(const std::string &text) {
  const std::string start = ".shared .align ";
  size_t bytes = 0;
  for (size_t at = 0; (at = text.find(start, at)) != std::string::npos;) {
    at = text.find('[', at) + 1;
    if (text[at] != ']') // else the launch says how many
      bytes += std::stoul(text.substr(at));
  }
  return bytes;
}
/// Text of kernels with as many braces that open as that close.
cudaError_t loadLibrary(cudaLibrary_t *library, const void *code,
                        cudaJitOption *, void **, unsigned, cudaLibraryOption *,
                        void **, unsigned) {
  AICF_LOCKED;
  const std::string text = static_cast<const char *>(code);
  const std::string start = ".visible .entry ";
  Library found;
  for (size_t at = 0; (at = text.find(start, at)) != std::string::npos;) {
    at += start.size();
    found.kernels[text.substr(at, text.find('(', at) - at)] = 0;
  }
  if (text.rfind(".version ", 0) != 0 || found.kernels.empty() ||
      std::count(text.begin(), text.end(), '{') !=
          std::count(text.begin(), text.end(), '}'))
    return cudaErrorInvalidPtx;
  auto *made = w.make(new Library(std::move(found)));
  for (const auto &[name, kernel] : made->kernels) {
    w.unloaded.erase(&kernel);
    w.ownSharedBytesOf[&kernel] = ownSharedBytes(text);
  }
  *library = reinterpret_cast<cudaLibrary_t>(made);
  return cudaSuccess;
}
cudaError_t libraryKernel(cudaKernel_t *kernel, cudaLibrary_t handle,
                          const char *name) {
  AICF_LOCKED;
  auto *library = w.get<Library>(handle);
  if (!library || !library->kernels.count(name))
    return cudaErrorSymbolNotFound;
  *kernel = reinterpret_cast<cudaKernel_t>(&library->kernels[name]);
  return cudaSuccess;
}
/// Kernels of all libraries that are loaded.
cudaError_t setKernelAttribute(cudaKernel_t kernel, cudaFuncAttribute which,
                               int value, int device) {
  AICF_LOCKED;
  auto own = w.ownSharedBytesOf.find(kernel);
  if (own == w.ownSharedBytesOf.end() || device != 0 ||
      which != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
      size_t(value) + own->second > kSharedBytes)
    return cudaErrorInvalidValue;
  w.sharedBytesOf[kernel] = size_t(value);
  return cudaSuccess;
}
cudaError_t unloadLibrary(cudaLibrary_t handle) {
  AICF_LOCKED;
  if (auto *library = w.get<Library>(handle))
    for (const auto &[name, kernel] : library->kernels) {
      w.unloaded.insert(&kernel);
      w.ownSharedBytesOf.erase(&kernel);
      w.sharedBytesOf.erase(&kernel);
    }
  return w.destroy<Library>(handle);
}
cudaError_t instantiate(cudaGraphExec_t *exec, cudaGraph_t handle,
                        unsigned long long) {
  AICF_LOCKED;
  auto *graph = w.get<Graph>(handle);
  if (!graph)
    return cudaErrorInvalidResourceHandle;
  uint64_t kernels = 0;
  for (const auto &node : graph->nodes)
    kernels += node->type == cudaGraphNodeTypeKernel;
  *exec = reinterpret_cast<cudaGraphExec_t>(w.make(new Exec{kernels}));
  return cudaSuccess;
}
cudaError_t uploadGraph(cudaGraphExec_t exec, cudaStream_t stream) {
  AICF_LOCKED;
  return w.get<Exec>(exec) && w.get<Stream>(stream)
             ? cudaSuccess
             : cudaErrorInvalidResourceHandle;
}
cudaError_t launchGraph(cudaGraphExec_t handle, cudaStream_t streamHandle) {
  AICF_LOCKED;
  auto *exec = w.get<Exec>(handle);
  auto *stream = w.get<Stream>(streamHandle);
  if (!exec || !stream)
    return cudaErrorInvalidResourceHandle;
  if (stream->capture)
    return cudaErrorStreamCaptureUnsupported;
  w.kernels += exec->kernels;
  return cudaSuccess;
}
cudaError_t destroyExec(cudaGraphExec_t exec) {
  AICF_LOCKED;
  return w.destroy<Exec>(exec);
}
cudaError_t destroyGraph(cudaGraph_t graph) {
  AICF_LOCKED;
  return w.destroy<Graph>(graph);
}

#ifdef AICF_HAVE_CUBLASLT
using LibraryObject = FakeLibrary::Object;

template <typename Handle>
cublasStatus_t createLibrary(Handle *handle, std::vector<int64_t> numbers) {
  AICF_LOCKED;
  *handle = reinterpret_cast<Handle>(
      w.make(new LibraryObject{{}, std::move(numbers)}));
  return CUBLAS_STATUS_SUCCESS;
}
template <typename Handle> cublasStatus_t createLibrary(Handle *handle) {
  return createLibrary(handle, {});
}
template <typename Handle> LibraryObject *objectOf(Handle handle) {
  return world().get<LibraryObject>(
      const_cast<void *>(static_cast<const void *>(handle)));
}
template <typename Handle> cublasStatus_t destroyLibrary(Handle handle) {
  AICF_LOCKED;
  return w.destroy<LibraryObject>(const_cast<void *>(
             static_cast<const void *>(handle))) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_INVALID_VALUE;
}
template <typename Handle, typename Name>
cublasStatus_t setAttribute(Handle handle, Name name, const void *value,
                            size_t bytes) {
  AICF_LOCKED;
  LibraryObject *object = objectOf(handle);
  uint64_t number = 0;
  if (!object || bytes > sizeof(number))
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&number, value, bytes);
  object->attributes[int(name)] = number;
  return CUBLAS_STATUS_SUCCESS;
}

void addLibrary(CudaApi &api) {
  api.cublasLtVersion = 1;
  api.cublasLtCreate = createLibrary;
  api.cublasLtDestroy = destroyLibrary;
  api.cublasLtMatmulDescCreate = [](cublasLtMatmulDesc_t *desc,
                                    cublasComputeType_t compute,
                                    cudaDataType_t scale) {
    return createLibrary(desc, {compute, scale});
  };
  api.cublasLtMatmulDescDestroy = destroyLibrary;
  api.cublasLtMatmulDescSetAttribute = setAttribute;
  api.cublasLtMatrixLayoutCreate = [](cublasLtMatrixLayout_t *layout,
                                      cudaDataType type, uint64_t rows,
                                      uint64_t columns, int64_t pitch) {
    return createLibrary(layout,
                         {type, int64_t(rows), int64_t(columns), pitch});
  };
  api.cublasLtMatrixLayoutDestroy = destroyLibrary;
  api.cublasLtMatrixLayoutSetAttribute = setAttribute;
  api.cublasLtMatmulPreferenceCreate = createLibrary;
  api.cublasLtMatmulPreferenceDestroy = destroyLibrary;
  api.cublasLtMatmulPreferenceSetAttribute =
      [](cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t name,
         const void *value, size_t bytes) {
        AICF_LOCKED;
        if (bytes == sizeof(uint32_t))
          std::memcpy(&w.minAlignments[name], value, bytes);
        return CUBLAS_STATUS_SUCCESS;
      };
  api.cublasLtMatmulAlgoGetHeuristic =
      [](cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t a,
         cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
         cublasLtMatmulPreference_t, int wanted,
         cublasLtMatmulHeuristicResult_t *results, int *count) {
        AICF_LOCKED;
        const LibraryObject *first = objectOf(a);
        if (first &&
            first->attributes.count(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE) &&
            !w.library.takesAddresses)
          return CUBLAS_STATUS_NOT_SUPPORTED;
        w.library.wanted.push_back(wanted);
        if (w.library.offered != CUBLAS_STATUS_SUCCESS)
          return w.library.offered;
        *count = std::min(wanted, int(w.library.algorithms.size()));
        for (int i = 0; i < *count; ++i) {
          results[i] = {};
          results[i].state = w.library.algorithms[size_t(i)].state;
          results[i].algo.data[0] = uint64_t(i) + 1;
        }
        return CUBLAS_STATUS_SUCCESS;
      };
  api.cublasLtMatmulAlgoCheck =
      [](cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
         cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
         const cublasLtMatmulAlgo_t *,
         cublasLtMatmulHeuristicResult_t *result) {
        AICF_LOCKED;
        *result = {};
        result->workspaceSize = w.library.checkedWorkspace;
        return w.library.checked;
      };
  api.cublasLtMatmul = [](cublasLtHandle_t, cublasLtMatmulDesc_t desc,
                          const void *, const void *, cublasLtMatrixLayout_t a,
                          const void *, cublasLtMatrixLayout_t b, const void *,
                          const void *, cublasLtMatrixLayout_t, void *,
                          cublasLtMatrixLayout_t d,
                          const cublasLtMatmulAlgo_t *algorithm, void *,
                          size_t workspaceBytes, cudaStream_t handle) {
    AICF_LOCKED;
    auto *stream = w.get<Stream>(handle);
    LibraryObject *told[] = {objectOf(desc), objectOf(a), objectOf(b),
                             objectOf(d)};
    uint64_t number = algorithm->data[0];
    if (!stream || std::count(told, told + 4, nullptr) > 0 || number == 0 ||
        number > w.library.algorithms.size())
      return CUBLAS_STATUS_INVALID_VALUE;
    ++w.library.runs;
    w.library.product = *told[0];
    for (size_t i = 0; i < 3; ++i)
      w.library.matrices[i] = *told[i + 1];
    w.library.algorithm = number;
    w.library.workspaceBytes = workspaceBytes;
    const FakeLibrary::Algorithm &used = w.library.algorithms[number - 1];
    w.milliseconds = used.milliseconds;
    if (used.run != CUBLAS_STATUS_SUCCESS)
      return used.run;
    if (stream->capture && w.extraNode >= 0)
      addNode(*stream, cudaGraphNodeType(w.extraNode), nullptr);
    bool isNothing = stream->capture && w.otherFunction;
    if (stream->capture) {
      w.extraNode = -1;
      w.otherFunction = false;
    }
    if (isNothing)
      return CUBLAS_STATUS_SUCCESS;
    // A library may use several kernels, none of which is ours.
    if (!addNode(*stream, cudaGraphNodeTypeMemset, nullptr) ||
        !addNode(*stream, cudaGraphNodeTypeKernel, &w.decoy))
      ++w.kernels;
    return CUBLAS_STATUS_SUCCESS;
  };
}
#endif

CudaApi makeFakeApi() {
  CudaApi api;
  api.cudaGetDeviceCount = countDevices;
  api.cudaSetDevice = setDevice;
  api.cudaGetDeviceProperties = getProperties;
  api.cudaDriverGetVersion = driverVersion;
  api.cudaMemGetInfo = memInfo;
  api.cudaMalloc = allocate;
  api.cudaFree = release;
  api.cudaMallocHost = allocate;
  api.cudaFreeHost = release;
  api.cudaMemcpyAsync = copy;
  api.cudaMemcpy2DAsync = copy2D;
  api.cudaMemsetAsync = set;
  api.cudaStreamCreateWithFlags = createStream;
  api.cudaStreamDestroy = destroyStream;
  api.cudaStreamSynchronize = syncStream;
  api.cudaStreamWaitEvent = waitEvent;
  api.cudaEventCreateWithFlags = createEvent;
  api.cudaEventDestroy = destroyEvent;
  api.cudaEventRecord = recordEvent;
  api.cudaEventSynchronize = syncEvent;
  api.cudaEventElapsedTime = elapsed;
  api.cudaFuncSetAttribute = setFunctionAttribute;
  api.cudaLaunchKernelExC = launch;
  api.cudaGetLastError = lastError;
  api.cudaGetFuncBySymbol = functionOf;
  api.cudaStreamBeginCapture = beginCapture;
  api.cudaStreamEndCapture = endCapture;
  api.cudaThreadExchangeStreamCaptureMode = exchangeMode;
  api.cudaStreamGetCaptureInfo = captureInfo;
  api.cudaGraphGetNodes = getNodes;
  api.cudaGraphNodeGetType = nodeType;
  api.cudaGraphKernelNodeGetParams = kernelParams;
  api.cudaGraphInstantiate = instantiate;
  api.cudaGraphUpload = uploadGraph;
  api.cudaGraphLaunch = launchGraph;
  api.cudaGraphExecDestroy = destroyExec;
  api.cudaGraphDestroy = destroyGraph;
  api.cudaLibraryLoadData = loadLibrary;
  api.cudaLibraryGetKernel = libraryKernel;
  api.cudaKernelSetAttributeForDevice = setKernelAttribute;
  api.cudaLibraryUnload = unloadLibrary;
  api.cuGraphKernelNodeGetParams_v2 = loadedKernelParams;
#ifdef AICF_HAVE_CUBLASLT
  addLibrary(api);
#endif
  return api;
}

//===----------------------------------------------------------------------===//
// Failing calls
//===----------------------------------------------------------------------===//

std::atomic<uint64_t> callCount{0}, failingCall{UINT64_MAX};
std::atomic<const char *> failedName{""};
std::mutex namesMutex;
std::string names;

bool shallFail(const char *name) {
  {
    std::lock_guard<std::mutex> lock(namesMutex);
    names += std::string(names.empty() ? "" : " ") + name;
  }
  if (callCount++ != failingCall)
    return false;
  failedName = name;
  return true;
}

cudaError_t failure(cudaError_t) { return cudaErrorUnknown; }
CUresult failure(CUresult) { return CUDA_ERROR_UNKNOWN; }
#ifdef AICF_HAVE_CUBLASLT
cublasStatus_t failure(cublasStatus_t) { return CUBLAS_STATUS_INTERNAL_ERROR; }
#endif

/// The function of one table entry that may fail instead.
template <typename Function, int Number> struct Faulty;
template <typename R, typename... A, int Number>
struct Faulty<R (*)(A...), Number> {
  static inline R (*real)(A...);
  static inline const char *name;
  static R call(A... arguments) {
    bool fails = shallFail(name);
    bool frees = std::strstr(name, "Destroy") || std::strstr(name, "Free") ||
                 std::strstr(name, "Unload") || std::strstr(name, "EndCapture");
    if (!fails)
      return real(arguments...);
    if (frees)
      (void)real(arguments...);
    return failure(R());
  }
};

} // namespace

const CudaApi &fakeCudaApi() {
  static const CudaApi api = makeFakeApi();
  return api;
}

size_t fakeObjectsAlive() {
  AICF_LOCKED;
  return w.memory.size() + w.objects.size();
}
uint64_t fakeKernelsRun() {
  AICF_LOCKED;
  return w.kernels;
}
uint32_t fakeMinAlignment(int attribute) {
  AICF_LOCKED;
  return w.minAlignments[attribute];
}
#ifdef AICF_HAVE_CUBLASLT
FakeLibrary &fakeLibrary() { return world().library; }
#endif
uint64_t fakeMisuses() {
  AICF_LOCKED;
  return w.misuses;
}
void fakeSpoilNextKernel(bool otherFunction, int extraNodeType) {
  AICF_LOCKED;
  w.otherFunction = otherFunction;
  w.extraNode = extraNodeType;
}

CudaApi faultyCudaApi(const CudaApi &base) {
  CudaApi api = base;
#define AICF_FAULTY(NAME, PARAMETERS)                                          \
  {                                                                            \
    using Wrapper = Faulty<decltype(api.NAME), __COUNTER__>;                   \
    Wrapper::real = base.NAME;                                                 \
    Wrapper::name = #NAME;                                                     \
    api.NAME = Wrapper::call;                                                  \
  }
  AICF_CUDA_CALLS(AICF_FAULTY)
  AICF_CUDA_DRIVER_CALLS(AICF_FAULTY)
  AICF_CUBLASLT_CALLS(AICF_FAULTY)
#undef AICF_FAULTY
  api.cudaGetLastError = base.cudaGetLastError; // fails by what it returns
  return api;
}

void failCall(uint64_t failing) {
  callCount = 0;
  failedName = "";
  failingCall = failing;
  std::lock_guard<std::mutex> lock(namesMutex);
  names.clear();
}
uint64_t callsMade() { return callCount; }
const char *failedCall() { return failedName; }
std::string callNames() {
  std::lock_guard<std::mutex> lock(namesMutex);
  return names;
}

} // namespace aicf::test
