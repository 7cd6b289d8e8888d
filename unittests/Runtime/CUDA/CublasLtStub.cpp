//===- CublasLtStub.cpp - a library with cuBLASLt's functions -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Its products all fail. Tests of what loads the library need no other one.
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CUDA/CudaApi.h"

extern "C" {

#define AICF_STUB(NAME, PARAMETERS)                                            \
  cublasStatus_t NAME PARAMETERS { return CUBLAS_STATUS_NOT_SUPPORTED; }
AICF_CUBLASLT_CALLS(AICF_STUB)
#undef AICF_STUB

#ifndef AICF_STUB_WITHOUT_VERSION
size_t cublasLtGetVersion() { return 130000; }
#endif

} // extern "C"
