//===- Kernels.h - the CPU kernels by KID -----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CPU_KERNELS_H
#define AICF_KERNELS_CPU_KERNELS_H

#include "lib/Ops/KernelTable.h"
#include "lib/Ops/Launch.h"

#include <string>
#include <string_view>

namespace aicf::cpu {

/// The kernel of a CPU row of the table, or nullptr.
CpuKernel findFunction(std::string_view kid);

/// What the kernel of an elementwise primitive does to `count` elements that
/// lie together in each operand `x[i]` and in `y`, on the thread that calls it.
/// `attrs` are the primitive's.
using ElementsFunction = void (*)(Span<const uint8_t> attrs,
                                  const void *const *x, void *y, int64_t count);
/// The function of a CPU row, or nullptr: most kernels have none.
ElementsFunction findElementsFunction(std::string_view kid);

/// A row of the list of a family: a family that defines a function
/// `Span<const ElementsRow> <family>Elements()` in Cpu.cpp is asked for it.
struct ElementsRow {
  std::string_view kid;
  ElementsFunction function; ///< null, where the kernel has none
};

/// What the kernel of `row`, which takes the call, works out once for all
/// launches on `numThreads` threads; null for most kernels. The address of each
/// tensor of the call is in `values`. Errors: those of GraphProgram::create()
/// and prepareProduct().
StatusOr<std::shared_ptr<const CpuPrepared>>
prepare(const KernelRow &row, const Body &body, Span<const TensorView> values,
        int numThreads);

/// Lets the libraries for products get what they need for this one: at its
/// launch they could only hang or die for want of it. Errors: DeviceError.
Status prepareProduct(const Body &body, Span<const TensorView> values,
                      int numThreads);

/// Which libraries compute products, and for which processor: "openblas for
/// SkylakeX, ..." or "plain loop".
std::string gemmLibrary();

/// Chooses what the GEMM library runs on this machine. Call it once, before the
/// first launch.
void initialize();

} // namespace aicf::cpu

#endif // AICF_KERNELS_CPU_KERNELS_H
