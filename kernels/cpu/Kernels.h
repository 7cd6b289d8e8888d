//===- Kernels.h - the CPU kernels by KID -----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CPU_KERNELS_H
#define AICF_KERNELS_CPU_KERNELS_H

#include "lib/Ops/Launch.h"

#include <string_view>

namespace aicf::cpu {

/// The kernel of a CPU row of the table, or nullptr.
CpuKernel findFunction(std::string_view kid);

/// Which GEMM library the build found: "openblas ..." or "plain loop".
std::string_view gemmLibrary();

/// Puts the GEMM library into the one-thread mode that our tiling needs. Call
/// once before the first launch.
void initialize();

} // namespace aicf::cpu

#endif // AICF_KERNELS_CPU_KERNELS_H
