//===- CublasLt.h - matrix products by cuBLASLt -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Rows of the kernel table with determinism SameLibrary: gemm, gemm_bias and
// gemm_reduce. Algorithms that add partial results in an order of their own are
// never candidates, so that the same algorithm gives the same bits.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_CUDA_CUBLASLT_H
#define AICF_LIB_RUNTIME_CUDA_CUBLASLT_H

#include "CUDADevice.h"

#include <map>
#include <mutex>

namespace aicf {

struct MatmulProblem;

class CublasLt {
public:
  CublasLt(CUDADevice &device, const CUDADeviceOptions &options);
  ~CublasLt();
  Status initialize();
  /// Errors: NotImplemented (no cuBLASLt, or no algorithm for the problem),
  /// DeviceError.
  StatusOr<std::shared_ptr<const DeviceCall>>
  prepareMatmul(const ResolvedCall &call);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace aicf

#endif // AICF_LIB_RUNTIME_CUDA_CUBLASLT_H
