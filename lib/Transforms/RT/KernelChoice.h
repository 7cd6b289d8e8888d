//===- KernelChoice.h - which kernel a call would get -----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_KERNELCHOICE_H
#define AICF_LIB_TRANSFORMS_RT_KERNELCHOICE_H

#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Dialect/AICF/Target.h"
#include "lib/Ops/KernelTable.h"
#include "lib/Ops/Profile.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/Decision.h"
#include "lib/Transforms/RT/MergeCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace aicf::rt {
using namespace mlir;

/// Emits an error at `loc` for a file that cannot be read or is not a profile.
FailureOr<Profile> loadProfile(Location loc, StringRef path);

/// A call's body with the types of its values; the rules accept it, or an error
/// says why not.
StatusOr<TypedBody> typedBodyOf(CallOp op);
StatusOr<TypedBody> typedBodyOf(const MergedCall &call);
StatusOr<TypedBody> typedBodyOf(BodyAttr body, TypeRange ins, TypeRange outs);

/// Asks the kernel table on behalf of the calls of one entry.
class KernelChooser {
public:
  /// For the target of the entry. A profile (or null) must outlive this.
  KernelChooser(func::FuncOp func, StorageOffsets offsets,
                const Profile *profile = nullptr);
  explicit KernelChooser(func::FuncOp func)
      : KernelChooser(func, StorageOffsets(func)) {}

  const Costs &costs() const { return target.costs; }
  /// The kernels of the target for bodies of one pattern.
  Span<const KernelRow> kernelsFor(PatternId pattern) const {
    return aicf::kernelsFor(target.device(), pattern);
  }

  /// The row for a call whose operands and results lie at `places`, or
  /// nullptr: the fastest of those that the profile knows for the problem, else
  /// the first of the table.
  const KernelRow *choose(const TypedBody &call,
                          ArrayRef<uintptr_t> places) const;
  const KernelRow *choose(const MergedCall &call, const TypedBody &typed) const;
  /// The row that `op` names, or else the one it would get, or nullptr. `typed`
  /// and `places` may be those that it would have.
  const KernelRow *choose(CallOp op, const TypedBody &typed,
                          ArrayRef<uintptr_t> places) const;
  const KernelRow *choose(CallOp op, const TypedBody &typed) const;
  /// Bytes from the start of a value's storage to its first element.
  int64_t offsetOf(Value value) const { return offsets.of(value); }
  /// Says no to calls that no kernel takes in one: each that was passed over,
  /// with its reason. The reason asks this chooser.
  Decision noKernelFor(TypedBody typed) const;
  /// "; KID: why" for every kernel of the target, of the call's types and
  /// before `end` (null: of all), that the call does not get.
  std::string passedOver(const TypedBody &typed,
                         const KernelRow *end = nullptr) const;
  /// In words, why choose(op, typed) gave `row`: who asked for it, or which
  /// rows before it do not take the call.
  std::string reasonFor(const KernelRow &row, CallOp op,
                        const TypedBody &typed) const;

private:
  bool isAutomatic(const KernelRow &row) const {
    return row.selection == Selection::Auto ||
           (row.selection == Selection::AutoTF32 && target.allowsTF32);
  }

  /// Where operands and then results begin in their storages, in bytes: neither
  /// a view nor a part need begin where a vector may.
  SmallVector<uintptr_t> offsetsOf(ValueRange operands,
                                   ValueRange results) const;

  step::Target target;
  StorageOffsets offsets;
  const Profile *profile;
};

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_KERNELCHOICE_H
