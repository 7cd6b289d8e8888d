//===- KernelTable.h - the kernels of all families --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which kernels exist and which one a call gets: asked by the selection pass at
// compile time and by op_call's `auto` at run time. Rows come from the records
// in kernels/<family>/Family.td. Has no kernel: those are found by KID in the
// registry of a device (kernels/cpu, kernels/cuda).
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_KERNELTABLE_H
#define AICF_LIB_OPS_KERNELTABLE_H

#include "lib/Ops/Costs.h"
#include "lib/Ops/TypedBody.h"

namespace aicf {

namespace rules {
class Call;
}

/// Who runs a kernel (Provider in KernelFamily.td), and isOurs() of each.
// clang-format off
#define AICF_KERNEL_PROVIDERS
#include "lib/Ops/Patterns.inc"
// clang-format on
/// How products round their operands.
enum class Math : uint8_t { Exact, TF32 };
enum class Selection : uint8_t { Auto, AutoTF32, Pinned };

/// What a family's record asks of a call, and of what else it is given.
template <typename... Given> struct ConditionOf {
  constexpr ConditionOf(std::nullptr_t) {} // holds for every one
  constexpr ConditionOf(bool (*holds)(const rules::Call &, Given...),
                        std::string_view text)
      : holds(holds), text(text) {}
  bool (*holds)(const rules::Call &, Given...) = nullptr;
  std::string_view text; ///< as in the record, of a call `c`
};
/// Which calls a kernel can run, beyond types and width.
using RowCondition = ConditionOf<>;
/// Which of these it is worth choosing for.
using PayCondition = ConditionOf<const Costs &>;

/// How an operand may lie that is a view: see KernelFamily.td.
enum class StrideRule : uint8_t {
  Any,
  Rows,
  RowsAnywhere,
  Matrices
};
/// An operand or result, by its position in the record, of each primitive of a
/// kind.
struct StridedSlot {
  OpKind kind;
  uint8_t slot;
  StrideRule rule;
  bool isResult = false;
};

/// Why a kernel cannot run a call.
enum class Mismatch : uint8_t {
  None,
  Body,
  Types,
  Strides,
  Layout,
  Width,
  Condition
};

/// One kernel; what the columns mean stands at KernelFamily.
struct KernelRow {
  std::string_view kid;
  PatternId pattern;
  DeviceKind device;
  KernelProvider provider = KernelProvider::Own;
  Math math = Math::Exact;
  // Of operand 0 and result 0; with `anyTypes` they say nothing.
  DType in0 = DType::F32, out0 = DType::F32;
  uint32_t width = 1;     ///< elements an access moves, of every operand
  uint32_t alignment = 1; ///< bytes
  RowCondition takes = nullptr;
  PayCondition pays = nullptr;
  uint64_t (*workspace)(const rules::Call &) = nullptr; ///< or it takes none
  uint64_t workspaceCap = 0;                            ///< bytes
  RowCondition fullSpeed = nullptr;
  Selection selection = Selection::Auto;
  bool fusesForFree = false;
  bool takesPads = false;
  bool anyTypes = false;
  bool anyStrides = false; ///< of all others than `strided` names
  Span<const StridedSlot> strided = {};

  /// True if the kernel is worth choosing for a call that it accepts.
  bool isWorthChoosing(const TypedBody &call, const Costs &costs) const;
  /// True unless pads could make the kernel faster with such a call.
  bool runsAtFullSpeed(const TypedBody &call) const;
  /// True if one launch of it takes no longer than launches apart.
  bool isWorthFusing() const {
    return isOurs(provider) || fusesForFree;
  }

  /// The call as the kernel is given it: padded tensors as dense ones of their
  /// stored shapes, unless it knows pads. Nothing where it cannot be given so.
  std::optional<TypedBody> launched(const TypedBody &call) const;
  /// What keeps the kernel from running such a call, or None.
  Mismatch mismatch(const TypedBody &call) const;
  bool accepts(const TypedBody &call) const {
    return mismatch(call) == Mismatch::None;
  }
  /// What the address of a tensor of such a call must be a multiple of, in
  /// bytes: its element's size, or that of the vectors the kernel accesses.
  uint64_t neededAlignment(const TensorDesc &desc) const;
  /// True if all addresses, of operands and then of results, are multiples of
  /// that; with an empty list they are.
  bool suits(const TypedBody &call, Span<const uintptr_t> addresses) const;
  /// Bytes of workspace that a call should get: at most workspaceCap, and 0
  /// where it would be of no use.
  uint64_t workspaceBytes(const TypedBody &call) const;

private:
  bool needsStored(const TypedBody &call) const {
    return !takesPads && call.hasPads();
  }
  /// Every value that is a view is an operand or result, at slots that take it.
  bool takesViews(const TypedBody &call) const;
  bool takesViewedOperands(const TypedBody &call) const;
  bool takesViewedResult(const TypedBody &call, size_t value) const;
  bool takesView(OpKind kind, size_t slot, bool isResult,
                 const TensorDesc &desc) const;
};

/// The rows of each device, in the order of DeviceKind. kernels/KernelRows.cpp
/// makes them from the families' records.
Span<const Span<const KernelRow>> allKernelRows();
/// The rows of a device, those of one pattern together; none for a device that
/// nobody has kernels for.
Span<const KernelRow> kernelsOn(DeviceKind device);
/// The rows for bodies of one pattern, in the order in which they are asked.
Span<const KernelRow> kernelsFor(DeviceKind device, PatternId pattern);
/// The row of `kid`, or of a kernel that has its bits now that it is gone; else
/// nullptr.
const KernelRow *findKernel(DeviceKind device, std::string_view kid);
struct SelectOptions {
  bool allowTF32 = false;
  /// Addresses of operands, then of results: rows that need better ones are
  /// passed over. Empty: every address is aligned, as in a plan.
  Span<const uintptr_t> addresses;
  const Costs *costs = nullptr; ///< or the default of the device
};
/// Returns the first automatic row that accepts the call, is worth choosing and
/// suits its addresses. Where no row suits them, returns the last one that would
/// do otherwise, so that an error can name it. Else nullptr.
const KernelRow *selectKernel(DeviceKind device, const TypedBody &call,
                              SelectOptions options = {});

} // namespace aicf

#endif // AICF_LIB_OPS_KERNELTABLE_H
