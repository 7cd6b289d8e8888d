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
#include "lib/Base/BadAlloc.h"
#include "lib/Base/Machine.h"
#include "lib/Runtime/CUDA/Handles.h"
#include "lib/Runtime/CUDA/Provider.h"
#include "lib/Runtime/CallArgs.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace aicf {
namespace {

/// A text, and what the driver made of it once it was loaded.
struct Text {
  std::string text;
  std::vector<std::string> names; ///< of its kernels
  std::vector<uint32_t> shared;   ///< memory that they ask for, in bytes
  bool isLoaded = false;          ///< or could not be: see `status`
  Status status;
  LibraryHandle library;
  std::vector<cudaKernel_t> kernels; ///< in the order of the names
};

Status load(const CudaApi &api, int ordinal, Text &text) {
  AICF_CUDA_TRY(api, cudaSetDevice, ordinal);
  cudaLibrary_t library = nullptr;
  cudaError_t error = api.cudaLibraryLoadData(
      &library, text.text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  Status loaded = checkCuda(api, error, "cudaLibraryLoadData");
  if (error == cudaErrorUnsupportedPtxVersion)
    return loaded.withContext("the driver is older than the CUDA that AICF was "
                              "built with");
  AICF_RETURN_IF_ERROR(loaded);
  text.library = LibraryHandle(api, library);
  for (size_t i = 0; i < text.names.size(); ++i) {
    AICF_CUDA_TRY(api, cudaLibraryGetKernel, &text.kernels.emplace_back(),
                  library, text.names[i].c_str());
    if (text.shared[i] > 0)
      AICF_CUDA_TRY(api, cudaKernelSetAttributeForDevice, text.kernels[i],
                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                    int(text.shared[i]), ordinal);
  }
  return {};
}

/// All texts that some call has. Equal ones are one.
class Texts {
public:
  Texts(const CudaApi &api, int ordinal) : api(api), ordinal(ordinal) {}

  /// The text of a graph, which finish() loads if it is new.
  StatusOr<std::shared_ptr<Text>> find(const cuda::GraphKernel &graph,
                                       bool isCapturing) {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = texts.find(graph.text);
    std::shared_ptr<Text> text =
        known == texts.end() ? nullptr : known->second.lock();
    if (isCapturing && !(text && text->isLoaded))
      return makeError(StatusCode::FailedState,
                       "a kernel cannot be loaded while the thread captures: "
                       "resolve the call before");
    if (text)
      return text;
    for (auto it = texts.begin(); it != texts.end();)
      it = it->second.expired() ? texts.erase(it) : std::next(it);
    text = std::make_shared<Text>();
    text->text = graph.text;
    for (const cuda::GraphKernel::Entry &entry : graph.entries) {
      text->names.push_back(entry.name);
      text->shared.push_back(entry.launch.sharedBytes);
    }
    texts[graph.text] = text;
    waiting.push_back(text);
    return text;
  }

  /// Loads the text, and all others that wait, unless that was done.
  Status finish(const Text &text) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!text.isLoaded)
      loadWaiting();
    return text.status;
  }

private:
  /// The driver compiles a text in 10 to 40 ms, on the thread that loads it.
  void loadWaiting() {
    std::vector<std::shared_ptr<Text>> all;
    for (const std::weak_ptr<Text> &one : waiting)
      if (std::shared_ptr<Text> text = one.lock())
        all.push_back(std::move(text));
    waiting.clear();
    std::atomic<size_t> next{0};
    auto work = [&] {
      for (size_t i; (i = next++) < all.size();)
        all[i]->status =
            catchBadAlloc([&] { return load(api, ordinal, *all[i]); });
    };
    constexpr size_t kMostThreads = 16;
    const size_t numThreads =
        std::min({all.size(), kMostThreads, size_t(numUsableProcessors())});
    std::vector<std::thread> helpers;
    try {
      helpers.reserve(numThreads);
      while (helpers.size() + 1 < numThreads)
        helpers.emplace_back(work);
    } catch (const std::exception &) {
      // Fewer threads do the same.
    }
    work();
    for (std::thread &helper : helpers)
      helper.join();
    for (const std::shared_ptr<Text> &text : all) {
      text->isLoaded = true;
      if (!text->status.ok()) // the next call tries again
        texts.erase(text->text);
      text->text = std::string(); // which `texts` has
    }
  }

  const CudaApi &api;
  const int ordinal;
  std::mutex mutex;
  std::unordered_map<std::string, std::weak_ptr<Text>> texts;
  std::vector<std::weak_ptr<Text>> waiting;
};

class GeneratedCall : public CUDACall {
public:
  GeneratedCall(const CudaApi &api, std::shared_ptr<Texts> texts,
                std::shared_ptr<const Text> text,
                std::vector<cuda::GraphKernel::Entry> entries)
      : api(api), texts(std::move(texts)), text(std::move(text)) {
    for (cuda::GraphKernel::Entry &entry : entries)
      plan.push_back(std::move(entry.launch));
  }
  Status finish() const override { return texts->finish(*text); }
  Status launch(cudaStream_t stream) const override {
    if (text->kernels.size() < plan.size())
      return makeError(StatusCode::FailedState,
                       "the call is not finished: its kernel is not loaded");
    for (size_t i = 0; i < plan.size(); ++i)
      AICF_RETURN_IF_ERROR(
          launchFunction(api, text->kernels[i], plan[i], stream));
    return {};
  }
  std::vector<PlannedFunction> functions() const override {
    std::vector<PlannedFunction> all;
    for (cudaKernel_t kernel : text->kernels)
      all.push_back({kernel, /*isLoaded=*/true});
    return all;
  }

private:
  const CudaApi &api;
  std::shared_ptr<Texts> texts;
  std::shared_ptr<const Text> text;
  cuda::LaunchPlan plan; ///< without functions: those of the text, in order
};

class GeneratedKernels : public Provider {
public:
  explicit GeneratedKernels(const PrepareContext &context)
      : texts(std::make_shared<Texts>(context.api, context.options.ordinal)) {}

  StatusOr<std::shared_ptr<const CUDACall>>
  prepare(const ResolvedCall &call, const PrepareContext &context) override {
    if (call.row->provider != KernelProvider::Generated)
      return std::shared_ptr<const CUDACall>();
    AICF_ASSIGN_OR_RETURN(cuda::GraphKernel graph,
                          cuda::writeGraphKernel(call.body(), call.values(),
                                                 call.workspace,
                                                 context.limits));
    AICF_ASSIGN_OR_RETURN(std::shared_ptr<const Text> text,
                          texts->find(graph, context.isCapturing));
    return std::shared_ptr<const CUDACall>(std::make_shared<GeneratedCall>(
        context.api, texts, std::move(text), std::move(graph.entries)));
  }

private:
  std::shared_ptr<Texts> texts;
};

} // namespace

std::unique_ptr<Provider> makeGeneratedKernels(const PrepareContext &context) {
  return std::make_unique<GeneratedKernels>(context);
}

} // namespace aicf
