//===- MergeCalls.h - several calls as one ----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Makes one body of the bodies of several calls. Which calls, and whether it
// pays, is the passes' decision.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_MERGECALLS_H
#define AICF_LIB_TRANSFORMS_RT_MERGECALLS_H

#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Ops/TypedBody.h"

#include "mlir/IR/Builders.h"

namespace aicf::rt {
using namespace mlir;

/// A call that does not exist yet.
struct MergedCall {
  BodyAttr body;
  SmallVector<Value> operands; ///< in the order of their first use
  SmallVector<Value> results;  ///< of the calls before, that it takes over
  SmallVector<int64_t> vids;   ///< of all values that the body makes; or empty
  SmallVector<Location> locations;
  /// What each `expand` of the body was, a view or part of a body, and what each
  /// product gave, by its number. Types inside follow from the body, and must not
  /// become others.
  SmallVector<std::pair<uint32_t, TensorDesc>> typesBefore;

  /// A call that exists.
  static MergedCall of(CallOp call);
};

/// Returns true if these values have the types that they had.
bool keepsTypes(const MergedCall &merged, const TypedBody &typed);

/// Merges the calls `parts`, in this order. Values for which `staysInside` holds
/// do not become results. A part that reads a result of a later part has it
/// for an operand: then the call has no place. Where a part reads a result of an
/// earlier one through a view that repeats it, the body has an `expand`.
MergedCall mergeCalls(ArrayRef<CallOp> parts,
                      llvm::function_ref<bool(Value)> staysInside);

/// The same, with the body of a graph: see Graphs.h. Drops primitives
/// whose results stay inside and are read by nothing.
MergedCall mergeInGraphOrder(ArrayRef<CallOp> parts,
                             llvm::function_ref<bool(Value)> staysInside);
/// The same of calls of which some do not exist yet.
MergedCall mergeInGraphOrder(ArrayRef<MergedCall> parts,
                             llvm::function_ref<bool(Value)> staysInside);

/// Returns true if the call may replace its parts at the place of `at`: calls
/// that are not parts make its operands before, and nobody reads its results
/// before.
bool mayStandAt(const MergedCall &merged, ArrayRef<CallOp> parts,
                Operation *at);

/// Creates the call in front of `at`, where it may stand, and erases the parts, and
/// views of results that nobody reads any more.
CallOp replaceParts(const MergedCall &merged, ArrayRef<CallOp> parts,
                    Operation *at);

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_MERGECALLS_H
