//===- OwnKernels.cpp - kernels of ours as calls of a GPU -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CUDA/Provider.h"
#include "lib/Runtime/CallArgs.h"

namespace aicf {
namespace {

/// A call of kernels of our own: launched as planned.
class PlannedCall : public CUDACall {
public:
  PlannedCall(const CudaApi &api, cuda::LaunchPlan plan)
      : api(api), plan(std::move(plan)) {}

  Status launch(cudaStream_t stream) const override {
    for (const cuda::PlannedLaunch &l : plan) {
      cudaLaunchConfig_t config{};
      config.gridDim = dim3(l.grid[0], l.grid[1], l.grid[2]);
      config.blockDim = dim3(l.block[0], l.block[1], l.block[2]);
      config.dynamicSmemBytes = l.sharedBytes;
      config.stream = stream;
      void *parameters[] = {const_cast<uint64_t *>(l.params.data())};
      AICF_CUDA_TRY(api, cudaLaunchKernelExC, &config, l.function, parameters);
    }
    return {};
  }
  std::vector<const void *> functions() const override {
    std::vector<const void *> all;
    for (const cuda::PlannedLaunch &l : plan)
      all.push_back(l.function);
    return all;
  }

private:
  const CudaApi &api;
  cuda::LaunchPlan plan;
};

class OwnKernels : public Provider {
public:
  StatusOr<std::shared_ptr<const CUDACall>>
  prepare(const ResolvedCall &call, const PrepareContext &context) override {
    cuda::Planner planner = cuda::findPlanner(call.row->kid);
    if (!planner)
      return std::shared_ptr<const CUDACall>();
    return std::shared_ptr<const CUDACall>(std::make_shared<PlannedCall>(
        context.api, planner(call.launchArgs(), context.limits)));
  }
};

} // namespace

std::unique_ptr<Provider> makeOwnKernels() {
  return std::make_unique<OwnKernels>();
}

} // namespace aicf
