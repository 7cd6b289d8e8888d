//===- PatternReaders.h - calls that may be in a pattern --------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Who reads a value as the element of a pattern. A value may have any number of
// users, few of them of the kind that is looked for: asking all of them for
// each of many calls would be quadratic.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_PATTERNREADERS_H
#define AICF_LIB_TRANSFORMS_RT_PATTERNREADERS_H

#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "kernels/Patterns.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace aicf::rt {

/// A call of this primitive alone, without a kernel yet.
bool isUnfused(CallOp call, OpKind kind);

/// The calls that may be an element of a pattern, by the value that the
/// element's first binding is about.
class PatternReaders {
public:
  PatternReaders(mlir::func::FuncOp func, const PatternInfo &pattern);

  /// The first binding of the element's operands, or null.
  static const BindingInfo *bindingOf(const PatternInfo &pattern,
                                      size_t element);
  /// The first call in the block that reads `value` there and `fits`, or null.
  CallOp first(mlir::Value value, size_t element,
               llvm::function_ref<bool(CallOp)> fits);
  /// `parts` are gone, and `after` stands for `before`.
  void replace(mlir::ArrayRef<CallOp> parts, mlir::ArrayRef<mlir::Value> before,
               mlir::ValueRange after);

private:
  struct List {
    mlir::SmallVector<mlir::Operation *> calls; ///< in order; some are gone
    size_t head = 0;                            ///< all before it are
  };
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, List> lists;
  llvm::DenseSet<mlir::Operation *> gone;
};

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_PATTERNREADERS_H
