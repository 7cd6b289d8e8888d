//===- KernelDecls.h - a planner for every CUDA row -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Declares `LaunchPlan aicf::cuda::<kid>(const LaunchArgs &, const DeviceLimits
// &)` for each row of Kernels.def with a kernel of our own: a row without its
// kernel does not link.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CUDA_KERNELDECLS_H
#define AICF_KERNELS_CUDA_KERNELDECLS_H

#include "aicf/Kernels/CUDA.h"

// Rows of other devices, and rows that a library runs, are left out.
#define AICF_OWN_CUDA_Bitwise(...) __VA_ARGS__
#define AICF_OWN_CUDA_SameLibrary(...)
#define AICF_OWN_CPU_Bitwise(...)
#define AICF_OWN_CPU_SameLibrary(...)
#define AICF_IF_OWN(DEVICE, DETERMINISM, ...)                                  \
  AICF_OWN_##DEVICE##_##DETERMINISM(__VA_ARGS__)

namespace aicf::cuda {
#define AICF_KERNEL(KID, KIND, DEVICE, IN0, OUT0, ALIGNMENT, CONDITION,        \
                    DETERMINISM, ...)                                          \
  AICF_IF_OWN(DEVICE, DETERMINISM,                                             \
              LaunchPlan KID(const LaunchArgs &, const DeviceLimits &);)
#include "aicf/ABI/Kernels.def"
} // namespace aicf::cuda

/// Defines the planner `KID` as the template `BODY`.
#define AICF_DEFINE_PLANNER(KID, ...)                                          \
  LaunchPlan KID(const LaunchArgs &args, const DeviceLimits &limits) {         \
    return __VA_ARGS__(args, limits);                                          \
  }

#endif // AICF_KERNELS_CUDA_KERNELDECLS_H
