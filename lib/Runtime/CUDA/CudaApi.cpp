//===- CudaApi.cpp - the real table of CUDA calls -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CUDA/CudaApi.h"

#include <dlfcn.h>

#include <cstdlib>

namespace aicf {
namespace {

#ifdef AICF_HAVE_CUBLASLT
/// Fills the table's cuBLASLt half from AICF_CUBLASLT_LIBRARY or the loader's
/// path. The library stays open: its kernels live until the process ends.
void loadCublasLt(CudaApi &api) {
  const char *path = std::getenv("AICF_CUBLASLT_LIBRARY");
  void *library = dlopen(path ? path : "libcublasLt.so.13", RTLD_NOW);
  if (!library) {
    api.cublasLtProblem = dlerror();
    return;
  }
  auto version =
      reinterpret_cast<size_t (*)()>(dlsym(library, "cublasLtGetVersion"));
  bool isComplete = version != nullptr;
#define AICF_CUBLASLT_CALL(NAME, PARAMETERS)                                   \
  api.NAME = reinterpret_cast<decltype(api.NAME)>(dlsym(library, #NAME));      \
  isComplete &= api.NAME != nullptr;
  AICF_CUBLASLT_CALLS(AICF_CUBLASLT_CALL)
#undef AICF_CUBLASLT_CALL
  if (isComplete)
    api.cublasLtVersion = version();
  else
    api.cublasLtProblem = "libcublasLt.so.13 lacks functions";
}
#endif

CUresult isMissing(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *) {
  return CUDA_ERROR_NOT_FOUND;
}

/// From the driver that is loaded: the library has none of its own to link.
void loadDriverCalls(CudaApi &api) {
  void *call = nullptr;
  cudaDriverEntryPointQueryResult found;
  bool isThere = cudaGetDriverEntryPointByVersion(
                     "cuGraphKernelNodeGetParams", &call, 12000,
                     cudaEnableDefault, &found) == cudaSuccess &&
                 found == cudaDriverEntryPointSuccess && call;
  api.cuGraphKernelNodeGetParams_v2 =
      isThere ? reinterpret_cast<decltype(api.cuGraphKernelNodeGetParams_v2)>(
                    call)
              : isMissing;
}

CudaApi makeRealApi() {
  CudaApi api;
#define AICF_CUDA_CALL(NAME, PARAMETERS)                                       \
  api.NAME = static_cast<cudaError_t(*) PARAMETERS>(&::NAME);
  AICF_CUDA_CALLS(AICF_CUDA_CALL)
#undef AICF_CUDA_CALL
  loadDriverCalls(api);
#ifdef AICF_HAVE_CUBLASLT
  loadCublasLt(api);
#else
  api.cublasLtProblem = "this build was made without cublasLt.h";
#endif
  return api;
}

} // namespace

const CudaApi &realCudaApi() {
  static const CudaApi api = makeRealApi();
  return api;
}

Status checkCuda(const CudaApi &api, cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return {};
  (void)api.cudaGetLastError();
  return makeError(StatusCode::DeviceError, what, ": ",
                   cudaGetErrorString(error), " (", cudaGetErrorName(error),
                   ")");
}

Status checkCuda(const CudaApi &, CUresult result, const char *what) {
  if (result == CUDA_SUCCESS)
    return {};
  return makeError(StatusCode::DeviceError, what, ": CUDA driver error ",
                   int(result));
}

#ifdef AICF_HAVE_CUBLASLT
Status checkCuda(const CudaApi &, cublasStatus_t status, const char *what) {
  if (status == CUBLAS_STATUS_SUCCESS)
    return {};
  return makeError(StatusCode::DeviceError, what, ": cuBLASLt status ",
                   int(status));
}
#endif

} // namespace aicf
