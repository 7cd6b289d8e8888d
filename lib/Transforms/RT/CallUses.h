//===- CallUses.h - who makes and who reads a value -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The one place that walks from a value of an entry to the calls around it.
// Passes ask here, so that none of them assumes that whatever defines or uses a
// value is a call.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_CALLUSES_H
#define AICF_LIB_TRANSFORMS_RT_CALLUSES_H

#include "aicf/Dialect/AICFRT/AICFRT.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace aicf::rt {
using namespace mlir;

/// How many uses of values the functions below have looked at on this thread. A
/// test asks whether they grow as programs do: a walk for each reader of a
/// value is quadratic in its readers.
uint64_t numUsesWalked();

/// The value that a view shows elements of; any other value itself.
Value baseOf(Value value);
bool isView(Value value);
/// True if `value`, which is not strided, is all of its base: no view, or one
/// that only has another shape. In bounds it begins where the base does.
bool isWhole(Value value);

/// The dimension along which a view repeats all of its base, which lacks it, or
/// nothing.
std::optional<int64_t> axisOfRepeat(Value view);

/// A call that copies a view into a dense tensor.
Value copyOfView(OpBuilder &builder, Location loc, Value view);

/// The call that makes `value`, or its base, or null for an argument of the
/// entry and for a join, which several calls make.
CallOp makerOf(Value value);
/// Calls `visit` for each call that makes `value`, or its base, or a part of it.
void forEachMaker(Value value, function_ref<void(CallOp)> visit);
/// The call or join whose result `value` is, or null.
Operation *producerOf(Value value);
/// The op that `value` is a part of, or null.
JoinOp joinOf(Value value);
/// How often `value` is a part: of several joins, or twice of one.
size_t countJoinsOf(Value value);
/// What `value` is a part of, as the outermost of its wholes; else `value`. They lie
/// in one memory.
Value wholeOf(Value value);
/// Calls `visit` for `value` and for each part of it, and of its parts.
void forEachPart(Value value, function_ref<void(Value)> visit);
/// The call whose result `value` is, or null for another one, such as a view.
CallOp callOf(Value value);
/// The op that `value` is a view by, or null.
ViewOp viewOf(Value value);
/// Bytes from the start of the memory of `value` to its own: to a view in its
/// base, to a part in its whole.
int64_t byteOffsetOf(Value value);
/// byteOffsetOf() for a pass that asks it of every operand: where a value has
/// many readers, each of them would look at all of the others for a join.
class StorageOffsets {
public:
  /// Makes those of an entry to which no join comes, as none does while calls
  /// are merged.
  explicit StorageOffsets(func::FuncOp func);
  /// Returns those of an entry whose values stay as they are.
  static StorageOffsets ofFixed(func::FuncOp func);
  /// Returns those of an entry that gets joins.
  static StorageOffsets ofChanging() { return StorageOffsets(); }

  int64_t of(Value value) const;

private:
  StorageOffsets() = default;
  bool hasJoins = true, isFixed = false;
  mutable llvm::DenseMap<Value, int64_t> known;
};
/// Calls `visit` for each view of `value`, which it may erase.
void forEachView(Value value, function_ref<void(ViewOp)> visit);

/// Leaves one view of each place of a base in `block`.
void mergeEqualViews(Block &block);
/// Erases the views in `block` that nobody reads.
void eraseUnreadViews(Block &block);

/// Returns true as soon as `holds` is true of an operand that takes `value` or
/// a view of it, but not what it is a part of; in a plan, of one that takes the
/// buffer or a value that lies in it.
bool anyRead(Value value,
             function_ref<bool(CallOp reader, unsigned operand)> holds);

/// Returns true as soon as `holds` is true of a position at which the entry
/// returns `value`.
bool anyReturn(Value value, function_ref<bool(unsigned result)> holds);
bool isReturned(Value value);

/// Returns true if an op at or behind `at`, but for `part`, reads `value` or a
/// view of it, or if the entry returns it or what it is a part of. Of many
/// readers it looks at few: those of the end of the entry come first.
bool isUsedAt(Value value, Operation *at, CallOp part);

/// Returns a user of `value` that is not in `calls`, or null. A view of it is a
/// user, even if it is dead: a value inside of a call has no views.
Operation *readerOutside(Value value, ArrayRef<CallOp> calls);

/// Returns true if `reader` is the only user of `value`, directly or through
/// views for which `isSeen` holds.
bool isReadOnlyBy(Value value, CallOp reader, function_ref<bool(ViewOp)> isSeen);

/// Returns the calls that use `value`, directly or through views for which
/// `isSeen` holds, each once; or nothing, if it has another user.
std::optional<SmallVector<CallOp>>
onlyReadersOf(Value value, function_ref<bool(ViewOp)> isSeen);

/// The label (vid) of an argument or of a primitive's result, or -1.
int64_t labelOf(Value value);
/// Returns the label of every value, in order.
SmallVector<int64_t> labelsOfEach(ArrayRef<Value> values);

/// The quoted primitive names of a call, or the name of another op, for
/// diagnostics.
std::string nameOfCall(Operation *op);

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_CALLUSES_H
