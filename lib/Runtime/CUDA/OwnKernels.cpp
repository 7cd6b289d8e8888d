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
    for (const cuda::PlannedLaunch &l : plan)
      AICF_RETURN_IF_ERROR(launchPlanned(api, l, stream));
    return {};
  }
  std::vector<PlannedFunction> functions() const override {
    std::vector<PlannedFunction> all;
    for (const cuda::PlannedLaunch &l : plan)
      all.push_back({l.function, /*isLoaded=*/false});
    return all;
  }

private:
  const CudaApi &api;
  cuda::LaunchPlan plan;
};

/// A kernel that asks for more shared memory than any may have gets the card's limit:
/// other calls of it ask for other amounts.
Status allowShared(const PrepareContext &context, const cuda::PlannedLaunch &launch) {
  // 48 KiB, of which what the kernel itself declares is a part: up to 1 KiB.
  constexpr uint32_t kAlwaysAllowed = 47 << 10;
  if (launch.sharedBytes <= kAlwaysAllowed)
    return {};
  const CudaApi &api = context.api;
  AICF_CUDA_TRY(api, cudaFuncSetAttribute, launch.function,
                cudaFuncAttributeMaxDynamicSharedMemorySize,
                int(context.limits.sharedBytesOfBlock));
  return {};
}

class OwnKernels : public Provider {
public:
  StatusOr<std::shared_ptr<const CUDACall>>
  prepare(const ResolvedCall &call, const PrepareContext &context) override {
    cuda::Planner planner = cuda::findPlanner(call.row->kid);
    if (!planner)
      return std::shared_ptr<const CUDACall>();
    return prepareOwn(planner, call, context);
  }
};

} // namespace

StatusOr<std::shared_ptr<const CUDACall>>
prepareOwn(cuda::Planner planner, const ResolvedCall &call,
           const PrepareContext &context) {
  cuda::LaunchPlan plan = planner(call.launchArgs(), context.limits);
  for (const cuda::PlannedLaunch &launch : plan)
    AICF_RETURN_IF_ERROR(allowShared(context, launch));
  return std::shared_ptr<const CUDACall>(
      std::make_shared<PlannedCall>(context.api, std::move(plan)));
}

Status launchFunction(const CudaApi &api, const void *function,
                      const cuda::PlannedLaunch &launch, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(launch.grid[0], launch.grid[1], launch.grid[2]);
  config.blockDim = dim3(launch.block[0], launch.block[1], launch.block[2]);
  config.dynamicSmemBytes = launch.sharedBytes;
  config.stream = stream;
  void *parameters[] = {const_cast<uint64_t *>(launch.params.data())};
  AICF_CUDA_TRY(api, cudaLaunchKernelExC, &config, function, parameters);
  return {};
}

std::unique_ptr<Provider> makeOwnKernels() {
  return std::make_unique<OwnKernels>();
}

} // namespace aicf
