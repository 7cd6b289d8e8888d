//===- SdpaGraph.cpp - attention as a graph of cuDNN ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The frontend looks up the functions of cuDNN and of the CUDA runtime in libraries that
// it opens by name. It gets those of our table of CUDA calls instead, so that a process
// has one runtime, and a fake card works. Its exceptions end here.
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CUDA/SdpaGraph.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string>
#include <unordered_map>

namespace aicf::cudnn {
namespace {

/// Stands for the CUDA runtime among what the frontend opens.
char runtimeToken;
/// The table of the last device that loaded the library.
const CudaApi *cudaOfFrontend = nullptr;

void *openForFrontend(const char *text, int) {
  // Two runtimes would make it warn. Nothing of ours compiles text by NVRTC, and the
  // driver is asked by the runtime.
  const std::string_view name(text);
  return name.find("cudart") != name.npos && name != "libcudart.so.12" ? &runtimeToken
                                                                       : nullptr;
}

void *runtimeFunction(std::string_view name) {
#define AICF_CUDA_CALL(NAME, PARAMETERS)                                       \
  if (name == #NAME)                                                           \
    return reinterpret_cast<void *>(cudaOfFrontend->NAME);
  AICF_CUDA_CALLS(AICF_CUDA_CALL)
#undef AICF_CUDA_CALL
  if (name == "cudaGetErrorString")
    return reinterpret_cast<void *>(&::cudaGetErrorString);
  if (name == "cudaGetDriverEntryPointByVersion")
    return reinterpret_cast<void *>(&::cudaGetDriverEntryPointByVersion);
  return nullptr; // the frontend throws
}

void *symbolForFrontend(void *library, const char *name) {
  return library == &runtimeToken ? runtimeFunction(name) : dlsym(library, name);
}

} // namespace
} // namespace aicf::cudnn

#define dlopen aicf::cudnn::openForFrontend
#define dlsym aicf::cudnn::symbolForFrontend
#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define NV_CUDNN_FRONTEND_DISABLE_LOGGING
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>
#undef dlopen
#undef dlsym

namespace cudnn_frontend {
void *cudnn_dlhandle = nullptr;
} // namespace cudnn_frontend

namespace aicf::cudnn {
namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

/// What a graph calls its tensors.
enum Uid : int64_t { Q = 1, K, V, Y, Lse, DY, DQ, DK, DV };

/// Runs `work`, whose exceptions become errors.
template <typename Work> Status guarded(const char *what, Work work) {
  try {
    fe::error_t error = work();
    if (error.is_good())
      return {};
    return makeError(StatusCode::NotImplemented, "cuDNN, ", what, ": ",
                     error.get_message());
  } catch (const std::exception &error) {
    return makeError(StatusCode::NotImplemented, "cuDNN, ", what, ": ",
                     error.what());
  }
}

/// [batch, length, heads, size] as the library's [batch, heads, length, size].
void setHeads(fe::graph::Tensor_attributes &tensor, const TensorView &view, Uid uid) {
  const TensorDesc &desc = view.desc;
  // A dimension of 1 may have any stride, and the library wants aligned ones.
  auto stride = [&](size_t i) {
    return desc.dims[i] == 1 ? desc.width() : desc.stride(i);
  };
  tensor.set_uid(uid)
      .set_dim({desc.dims[0], desc.dims[2], desc.dims[1], desc.dims[3]})
      .set_stride({stride(0), stride(2), stride(1), 1});
}
Tensor heads(fe::graph::Graph &graph, const TensorView &view, Uid uid) {
  fe::graph::Tensor_attributes tensor;
  setHeads(tensor, view, uid);
  return graph.tensor(tensor);
}
void setRows(fe::graph::Tensor_attributes &tensor, const AttentionExtents &e) {
  tensor.set_uid(Lse)
      .set_dim({e.batches, e.heads, e.queries, 1})
      .set_stride({e.heads * e.queries, e.queries, 1, 1})
      .set_data_type(fe::DataType_t::FLOAT);
}
void setResult(const Tensor &tensor, const TensorView &view, Uid uid) {
  setHeads(*tensor, view, uid);
  tensor->set_output(true);
}

template <typename Attributes> void setWindow(Attributes &to, const Sdpa &sdpa) {
  to.set_attn_scale(float(sdpa.extents.scale));
  if (!sdpa.isCausal())
    return;
  to.set_diagonal_alignment(sdpa.isAlignedToEnd()
                                ? fe::DiagonalAlignment_t::BOTTOM_RIGHT
                                : fe::DiagonalAlignment_t::TOP_LEFT);
  to.set_diagonal_band_right_bound(0);
  // It counts the query's own place, as an int. A wider window hides nothing.
  if (sdpa.extents.left >= 0 && sdpa.extents.left < sdpa.extents.keys - 1)
    to.set_diagonal_band_left_bound(int(sdpa.extents.left + 1));
}

void addForward(fe::graph::Graph &graph, const Sdpa &s) {
  fe::graph::SDPA_attributes attributes;
  attributes.set_name("attention").set_generate_stats(true);
  setWindow(attributes, s);
  auto [y, lse] = graph.sdpa(heads(graph, s.q, Q), heads(graph, s.k, K),
                             heads(graph, s.v, V), attributes);
  setResult(y, s.y, Y);
  setRows(*lse, s.extents);
  lse->set_output(true);
}

void addGradients(fe::graph::Graph &graph, const Sdpa &s) {
  fe::graph::SDPA_backward_attributes attributes;
  attributes.set_name("attention_bwd").set_deterministic_algorithm(true);
  setWindow(attributes, s);
  fe::graph::Tensor_attributes rows;
  setRows(rows, s.extents);
  auto [dq, dk, dv] = graph.sdpa_backward(
      heads(graph, s.q, Q), heads(graph, s.k, K), heads(graph, s.v, V),
      heads(graph, s.y, Y), heads(graph, s.dy, DY), graph.tensor(rows), attributes);
  setResult(dq, s.dq, DQ);
  setResult(dk, s.dk, DK);
  setResult(dv, s.dv, DV);
}

class BuiltGraph : public SdpaGraph {
public:
  BuiltGraph(std::mutex &mutex, cudnnHandle_t handle) : mutex(mutex), handle(handle) {}

  fe::error_t build(const Sdpa &sdpa, int computeCapability) {
    graph.set_io_data_type(sdpa.q.desc.dtype == DType::F16 ? fe::DataType_t::HALF
                                                           : fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT)
        .set_sm_version(computeCapability)
        .set_cuda_graph_retention(fe::CudaGraphRetention_t::NONE);
    sdpa.isGradient() ? addGradients(graph, sdpa) : addForward(graph, sdpa);
    if (fe::error_t error = graph.build(handle, {fe::HeurMode_t::A}); error.is_bad())
      return error;
    return graph.get_workspace_size(bytes);
  }

  uint64_t workspaceBytes() const override { return uint64_t(bytes); }

  Status launch(const Sdpa &s, void *workspace, cudaStream_t stream) const override {
    std::unordered_map<int64_t, void *> pointers = {
        {Q, s.q.start()}, {K, s.k.start()},     {V, s.v.start()},
        {Y, s.y.start()}, {Lse, s.lse.start()},
    };
    if (s.isGradient())
      pointers.insert({{DY, s.dy.start()}, {DQ, s.dq.start()}, {DK, s.dk.start()},
                       {DV, s.dv.start()}});
    std::lock_guard<std::mutex> lock(mutex);
    Status status = guarded("a launch", [&]() -> fe::error_t {
      if (fe::detail::set_stream(handle, stream) != CUDNN_STATUS_SUCCESS)
        return {fe::error_code_t::HANDLE_ERROR, "the stream was not taken"};
      return graph.execute(handle, pointers, workspace);
    });
    if (!status.ok())
      return makeError(StatusCode::DeviceError, status.message());
    return {};
  }

private:
  std::mutex &mutex;
  cudnnHandle_t handle;
  fe::graph::Graph graph;
  int64_t bytes = 0;
};

} // namespace

StatusOr<std::unique_ptr<Library>> Library::load(const CudaApi &api) {
  const char *path = std::getenv("AICF_CUDNN_LIBRARY");
  path = path ? path : "libcudnn.so.9";
  void *opened = dlopen(path, RTLD_NOW);
  if (!opened)
    return makeError(StatusCode::NotImplemented, dlerror());
  // The library stays open: its kernels live until the process ends, and the frontend
  // keeps what it looked up.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (!dlsym(opened, "cudnnGetVersion") || !dlsym(opened, "cudnnCreate"))
    return makeError(StatusCode::NotImplemented, path, " is not cuDNN");
  if (fe::cudnn_dlhandle && fe::cudnn_dlhandle != opened)
    return makeError(StatusCode::NotImplemented, "the process has another cuDNN");
  fe::cudnn_dlhandle = opened;
  cudaOfFrontend = &api;
  std::unique_ptr<Library> library(new Library);
  AICF_RETURN_IF_ERROR(guarded("cudnnCreate", [&]() -> fe::error_t {
    auto *handle = reinterpret_cast<cudnnHandle_t *>(&library->handle);
    if (fe::detail::create_handle(handle) != CUDNN_STATUS_SUCCESS)
      return {fe::error_code_t::HANDLE_ERROR, "no handle"};
    return {};
  }));
  return library;
}

Library::~Library() {
  if (handle)
    (void)guarded("cudnnDestroy", [&]() -> fe::error_t {
      (void)fe::detail::destroy_handle(static_cast<cudnnHandle_t>(handle));
      return {};
    });
}

size_t Library::version() const { return fe::detail::get_backend_version(); }

StatusOr<std::shared_ptr<const SdpaGraph>>
SdpaGraph::build(Library &library, const Sdpa &sdpa, int computeCapability) {
  std::lock_guard<std::mutex> lock(library.mutex);
  auto graph = std::make_shared<BuiltGraph>(
      library.mutex, static_cast<cudnnHandle_t>(library.handle));
  AICF_RETURN_IF_ERROR(guarded(
      "a graph", [&] { return graph->build(sdpa, computeCapability); }));
  return std::shared_ptr<const SdpaGraph>(std::move(graph));
}

} // namespace aicf::cudnn
