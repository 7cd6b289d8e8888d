//===- KernelTable.h - Kernels.def as a table -------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which kernels exist and which one a call gets: asked by the selection pass at
// compile time and by op_call's `auto` at run time.
//===----------------------------------------------------------------------===//
#ifndef AICF_SUPPORT_KERNELTABLE_H
#define AICF_SUPPORT_KERNELTABLE_H

#include "aicf/ABI/Ops.h"
#include "aicf/Support/TensorDesc.h"

namespace aicf {

enum class KernelCondition : uint8_t { Any };
enum class Determinism : uint8_t { Bitwise, SameLibrary };
enum class Selection : uint8_t { Auto, Pinned };

/// One row of Kernels.def; the columns are explained there.
struct KernelRow {
  std::string_view kid;
  OpKind kind;
  DeviceKind device;
  DType in0, out0;
  uint32_t alignment; ///< bytes
  KernelCondition condition;
  Determinism determinism;
  uint64_t workspaceCap; ///< bytes
  uint32_t hostScalars;  ///< bit mask of operands
  Selection selection;

  /// True when the kernel can run a call with these operands.
  bool accepts(OpKind callKind, Span<const TensorDesc> ins,
               Span<const TensorDesc> outs) const {
    return callKind == kind && !ins.empty() && !outs.empty() &&
           ins[0].dtype == in0 && outs[0].dtype == out0;
  }
};

Span<const KernelRow> kernelTable();
/// The row of `kid` on `device`, or nullptr.
const KernelRow *findKernel(DeviceKind device, std::string_view kid);
/// The first Auto row that accepts the call, or nullptr.
const KernelRow *selectKernel(DeviceKind device, OpKind kind,
                              Span<const TensorDesc> ins,
                              Span<const TensorDesc> outs);

} // namespace aicf

#endif // AICF_SUPPORT_KERNELTABLE_H
