//===- SdpaGraph.h - attention as a graph of cuDNN --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What Cudnn.cpp knows of the library. NVIDIA's frontend headers take most of a minute
// to compile, so that SdpaGraph.cpp alone includes them.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_CUDA_SDPAGRAPH_H
#define AICF_LIB_RUNTIME_CUDA_SDPAGRAPH_H

#include "kernels/attention/Sdpa.h"
#include "lib/Runtime/CUDA/CudaApi.h"

#include <memory>
#include <mutex>

namespace aicf::cudnn {

/// The library, and its handle on the card that was current when it was made. One thread
/// at a time builds or launches by it. A process has one such library.
class Library {
public:
  /// Loads AICF_CUDNN_LIBRARY, or libcudnn.so.9 from the loader's path or from what is in
  /// the process already. Errors: NotImplemented (it is not there, or the process has
  /// another one already, and why).
  static StatusOr<std::unique_ptr<Library>> load(const CudaApi &api);
  ~Library();
  size_t version() const; ///< 91900 is 9.19.0

private:
  friend class SdpaGraph;
  Library() = default;

  void *handle = nullptr; ///< a cudnnHandle_t
  std::mutex mutex;       ///< of the handle's stream
};

/// One problem, built for any pointers. The library must outlive it, and it must outlive
/// the CUDA graphs that captured a launch.
class SdpaGraph {
public:
  /// `computeCapability` is 90 for 9.0. Errors: NotImplemented (the library does not run
  /// such a call, and what it says).
  static StatusOr<std::shared_ptr<const SdpaGraph>>
  build(Library &library, const Sdpa &sdpa, int computeCapability);
  virtual ~SdpaGraph() = default;

  virtual uint64_t workspaceBytes() const = 0;
  /// `sdpa` is like the one that the graph was built for, with tensors of its own.
  virtual Status launch(const Sdpa &sdpa, void *workspace,
                        cudaStream_t stream) const = 0;
};

} // namespace aicf::cudnn

#endif // AICF_LIB_RUNTIME_CUDA_SDPAGRAPH_H
