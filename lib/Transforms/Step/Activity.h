//===- Activity.h - what a loss is differentiated by ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The parameters that --aicf-autodiff finds gradients of, the values that
// depend on them, and what stands between one and the loss. Builds no ops.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_STEP_ACTIVITY_H
#define AICF_LIB_TRANSFORMS_STEP_ACTIVITY_H

#include "lib/Dialect/Entry.h"

namespace aicf {
using namespace mlir;

/// A trained parameter, or an input whose gradient somebody asks for, and the copies
/// of a parameter that the entry reads.
struct Trained {
  BlockArgument param;
  std::string name;
  SmallVector<BlockArgument, 1> copies; ///< states derived from it
  /// What stands for the gradient in the entry ('aicf.gradient_of'), or null.
  BlockArgument place;
};

/// Whether a gradient of the op's results goes on to one of these values.
bool leadsBackTo(Operation *op, const llvm::DenseSet<Value> &values);
/// Adds the op's results that depend on one of these values to them.
void addDependents(Operation *op, llvm::DenseSet<Value> &varied);

class Activity {
public:
  /// An error at the entry if a parameter cannot be trained, or if there is
  /// none.
  static FailureOr<Activity> of(func::FuncOp func);

  ArrayRef<Trained> trained() const { return params; }
  /// Whether `value` depends on a trained parameter.
  bool isVaried(Value value) const { return varied.contains(value); }
  /// The name of a parameter that `op` depends on.
  StringRef paramBehind(Operation *op) const;
  /// An error that says why the loss does not reach a parameter: at the op that
  /// cuts it off, the last on the way that has no cotangent, or at the entry.
  LogicalResult
  reportUnreached(const Trained &param, Value loss,
                  llvm::function_ref<bool(Value)> hasCotangent) const;

private:
  explicit Activity(func::FuncOp func) : func(func) {}
  LogicalResult findTrained();
  LogicalResult findPlaces();
  void findVaried();

  func::FuncOp func;
  SmallVector<Trained> params;
  llvm::DenseSet<Value> varied;
};

} // namespace aicf

#endif // AICF_LIB_TRANSFORMS_STEP_ACTIVITY_H
