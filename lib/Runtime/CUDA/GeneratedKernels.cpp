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

struct LoadedKernel {
  LibraryHandle library;
  cudaKernel_t kernel = nullptr;
};

StatusOr<std::shared_ptr<const LoadedKernel>> load(const CudaApi &api,
                                                   const std::string &text) {
  cudaLibrary_t library = nullptr;
  cudaError_t error = api.cudaLibraryLoadData(
      &library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  Status loaded = checkCuda(api, error, "cudaLibraryLoadData");
  if (error == cudaErrorUnsupportedPtxVersion)
    return loaded.withContext("the driver is older than the CUDA that AICF was "
                              "built with");
  AICF_RETURN_IF_ERROR(loaded);
  auto kernel = std::make_shared<LoadedKernel>();
  kernel->library = LibraryHandle(api, library);
  AICF_CUDA_TRY(api, cudaLibraryGetKernel, &kernel->kernel, library,
                cuda::kGraphEntry);
  return std::shared_ptr<const LoadedKernel>(std::move(kernel));
}

class GeneratedCall : public CUDACall {
public:
  GeneratedCall(const CudaApi &api, std::shared_ptr<const LoadedKernel> kernel,
                cuda::PlannedLaunch launch)
      : api(api), kernel(std::move(kernel)), planned(std::move(launch)) {
    planned.function = this->kernel->kernel;
  }
  Status launch(cudaStream_t stream) const override {
    return launchPlanned(api, planned, stream);
  }
  std::vector<PlannedFunction> functions() const override {
    return {{planned.function, /*isLoaded=*/true}};
  }

private:
  const CudaApi &api;
  std::shared_ptr<const LoadedKernel> kernel;
  cuda::PlannedLaunch planned;
};

class GeneratedKernels : public Provider {
public:
  StatusOr<std::shared_ptr<const CUDACall>>
  prepare(const ResolvedCall &call, const PrepareContext &context) override {
    if (call.row->provider != KernelProvider::Generated)
      return std::shared_ptr<const CUDACall>();
    AICF_ASSIGN_OR_RETURN(cuda::GraphKernel graph,
                          cuda::writeGraphKernel(call.body(), call.values()));
    AICF_ASSIGN_OR_RETURN(std::shared_ptr<const LoadedKernel> kernel,
                          find(graph.text, context));
    return std::shared_ptr<const CUDACall>(std::make_shared<GeneratedCall>(
        context.api, std::move(kernel), std::move(graph.launch)));
  }

private:
  StatusOr<std::shared_ptr<const LoadedKernel>>
  find(const std::string &text, const PrepareContext &context) {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = kernels.find(text);
    if (known != kernels.end())
      if (std::shared_ptr<const LoadedKernel> kernel = known->second.lock())
        return kernel;
    if (context.isCapturing)
      return makeError(StatusCode::FailedState,
                       "a kernel cannot be loaded while the thread captures: "
                       "resolve the call before");
    AICF_ASSIGN_OR_RETURN(std::shared_ptr<const LoadedKernel> kernel,
                          load(context.api, text));
    for (auto it = kernels.begin(); it != kernels.end();)
      it = it->second.expired() ? kernels.erase(it) : std::next(it);
    kernels[text] = kernel;
    return kernel;
  }

  std::mutex mutex;
  std::unordered_map<std::string, std::weak_ptr<const LoadedKernel>> kernels;
};

} // namespace

std::unique_ptr<Provider> makeGeneratedKernels() {
  return std::make_unique<GeneratedKernels>();
}

} // namespace aicf
