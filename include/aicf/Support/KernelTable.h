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

/// What a row asks of a call's shapes.
///   Any          nothing
///   VecN         V divides operand 0's last dimension (its size, for rank 0)
///   SmallGemm    a product so small that a library's fixed cost is most of it
///   Groups       at most kMaxUpdateGroups parameters; gradients of one type;
///                copies, if any, of one type, the gradients' if that is 16-bit
enum class KernelCondition : uint8_t {
  Any,
  Vec2,
  Vec4,
  Vec8,
  SmallGemm,
  Groups
};
enum class Determinism : uint8_t { Bitwise, SameLibrary };
enum class Selection : uint8_t { Auto, AutoTF32, Pinned };

/// Operands of one launch of all_finite, parameters of a CUDA multi-tensor
/// update: they travel as kernel parameters, of which there are 32,764 bytes.
inline constexpr int kMaxAllFiniteOperands = 256;
inline constexpr int kMaxUpdateGroups = 256;
/// A reduction of up to this many elements is one block's work.
inline constexpr int64_t kSingleBlockElements = 32768;

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
  Selection selection;

  /// True when the kernel can run a call with these operands.
  bool accepts(OpKind callKind, Span<const TensorDesc> ins,
               Span<const TensorDesc> outs) const {
    return callKind == kind && !ins.empty() && !outs.empty() &&
           ins[0].dtype == in0 && outs[0].dtype == out0 &&
           conditionHolds(ins, outs);
  }
  /// What the address of a tensor of such a call must be a multiple of, in
  /// bytes: its element's size, or that of the vectors the kernel accesses.
  uint64_t neededAlignment(const TensorDesc &desc) const;
  /// Bytes of workspace that a call should get: at most workspaceCap, and 0
  /// where it would be of no use.
  uint64_t workspaceBytes(Span<const TensorDesc> ins,
                          Span<const TensorDesc> outs) const;

private:
  bool conditionHolds(Span<const TensorDesc> ins,
                      Span<const TensorDesc> outs) const;
};

Span<const KernelRow> kernelTable();
/// The row of `kid` on `device`, or nullptr.
const KernelRow *findKernel(DeviceKind device, std::string_view kid);
struct SelectOptions {
  bool allowTF32 = false;
  /// Addresses of operands, then of results: rows that need better ones are
  /// passed over. Empty: every address is aligned, as in a plan.
  Span<const uintptr_t> addresses;
};
/// The first automatic row that accepts the call and suits its addresses; where
/// none suits them, the last that accepts it, so that the call can be refused
/// by name; or nullptr.
const KernelRow *selectKernel(DeviceKind device, OpKind kind,
                              Span<const TensorDesc> ins,
                              Span<const TensorDesc> outs,
                              SelectOptions options = {});

} // namespace aicf

#endif // AICF_SUPPORT_KERNELTABLE_H
