//===- CUDADevice.cpp - a GPU as a device ---------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDADevice.h"
#include "CUDAStream.h"
#include "CublasLt.h"
#include "Entry.h"

#include <algorithm>

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

} // namespace

CUDADevice::CUDADevice(const CudaApi &api, const CUDADeviceOptions &options)
    : api(api), options(options) {}

CUDADevice::~CUDADevice() = default;

StatusOr<std::shared_ptr<CUDADevice>>
CUDADevice::create(const CudaApi &api, const CUDADeviceOptions &options) {
  std::shared_ptr<CUDADevice> device(new CUDADevice(api, options));
  AICF_RETURN_IF_ERROR(device->initialize());
  return device;
}

Status CUDADevice::initialize() {
  int count = 0;
  AICF_CUDA_TRY(api, cudaGetDeviceCount, &count);
  if (options.ordinal < 0 || options.ordinal >= count)
    return makeError(StatusCode::InvalidArgument, "CUDA device ",
                     options.ordinal, " is not there: the machine has ", count);
  AICF_RETURN_IF_ERROR(activate());
  cudaDeviceProp properties{};
  AICF_CUDA_TRY(api, cudaGetDeviceProperties, &properties, options.ordinal);
  if (properties.major < 8)
    return makeError(StatusCode::DeviceError, properties.name,
                     " has compute capability ", properties.major, ".",
                     properties.minor, ", 8.0 or more is needed");
  limits.numMultiprocessors = properties.multiProcessorCount;
  int driver = 0;
  AICF_CUDA_TRY(api, cudaDriverGetVersion, &driver);
  text = std::string(properties.name) + ", CUDA driver " +
         std::to_string(driver) + ", cuBLASLt " +
         std::to_string(api.cublasLtVersion);
  AICF_ASSIGN_OR_RETURN(idleStream, makeStream(api));
  library = std::make_unique<CublasLt>(*this, options);
  return library->initialize();
}

Status CUDADevice::activate() const {
  AICF_CUDA_TRY(api, cudaSetDevice, options.ordinal);
  return {};
}

StatusOr<void *> CUDADevice::allocate(uint64_t bytes) {
  AICF_RETURN_IF_ERROR(activate());
  void *memory = nullptr;
  bytes = bytes ? bytes : 1;
  Status status = checkCuda(api, api.cudaMalloc(&memory, bytes), "cudaMalloc");
  if (!status.ok())
    return status.withContext("cannot allocate " + std::to_string(bytes) +
                              " bytes of device memory");
  DeviceMemory owned(api, memory);
  AICF_CUDA_TRY(api, cudaMemsetAsync, memory, 0, bytes, idleStream.get());
  AICF_CUDA_TRY(api, cudaStreamSynchronize, idleStream.get());
  countAllocation();
  return owned.release();
}

void CUDADevice::deallocate(void *memory) noexcept {
  (void)api.cudaFree(memory);
}

StatusOr<std::unique_ptr<Stream>> CUDADevice::createStream() {
  AICF_ASSIGN_OR_RETURN(std::unique_ptr<CUDAStream> stream,
                        CUDAStream::create(*this));
  return std::unique_ptr<Stream>(std::move(stream));
}

Status CUDADevice::copyToDevice(Stream &stream, void *to, const void *from,
                                uint64_t bytes) {
  return static_cast<CUDAStream &>(stream).upload(to, from, bytes);
}

Status CUDADevice::copyToHost(Stream &stream, void *to, const void *from,
                              uint64_t bytes) {
  return static_cast<CUDAStream &>(stream).download(to, from, bytes);
}

Status CUDADevice::fill(Stream &stream, void *at, uint8_t value,
                        uint64_t bytes) {
  return static_cast<CUDAStream &>(stream).fill(at, value, bytes);
}

uint64_t CUDADevice::freeBytes() const {
  size_t available = 0, total = 0;
  if (!activate().ok() || api.cudaMemGetInfo(&available, &total) != cudaSuccess)
    return 0;
  return available;
}

/// The workspace as the call asked for it. Shared with other calls, it may be
/// larger; what the others are must not change how this one computes.
static TensorView ownWorkspace(const ResolvedCall &call) {
  if (!call.workspace.data)
    return {};
  std::vector<TensorDesc> ins, outs;
  LaunchArgs args = call.launchArgs();
  for (const TensorView &view : args.operands())
    ins.push_back(isAbsent(view) ? TensorDesc::absent() : view.desc);
  for (const TensorView &view : args.results())
    outs.push_back(isAbsent(view) ? TensorDesc::absent() : view.desc);
  uint64_t bytes = std::min(call.workspace.desc.numBytes(),
                            call.row->workspaceBytes(ins, outs));
  return {call.workspace.data, TensorDesc(DType::I32, {int64_t(bytes / 4)})};
}

StatusOr<std::shared_ptr<const DeviceCall>>
CUDADevice::prepareCall(const ResolvedCall &shared) {
  AICF_RETURN_IF_ERROR(activate());
  ResolvedCall call = shared;
  call.workspace = ownWorkspace(shared);
  if (cuda::Planner planner = cuda::findPlanner(call.row->kid)) {
    cuda::LaunchPlan plan = planner(call.launchArgs(), limits);
    if (plan.empty())
      return makeError(StatusCode::NotImplemented, call.row->kid,
                       ": no variant for these operands");
    return std::shared_ptr<const DeviceCall>(
        std::make_shared<PlannedCall>(api, std::move(plan)));
  }
  return library->prepareMatmul(call);
}

} // namespace aicf

// What the runtime looks up in libaicf_cuda.so.
extern "C" __attribute__((visibility("default"))) int
aicf_cuda_interface_version() {
  return aicf::kCUDAInterfaceVersion;
}

extern "C" __attribute__((visibility("default"))) void
aicf_cuda_create_device(const aicf::CUDADeviceOptions &options,
                        aicf::StatusOr<std::shared_ptr<aicf::Device>> &device) {
  auto made = aicf::CUDADevice::create(aicf::realCudaApi(), options);
  if (made.ok())
    device = std::shared_ptr<aicf::Device>(std::move(*made));
  else
    device = made.status();
}
