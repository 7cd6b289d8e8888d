//===- KernelDecls.h - a planner for every CUDA row -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Declares `LaunchPlan aicf::cuda::<kid>(const LaunchArgs &, const DeviceLimits
// &)` for each row of the table with a kernel of our own: a row without its
// kernel does not link.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CUDA_KERNELDECLS_H
#define AICF_KERNELS_CUDA_KERNELDECLS_H

#include "kernels/cuda/Kernels.h"

namespace aicf::cuda {
#define AICF_ROWS_OF_CUDA
#define AICF_ROW_Own(KID, ...)                                                 \
  LaunchPlan KID(const LaunchArgs &, const DeviceLimits &);
#include "kernels/Rows.def"
} // namespace aicf::cuda

/// Defines the planner `KID` as a function of its typed arguments: for
/// kernels/Definitions.inc.
#define AICF_KERNEL(KID, ...)                                                  \
  LaunchPlan KID(const LaunchArgs &args, const DeviceLimits &limits) {         \
    return __VA_ARGS__(args, limits);                                          \
  }

#endif // AICF_KERNELS_CUDA_KERNELDECLS_H
