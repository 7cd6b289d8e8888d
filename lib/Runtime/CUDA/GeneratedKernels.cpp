//===- GeneratedKernels.cpp - kernels whose text follows from the call ----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The driver compiles the text of a graph's kernel (kernels/graph) when a call
// of it is prepared, and keeps what it compiled in a cache of its own. A kernel
// lives as long as a call that launches it.
//===----------------------------------------------------------------------===//

#include "kernels/graph/CudaProgram.h"
#include "lib/Runtime/CUDA/Handles.h"
#include "lib/Runtime/CUDA/Provider.h"
#include "lib/Runtime/CallArgs.h"

#include <mutex>
#include <unordered_map>

namespace aicf {
namespace {

struct LoadedText {
  LibraryHandle library;
  std::vector<cudaKernel_t> kernels; ///< one for each entry
};

StatusOr<std::shared_ptr<const LoadedText>>
load(const CudaApi &api, const cuda::GraphKernel &graph) {
  cudaLibrary_t library = nullptr;
  cudaError_t error = api.cudaLibraryLoadData(
      &library, graph.text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  Status loaded = checkCuda(api, error, "cudaLibraryLoadData");
  if (error == cudaErrorUnsupportedPtxVersion)
    return loaded.withContext("the driver is older than the CUDA that AICF was "
                              "built with");
  AICF_RETURN_IF_ERROR(loaded);
  auto text = std::make_shared<LoadedText>();
  text->library = LibraryHandle(api, library);
  for (const cuda::GraphKernel::Entry &entry : graph.entries)
    AICF_CUDA_TRY(api, cudaLibraryGetKernel, &text->kernels.emplace_back(),
                  library, entry.name.c_str());
  return std::shared_ptr<const LoadedText>(std::move(text));
}

class GeneratedCall : public CUDACall {
public:
  GeneratedCall(const CudaApi &api, std::shared_ptr<const LoadedText> text,
                std::vector<cuda::GraphKernel::Entry> entries)
      : api(api), text(std::move(text)) {
    for (size_t i = 0; i < entries.size(); ++i) {
      plan.push_back(std::move(entries[i].launch));
      plan.back().function = this->text->kernels[i];
    }
  }
  Status launch(cudaStream_t stream) const override {
    for (const cuda::PlannedLaunch &planned : plan)
      AICF_RETURN_IF_ERROR(launchPlanned(api, planned, stream));
    return {};
  }
  std::vector<PlannedFunction> functions() const override {
    std::vector<PlannedFunction> all;
    for (const cuda::PlannedLaunch &planned : plan)
      all.push_back({planned.function, /*isLoaded=*/true});
    return all;
  }

private:
  const CudaApi &api;
  std::shared_ptr<const LoadedText> text;
  cuda::LaunchPlan plan;
};

class GeneratedKernels : public Provider {
public:
  StatusOr<std::shared_ptr<const CUDACall>>
  prepare(const ResolvedCall &call, const PrepareContext &context) override {
    if (call.row->provider != KernelProvider::Generated)
      return std::shared_ptr<const CUDACall>();
    AICF_ASSIGN_OR_RETURN(cuda::GraphKernel graph,
                          cuda::writeGraphKernel(call.body(), call.values(),
                                                 call.workspace,
                                                 context.limits));
    AICF_ASSIGN_OR_RETURN(std::shared_ptr<const LoadedText> text,
                          find(graph, context));
    return std::shared_ptr<const CUDACall>(std::make_shared<GeneratedCall>(
        context.api, std::move(text), std::move(graph.entries)));
  }

private:
  StatusOr<std::shared_ptr<const LoadedText>>
  find(const cuda::GraphKernel &graph, const PrepareContext &context) {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = texts.find(graph.text);
    if (known != texts.end())
      if (std::shared_ptr<const LoadedText> text = known->second.lock())
        return text;
    if (context.isCapturing)
      return makeError(StatusCode::FailedState,
                       "a kernel cannot be loaded while the thread captures: "
                       "resolve the call before");
    AICF_ASSIGN_OR_RETURN(std::shared_ptr<const LoadedText> text,
                          load(context.api, graph));
    for (auto it = texts.begin(); it != texts.end();)
      it = it->second.expired() ? texts.erase(it) : std::next(it);
    texts[graph.text] = text;
    return text;
  }

  std::mutex mutex;
  std::unordered_map<std::string, std::weak_ptr<const LoadedText>> texts;
};

} // namespace

std::unique_ptr<Provider> makeGeneratedKernels() {
  return std::make_unique<GeneratedKernels>();
}

} // namespace aicf
