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

#include "lib/Runtime/CUDA/CUDAStream.h"
#include "lib/Runtime/CUDA/Provider.h"

namespace aicf {

class CUDADevice : public Device {
public:
  /// `api` must outlive the device.
  static StatusOr<std::shared_ptr<Device>>
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
  Status copyOnDevice(Stream &stream, void *to, const void *from,
                      uint64_t bytes) override;
  Status copy2D(Stream &stream, void *to, uint64_t toPitch, const void *from,
                uint64_t fromPitch, uint64_t rowBytes,
                uint64_t numRows) override;
  Status fill(Stream &stream, void *at, uint8_t value, uint64_t bytes) override;
  StatusOr<std::shared_ptr<const DeviceCall>>
  prepareCall(const ResolvedCall &call) override;
  std::string description() const override { return context.description; }
  uint64_t freeBytes() const override;
  int numThreads() const override { return 1; }

private:
  CUDADevice(const CudaApi &api, const CUDADeviceOptions &options);
  Status initialize();

  const CudaApi &api;
  Card card;
  PrepareContext context;
  StreamHandle idleStream; ///< for memsets of new memory
  std::vector<std::unique_ptr<Provider>> providers; ///< asked in this order
};

} // namespace aicf

#endif // AICF_LIB_RUNTIME_CUDA_CUDADEVICE_H
