//===- CUDADevice.h - a GPU as a device -------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Internal to libaicf_cuda.so and to tests that bring their own table of CUDA
// calls.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_CUDA_CUDADEVICE_H
#define AICF_LIB_RUNTIME_CUDA_CUDADEVICE_H

#include "Handles.h"
#include "aicf/Kernels/CUDA.h"
#include "aicf/Runtime/Device.h"

#include <mutex>

namespace aicf {

/// A call that can be put on a CUDA stream.
class CUDACall : public DeviceCall {
public:
  virtual Status launch(cudaStream_t stream) const = 0;
  /// The kernels that a launch puts into a graph, in order; empty for a
  /// library's, which are its own business.
  virtual std::vector<const void *> functions() const = 0;
};

class CublasLt;

class CUDADevice : public Device {
public:
  /// `api` must outlive the device.
  static StatusOr<std::shared_ptr<CUDADevice>>
  create(const CudaApi &api, const CUDADeviceOptions &options);
  ~CUDADevice() override;

  DeviceKind kind() const override { return DeviceKind::CUDA; }
  StatusOr<void *> allocate(uint64_t bytes) override;
  void deallocate(void *memory) noexcept override;
  StatusOr<std::unique_ptr<Stream>> createStream() override;
  Status copyToDevice(Stream &stream, void *to, const void *from,
                      uint64_t bytes) override;
  Status copyToHost(Stream &stream, void *to, const void *from,
                    uint64_t bytes) override;
  Status fill(Stream &stream, void *at, uint8_t value,
              uint64_t bytes) override;
  StatusOr<std::shared_ptr<const DeviceCall>>
  prepareCall(const ResolvedCall &call) override;
  std::string description() const override { return text; }
  uint64_t freeBytes() const override;
  int numThreads() const override { return 1; }

  const CudaApi &cudaApi() const { return api; }
  /// Makes this device the current one of the calling thread.
  Status activate() const;

private:
  CUDADevice(const CudaApi &api, const CUDADeviceOptions &options);
  Status initialize();

  const CudaApi &api;
  CUDADeviceOptions options;
  cuda::DeviceLimits limits;
  std::string text;
  StreamHandle idleStream; ///< for memsets of new memory
  std::unique_ptr<CublasLt> library;
};

} // namespace aicf

#endif // AICF_LIB_RUNTIME_CUDA_CUDADEVICE_H
