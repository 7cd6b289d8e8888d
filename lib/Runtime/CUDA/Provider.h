//===- Provider.h - who runs a kernel of a GPU ------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A device asks its providers in order for a call: kernels of our own,
// generated ones, then the libraries. Providers know the table of CUDA calls and what the
// context says of the card; they know neither device nor streams.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_CUDA_PROVIDER_H
#define AICF_LIB_RUNTIME_CUDA_PROVIDER_H

#include "aicf/Device.h"
#include "kernels/cuda/Kernels.h"
#include "lib/Runtime/CUDA/CudaApi.h"

namespace aicf {

/// A kernel that a launch puts into a graph.
struct PlannedFunction {
  const void *function; ///< a symbol, or a cudaKernel_t
  bool isLoaded;        ///< the latter: from text, when the call was prepared
};

/// A call that can be put on a CUDA stream.
class CUDACall : public DeviceCall {
public:
  virtual Status launch(cudaStream_t stream) const = 0;
  /// The kernels that a launch puts into a graph, in order; empty for a
  /// library's, which are its own business.
  virtual std::vector<PlannedFunction> functions() const = 0;
};

/// What a provider may use while it prepares a call; the card is the current
/// one of the calling thread.
struct PrepareContext {
  const CudaApi &api;
  cuda::DeviceLimits limits;
  /// Device::description(), which tuned choices belong to.
  std::string description;
  CUDADeviceOptions options;
  int computeCapability = 0; ///< 90 is 9.0
  /// This thread captures: whatever waits or allocates would spoil it.
  bool isCapturing = false;
};

class Provider {
public:
  virtual ~Provider() = default;
  /// The call, ready to launch; null where `call`'s kernel is not this
  /// provider's. Errors: NotImplemented (its kernel, but not for these
  /// operands or not on this machine), Misaligned, DeviceError.
  virtual StatusOr<std::shared_ptr<const CUDACall>>
  prepare(const ResolvedCall &call, const PrepareContext &context) = 0;
};

/// Puts one launch of `function` on a stream.
Status launchFunction(const CudaApi &api, const void *function,
                      const cuda::PlannedLaunch &launch, cudaStream_t stream);
/// The same of a kernel of ours, which its planner knows.
inline Status launchPlanned(const CudaApi &api,
                            const cuda::PlannedLaunch &launch,
                            cudaStream_t stream) {
  return launchFunction(api, launch.function, launch, stream);
}

/// Launches what the planners of kernels/ say.
std::unique_ptr<Provider> makeOwnKernels();
/// The same of one planner, for a call of whatever row.
StatusOr<std::shared_ptr<const CUDACall>>
prepareOwn(cuda::Planner planner, const ResolvedCall &call,
           const PrepareContext &context);
/// Kernels whose text follows from the call. Equal texts are one kernel. They
/// are loaded by CUDACall::finish(), all that wait side by side.
std::unique_ptr<Provider> makeGeneratedKernels(const PrepareContext &context);
/// Matrix products; without the library its calls are NotImplemented. The
/// provider must outlive its calls. Errors: DeviceError, InvalidFile (tuning).
StatusOr<std::unique_ptr<Provider>> makeCublasLt(const PrepareContext &context);
/// Attention; without the library, its calls run kernels of ours. The provider must
/// outlive its calls.
std::unique_ptr<Provider> makeCudnn();

} // namespace aicf

#endif // AICF_LIB_RUNTIME_CUDA_PROVIDER_H
