//===- Handles.h - owners of CUDA objects -----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Destructors never fail: nothing can be done about an error of a destroying
// call.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_CUDA_HANDLES_H
#define AICF_LIB_RUNTIME_CUDA_HANDLES_H

#include "lib/Runtime/CUDA/CudaApi.h"

#include <utility>

namespace aicf {

/// Owns a handle that `Destroy` of the table frees.
template <typename T, auto Destroy> class CudaHandle {
public:
  CudaHandle() = default;
  CudaHandle(const CudaApi &api, T handle) : api(&api), handle(handle) {}
  CudaHandle(CudaHandle &&other) noexcept
      : api(other.api), handle(std::exchange(other.handle, T())) {}
  CudaHandle &operator=(CudaHandle &&other) noexcept {
    std::swap(api, other.api);
    std::swap(handle, other.handle);
    return *this;
  }
  ~CudaHandle() {
    if (handle)
      (void)(api->*Destroy)(handle);
  }
  T get() const { return handle; }
  /// Gives the handle up without freeing it.
  T release() { return std::exchange(handle, T()); }
  explicit operator bool() const { return handle != T(); }

private:
  const CudaApi *api = nullptr;
  T handle = T();
};

using DeviceMemory = CudaHandle<void *, &CudaApi::cudaFree>;
using PinnedMemory = CudaHandle<void *, &CudaApi::cudaFreeHost>;
using StreamHandle = CudaHandle<cudaStream_t, &CudaApi::cudaStreamDestroy>;
using EventHandle = CudaHandle<cudaEvent_t, &CudaApi::cudaEventDestroy>;
using GraphHandle = CudaHandle<cudaGraph_t, &CudaApi::cudaGraphDestroy>;
using LibraryHandle = CudaHandle<cudaLibrary_t, &CudaApi::cudaLibraryUnload>;
using GraphExecHandle =
    CudaHandle<cudaGraphExec_t, &CudaApi::cudaGraphExecDestroy>;

inline StatusOr<DeviceMemory> makeDeviceMemory(const CudaApi &api,
                                               uint64_t bytes) {
  void *memory = nullptr;
  Status status = checkCuda(api, api.cudaMalloc(&memory, bytes), "cudaMalloc");
  if (!status.ok())
    return status.withContext("cannot allocate " + std::to_string(bytes) +
                              " bytes of device memory");
  return DeviceMemory(api, memory);
}
inline StatusOr<PinnedMemory> makePinnedMemory(const CudaApi &api,
                                               uint64_t bytes) {
  void *memory = nullptr;
  AICF_CUDA_TRY(api, cudaMallocHost, &memory, bytes);
  return PinnedMemory(api, memory);
}
/// Does not wait for the legacy stream, nor the legacy stream for it.
inline StatusOr<StreamHandle> makeStream(const CudaApi &api) {
  cudaStream_t stream = nullptr;
  AICF_CUDA_TRY(api, cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
  return StreamHandle(api, stream);
}
inline StatusOr<EventHandle> makeEvent(const CudaApi &api, bool isTimed) {
  cudaEvent_t event = nullptr;
  AICF_CUDA_TRY(api, cudaEventCreateWithFlags, &event,
                isTimed ? cudaEventDefault : cudaEventDisableTiming);
  return EventHandle(api, event);
}

} // namespace aicf

#endif // AICF_LIB_RUNTIME_CUDA_HANDLES_H
