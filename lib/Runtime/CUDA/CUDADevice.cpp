//===- CUDADevice.cpp - a GPU as a device ---------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CUDA/CUDADevice.h"
#include "lib/Runtime/CUDA/CUDAStream.h"
#include "lib/Runtime/CUDAEntry.h"
#include "lib/Runtime/CallArgs.h"

#include <algorithm>

namespace aicf {
CUDADevice::CUDADevice(const CudaApi &api, const CUDADeviceOptions &options)
    : api(api), card{api, options.ordinal}, context{api, {}, {}, options} {}

CUDADevice::~CUDADevice() = default;

StatusOr<std::shared_ptr<Device>>
CUDADevice::create(const CudaApi &api, const CUDADeviceOptions &options) {
  std::shared_ptr<CUDADevice> device(new CUDADevice(api, options));
  AICF_RETURN_IF_ERROR(device->initialize());
  return std::shared_ptr<Device>(std::move(device));
}

Status CUDADevice::initialize() {
  const CUDADeviceOptions &options = context.options;
  int count = 0;
  if (Status found =
          checkCuda(api, api.cudaGetDeviceCount(&count), "cudaGetDeviceCount");
      !found.ok())
    return found.withContext("no NVIDIA GPU can be used");
  if (options.ordinal < 0 || options.ordinal >= count)
    return makeError(StatusCode::InvalidArgument, "CUDA device ",
                     options.ordinal, " does not exist: the machine has ",
                     count, ", counted from 0");
  AICF_RETURN_IF_ERROR(card.activate());
  cudaDeviceProp properties{};
  AICF_CUDA_TRY(api, cudaGetDeviceProperties, &properties, options.ordinal);
  if (properties.major < 8)
    return makeError(StatusCode::DeviceError, properties.name,
                     " has compute capability ", properties.major, ".",
                     properties.minor, ", 8.0 or more is needed");
  context.computeCapability = properties.major * 10 + properties.minor;
  constexpr size_t kOwnShared = 1024; // of a kernel that asks for more
  context.limits = {
      properties.multiProcessorCount, properties.maxThreadsPerMultiProcessor,
      uint32_t(std::max(properties.sharedMemPerBlockOptin, kOwnShared) -
               kOwnShared)};
  int driver = 0;
  AICF_CUDA_TRY(api, cudaDriverGetVersion, &driver);
  context.description = std::string(properties.name) + ", CUDA driver " +
                        std::to_string(driver) + ", cuBLASLt " +
                        std::to_string(api.cublasLtVersion);
  AICF_ASSIGN_OR_RETURN(idleStream, makeStream(api));
  providers.push_back(makeOwnKernels());
  providers.push_back(makeGeneratedKernels(context));
  AICF_ASSIGN_OR_RETURN(std::unique_ptr<Provider> products,
                        makeCublasLt(context));
  providers.push_back(std::move(products));
  providers.push_back(makeCudnn());
  return {};
}

StatusOr<void *> CUDADevice::allocate(uint64_t bytes) {
  AICF_RETURN_IF_ERROR(card.activate());
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
                        CUDAStream::create(card));
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

Status CUDADevice::copyOnDevice(Stream &stream, void *to, const void *from,
                                uint64_t bytes) {
  return static_cast<CUDAStream &>(stream).copy(to, from, bytes);
}

Status CUDADevice::copy2D(Stream &stream, void *to, uint64_t toPitch,
                          const void *from, uint64_t fromPitch,
                          uint64_t rowBytes, uint64_t numRows) {
  return static_cast<CUDAStream &>(stream).copy2D(to, toPitch, from, fromPitch,
                                                  rowBytes, numRows);
}

Status CUDADevice::fill(Stream &stream, void *at, uint8_t value,
                        uint64_t bytes) {
  return static_cast<CUDAStream &>(stream).fill(at, value, bytes);
}

uint64_t CUDADevice::freeBytes() const {
  size_t available = 0, total = 0;
  if (!card.activate().ok() ||
      api.cudaMemGetInfo(&available, &total) != cudaSuccess)
    return 0;
  return available;
}

StatusOr<std::shared_ptr<const DeviceCall>>
CUDADevice::prepareCall(const ResolvedCall &call) {
  AICF_RETURN_IF_ERROR(card.activate());
  PrepareContext now = context;
  now.isCapturing = isCapturingThread();
  for (const std::unique_ptr<Provider> &provider : providers) {
    AICF_ASSIGN_OR_RETURN(std::shared_ptr<const CUDACall> prepared,
                          provider->prepare(call, now));
    if (prepared)
      return std::shared_ptr<const DeviceCall>(std::move(prepared));
  }
  return makeError(StatusCode::NotImplemented, call.row->kid,
                   ": none of the kernel libraries of this device runs it");
}

} // namespace aicf

// What the runtime looks up in libaicf_cuda.so.
extern "C" __attribute__((visibility("default"))) const char *
aicf_cuda_interface() {
  return aicf::kCUDAInterface;
}

extern "C" __attribute__((visibility("default"))) void
aicf_cuda_create_device(const aicf::CUDADeviceOptions &options,
                        aicf::StatusOr<std::shared_ptr<aicf::Device>> &device) {
  device = aicf::CUDADevice::create(aicf::realCudaApi(), options);
}
