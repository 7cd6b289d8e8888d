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
};

/// The calls `parts`, in this order, each of one primitive. What satisfies
/// `staysInside` is no result of the new call; other calls do not read it.
MergedCall mergeCalls(ArrayRef<CallOp> parts,
                      llvm::function_ref<bool(Value)> staysInside);

/// Creates it in front of `at`, and erases the parts. Legal if its operands are
/// made before `at`, and nobody reads its results before.
CallOp replaceParts(const MergedCall &merged, ArrayRef<CallOp> parts,
                    Operation *at);

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_MERGECALLS_H
