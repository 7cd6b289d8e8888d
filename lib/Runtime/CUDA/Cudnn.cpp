//===- Cudnn.cpp - attention by cuDNN, or by kernels of ours --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The library is loaded when the first call wants it: its handle takes half a second. A
// graph is built once for all calls of one shape. Where the library is missing, does not
// run a call, or asks for more workspace than the plan has, a kernel of ours runs.
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CUDA/Provider.h"
#include "lib/Runtime/CUDA/SdpaGraph.h"
#include "lib/Runtime/CallArgs.h"

#include <cstring>
#include <map>
#include <optional>

namespace aicf {
namespace {

#ifdef AICF_HAVE_CUDNN

/// What a built graph depends on: everything but addresses.
std::vector<int64_t> keyOf(const Sdpa &sdpa) {
  const AttentionExtents &e = sdpa.extents;
  int64_t scale = 0;
  static_assert(sizeof(scale) == sizeof(e.scale));
  std::memcpy(&scale, &e.scale, sizeof(scale));
  std::vector<int64_t> key = {int64_t(sdpa.q.desc.dtype), scale, e.left, e.right,
                              e.offset, sdpa.isGradient()};
  for (const TensorView *view : {&sdpa.q, &sdpa.k, &sdpa.v, &sdpa.y, &sdpa.dy, &sdpa.dq,
                                 &sdpa.dk, &sdpa.dv})
    for (size_t i = 0; i < view->desc.rank; ++i) {
      key.push_back(view->desc.dims[i]);
      key.push_back(view->desc.dims[i] == 1 ? 0 : view->desc.stride(i));
    }
  return key;
}

class SdpaCall : public CUDACall {
public:
  SdpaCall(std::shared_ptr<const cudnn::SdpaGraph> graph, const Sdpa &sdpa,
           void *workspace)
      : graph(std::move(graph)), sdpa(sdpa), workspace(workspace) {}

  Status launch(cudaStream_t stream) const override {
    return graph->launch(sdpa, workspace, stream);
  }
  std::vector<PlannedFunction> functions() const override { return {}; }

private:
  std::shared_ptr<const cudnn::SdpaGraph> graph;
  Sdpa sdpa;
  void *workspace;
};

/// A capture refuses to allocate, which building does; it touches no stream, so that it
/// may do so all the same.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const CudaApi &api) : api(api) { exchange(); }
  ~RelaxedCapture() { exchange(); }

private:
  void exchange() { (void)api.cudaThreadExchangeStreamCaptureMode(&mode); }

  const CudaApi &api;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
};

/// The library and its graphs.
class Graphs {
public:
  /// A call of the library; null where it does not run one.
  std::shared_ptr<const CUDACall> prepare(const Sdpa &sdpa, const ResolvedCall &call,
                                          const PrepareContext &context) {
    const TensorView &workspace = call.workspace;
    const uint64_t bytes = workspace.start() ? workspace.desc.spanBytes() : 0;
    std::shared_ptr<const cudnn::SdpaGraph> graph = find(sdpa, context);
    if (!graph || graph->workspaceBytes() > bytes)
      return nullptr;
    return std::make_shared<SdpaCall>(std::move(graph), sdpa, workspace.start());
  }

private:
  /// The graph for such a call; null where the library has none.
  std::shared_ptr<const cudnn::SdpaGraph> find(const Sdpa &sdpa,
                                               const PrepareContext &context) {
    std::lock_guard<std::mutex> lock(mutex);
    auto [entry, isNew] = graphs.try_emplace(keyOf(sdpa));
    if (!isNew)
      return entry->second;
    RelaxedCapture relaxed(context.api);
    if (!library)
      library = cudnn::Library::load(context.api);
    if (!library->ok())
      return nullptr;
    auto built = cudnn::SdpaGraph::build(***library, sdpa, context.computeCapability);
    if (built.ok())
      entry->second = *built;
    return entry->second;
  }

  std::mutex mutex;
  /// Empty before it was wanted. Its graphs go first.
  std::optional<StatusOr<std::unique_ptr<cudnn::Library>>> library;
  std::map<std::vector<int64_t>, std::shared_ptr<const cudnn::SdpaGraph>> graphs;
};

#else

/// A build without the library's headers.
struct Graphs {
  std::shared_ptr<const CUDACall> prepare(const Sdpa &, const ResolvedCall &,
                                          const PrepareContext &) {
    return nullptr;
  }
};

#endif // AICF_HAVE_CUDNN

class Cudnn : public Provider {
public:
  StatusOr<std::shared_ptr<const CUDACall>>
  prepare(const ResolvedCall &call, const PrepareContext &context) override {
    const SdpaKernel *kernel = findSdpaKernel(call.row->kid);
    if (!kernel)
      return std::shared_ptr<const CUDACall>();
    if (auto theirs = graphs.prepare(kernel->read(call.launchArgs()), call, context))
      return theirs;
    return prepareOwn(kernel->own, call, context);
  }

private:
  Graphs graphs;
};

} // namespace

std::unique_ptr<Provider> makeCudnn() { return std::make_unique<Cudnn>(); }

} // namespace aicf
