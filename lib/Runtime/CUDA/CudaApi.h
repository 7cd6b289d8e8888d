//===- CudaApi.h - the one table of CUDA calls ------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Everything that the device asks of CUDA and cuBLASLt goes through a table of
// function pointers: the real one, one whose every Nth call fails, or a fake
// one on host memory that needs no GPU. cuBLASLt is loaded when a device is
// made, so that the library links nothing that a machine may lack.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_CUDA_CUDAAPI_H
#define AICF_LIB_RUNTIME_CUDA_CUDAAPI_H

#include "aicf/Status.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#ifdef AICF_HAVE_CUBLASLT
#include <cublasLt.h>
#endif

namespace aicf {

/// X(name, parameters): functions that return cudaError_t.
#define AICF_CUDA_CALLS(X)                                                     \
  X(cudaGetDeviceCount, (int *))                                               \
  X(cudaSetDevice, (int))                                                      \
  X(cudaGetDeviceProperties, (cudaDeviceProp *, int))                          \
  X(cudaDriverGetVersion, (int *))                                             \
  X(cudaMemGetInfo, (size_t *, size_t *))                                      \
  X(cudaMalloc, (void **, size_t))                                             \
  X(cudaFree, (void *))                                                        \
  X(cudaMallocHost, (void **, size_t))                                         \
  X(cudaFreeHost, (void *))                                                    \
  X(cudaMemcpyAsync,                                                           \
    (void *, const void *, size_t, cudaMemcpyKind, cudaStream_t))              \
  X(cudaMemcpy2DAsync, (void *, size_t, const void *, size_t, size_t, size_t,  \
                        cudaMemcpyKind, cudaStream_t))                         \
  X(cudaMemsetAsync, (void *, int, size_t, cudaStream_t))                      \
  X(cudaStreamCreateWithFlags, (cudaStream_t *, unsigned))                     \
  X(cudaStreamDestroy, (cudaStream_t))                                         \
  X(cudaStreamSynchronize, (cudaStream_t))                                     \
  X(cudaStreamWaitEvent, (cudaStream_t, cudaEvent_t, unsigned))                \
  X(cudaEventCreateWithFlags, (cudaEvent_t *, unsigned))                       \
  X(cudaEventDestroy, (cudaEvent_t))                                           \
  X(cudaEventRecord, (cudaEvent_t, cudaStream_t))                              \
  X(cudaEventSynchronize, (cudaEvent_t))                                       \
  X(cudaEventElapsedTime, (float *, cudaEvent_t, cudaEvent_t))                 \
  X(cudaFuncSetAttribute, (const void *, cudaFuncAttribute, int))              \
  X(cudaLaunchKernelExC, (const cudaLaunchConfig_t *, const void *, void **))  \
  X(cudaGetLastError, ())                                                      \
  X(cudaGetFuncBySymbol, (cudaFunction_t *, const void *))                     \
  X(cudaStreamBeginCapture, (cudaStream_t, cudaStreamCaptureMode))             \
  X(cudaStreamEndCapture, (cudaStream_t, cudaGraph_t *))                       \
  X(cudaThreadExchangeStreamCaptureMode, (cudaStreamCaptureMode *))            \
  X(cudaStreamGetCaptureInfo,                                                  \
    (cudaStream_t, cudaStreamCaptureStatus *, unsigned long long *,            \
     cudaGraph_t *, const cudaGraphNode_t **, const cudaGraphEdgeData **,      \
     size_t *))                                                                \
  X(cudaGraphGetNodes, (cudaGraph_t, cudaGraphNode_t *, size_t *))             \
  X(cudaGraphNodeGetType, (cudaGraphNode_t, cudaGraphNodeType *))              \
  X(cudaGraphKernelNodeGetParams, (cudaGraphNode_t, cudaKernelNodeParams *))   \
  X(cudaGraphInstantiate,                                                      \
    (cudaGraphExec_t *, cudaGraph_t, unsigned long long))                      \
  X(cudaGraphUpload, (cudaGraphExec_t, cudaStream_t))                          \
  X(cudaGraphLaunch, (cudaGraphExec_t, cudaStream_t))                          \
  X(cudaGraphExecDestroy, (cudaGraphExec_t))                                   \
  X(cudaGraphDestroy, (cudaGraph_t))                                           \
  X(cudaLibraryLoadData,                                                       \
    (cudaLibrary_t *, const void *, cudaJitOption *, void **, unsigned,        \
     cudaLibraryOption *, void **, unsigned))                                  \
  X(cudaLibraryGetKernel, (cudaKernel_t *, cudaLibrary_t, const char *))       \
  X(cudaKernelSetAttributeForDevice,                                           \
    (cudaKernel_t, cudaFuncAttribute, int, int))                               \
  X(cudaLibraryUnload, (cudaLibrary_t))

/// The driver's, as X(name, parameters): what the runtime does not say
/// of kernels that were loaded.
#define AICF_CUDA_DRIVER_CALLS(X)                                              \
  X(cuGraphKernelNodeGetParams_v2, (CUgraphNode, CUDA_KERNEL_NODE_PARAMS *))

/// X(name, parameters): functions that return cublasStatus_t.
#ifdef AICF_HAVE_CUBLASLT
#define AICF_CUBLASLT_CALLS(X)                                                 \
  X(cublasLtCreate, (cublasLtHandle_t *))                                      \
  X(cublasLtDestroy, (cublasLtHandle_t))                                       \
  X(cublasLtMatmulDescCreate,                                                  \
    (cublasLtMatmulDesc_t *, cublasComputeType_t, cudaDataType_t))             \
  X(cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t))                         \
  X(cublasLtMatmulDescSetAttribute,                                            \
    (cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, const void *,       \
     size_t))                                                                  \
  X(cublasLtMatrixLayoutCreate,                                                \
    (cublasLtMatrixLayout_t *, cudaDataType, uint64_t, uint64_t, int64_t))     \
  X(cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t))                     \
  X(cublasLtMatrixLayoutSetAttribute,                                          \
    (cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, const void *,    \
     size_t))                                                                  \
  X(cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t *))            \
  X(cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t))             \
  X(cublasLtMatmulPreferenceSetAttribute,                                      \
    (cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,         \
     const void *, size_t))                                                    \
  X(cublasLtMatmulAlgoGetHeuristic,                                            \
    (cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,           \
     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,   \
     cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t *,       \
     int *))                                                                   \
  X(cublasLtMatmulAlgoCheck,                                                   \
    (cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,           \
     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,   \
     const cublasLtMatmulAlgo_t *, cublasLtMatmulHeuristicResult_t *))         \
  X(cublasLtMatmul,                                                            \
    (cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *,       \
     cublasLtMatrixLayout_t, const void *, cublasLtMatrixLayout_t,             \
     const void *, const void *, cublasLtMatrixLayout_t, void *,               \
     cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *, size_t,     \
     cudaStream_t))
#else
#define AICF_CUBLASLT_CALLS(X)
#endif

struct CudaApi {
#define AICF_CUDA_CALL(NAME, PARAMETERS)                                       \
  cudaError_t(*NAME) PARAMETERS = nullptr;
  AICF_CUDA_CALLS(AICF_CUDA_CALL)
#undef AICF_CUDA_CALL
#define AICF_CUDA_DRIVER_CALL(NAME, PARAMETERS)                                \
  CUresult(*NAME) PARAMETERS = nullptr;
  AICF_CUDA_DRIVER_CALLS(AICF_CUDA_DRIVER_CALL)
#undef AICF_CUDA_DRIVER_CALL
#define AICF_CUBLASLT_CALL(NAME, PARAMETERS)                                   \
  cublasStatus_t(*NAME) PARAMETERS = nullptr;
  AICF_CUBLASLT_CALLS(AICF_CUBLASLT_CALL)
#undef AICF_CUBLASLT_CALL
  /// cublasLtGetVersion(); 0 when cuBLASLt was not found.
  size_t cublasLtVersion = 0;
  std::string cublasLtProblem; ///< why not, for messages
};

/// The real table; made once. Never fails: without a driver its calls do.
const CudaApi &realCudaApi();

/// DeviceError naming the call and CUDA's reason, or Ok. Clears CUDA's last
/// error, so that the next call does not report this one again.
Status checkCuda(const CudaApi &api, cudaError_t error, const char *what);
Status checkCuda(const CudaApi &api, CUresult result, const char *what);
#ifdef AICF_HAVE_CUBLASLT
Status checkCuda(const CudaApi &api, cublasStatus_t status, const char *what);
#endif

/// Calls a function of the table `api` and returns its error.
#define AICF_CUDA_TRY(API, NAME, ...)                                          \
  AICF_RETURN_IF_ERROR(checkCuda((API), (API).NAME(__VA_ARGS__), #NAME))

} // namespace aicf

#endif // AICF_LIB_RUNTIME_CUDA_CUDAAPI_H
