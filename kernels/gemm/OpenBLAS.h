//===- OpenBLAS.h - OpenBLAS as the runtime wants it ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GEMM_OPENBLAS_H
#define AICF_KERNELS_GEMM_OPENBLAS_H

#include <string>

namespace aicf::cpu {

/// One thread for each call, and kernels that suit the machine. An OpenBLAS
/// that does not know a newer processor takes those that any x86-64 has, a
/// fourth as fast. Where nobody else in the process uses this copy of the
/// library, it gets others. Call it once, before the first product.
/// OPENBLAS_CORETYPE, which the library itself reads, has the last word.
void initializeOpenBLAS();

/// False where the machine has AVX2 and the library's kernels do not use it.
/// True without OpenBLAS. Ask after initializeOpenBLAS().
bool openBLASSuitsMachine();

/// The processor that the library's kernels are for, "SkylakeX"; empty without
/// OpenBLAS.
std::string openBLASCore();

} // namespace aicf::cpu

#endif // AICF_KERNELS_GEMM_OPENBLAS_H
