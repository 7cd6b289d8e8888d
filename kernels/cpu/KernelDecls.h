//===- KernelDecls.h - a function for every CPU row -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Declares `void aicf::cpu::<kid>(const LaunchArgs &)` for each CPU row of the
// table: a row without its kernel does not link.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CPU_KERNELDECLS_H
#define AICF_KERNELS_CPU_KERNELDECLS_H

#include "kernels/cpu/Kernels.h"
#include "lib/Base/HalfFloat.h"

namespace aicf::cpu {
#define AICF_ROWS_OF_CPU
#define AICF_ROW(KID, ...) void KID(const LaunchArgs &args);
#include "kernels/Rows.def"

// Element types as families name them.
using f32 = float;
using f64 = double;
using f16 = Half;
using bf16 = BFloat;
using i32 = int32_t;
using i64 = int64_t;
using i1 = uint8_t;
} // namespace aicf::cpu

namespace aicf::cpu {
/// What a kernel on T computes in.
template <typename T> struct ComputeType {
  using type = T;
};
template <> struct ComputeType<Half> {
  using type = float;
};
template <> struct ComputeType<BFloat> {
  using type = float;
};
template <typename T> using Compute = typename ComputeType<T>::type;
} // namespace aicf::cpu

/// Defines the kernel `KID` as a function of its typed arguments: for
/// kernels/Definitions.inc.
#define AICF_KERNEL(KID, ...)                                                  \
  void KID(const LaunchArgs &args) { __VA_ARGS__(args); }

#endif // AICF_KERNELS_CPU_KERNELDECLS_H
