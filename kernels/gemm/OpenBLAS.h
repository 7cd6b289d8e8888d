//===- OpenBLAS.h - OpenBLAS as the runtime wants it ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GEMM_OPENBLAS_H
#define AICF_KERNELS_GEMM_OPENBLAS_H

#include "aicf/Status.h"

#include <string>

namespace aicf::cpu {

/// Kernels that suit the machine. An OpenBLAS that does not know a newer
/// processor takes those that any x86-64 has, a fourth as fast. Where nobody
/// else in the process uses this copy of the library, it gets others. Call it
/// once, before the first product. OPENBLAS_CORETYPE, which the library itself
/// reads, has the last word.
void initializeOpenBLAS();

/// While one lives, each call of the library runs on the thread that makes it:
/// our tiles are what runs side by side. Where the process shares the library
/// with us, its own number of threads is there again afterwards. Around
/// products alone: in a forked child the library would start its threads for
/// nothing.
class OneThreadOfOpenBLAS {
public:
  OneThreadOfOpenBLAS();
  ~OneThreadOfOpenBLAS();
  OneThreadOfOpenBLAS(const OneThreadOfOpenBLAS &) = delete;
  OneThreadOfOpenBLAS &operator=(const OneThreadOfOpenBLAS &) = delete;
};

/// Lets `numThreads` threads compute products without memory that the library
/// would first have to ask for: it asks in a loop that never ends where there
/// is none. Errors: DeviceError.
Status reserveOpenBLAS(int numThreads);

/// False where the machine has AVX2 and the library's kernels do not use it.
/// True without OpenBLAS. Ask after initializeOpenBLAS().
bool openBLASSuitsMachine();

/// The processor that the library's kernels are for, "SkylakeX"; empty without
/// OpenBLAS.
std::string openBLASCore();

} // namespace aicf::cpu

#endif // AICF_KERNELS_GEMM_OPENBLAS_H
