//===- OptimizerStates.h - which optimizer a state belongs to ---*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Entries of a module share states by name. Those of one optimizer are to be
// shared, those of two optimizers are not: two counters would otherwise be one,
// which both count up.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_STEP_OPTIMIZERSTATES_H
#define AICF_LIB_TRANSFORMS_STEP_OPTIMIZERSTATES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace aicf {

/// The optimizers of a module, told apart by the states that count their steps.
class OptimizerStates {
public:
  /// Entries with the same `aicf.step_count` have one optimizer, and of those
  /// without one the ones that train a common parameter. An error at an entry
  /// with an optimizer and no gradients.
  static mlir::FailureOr<OptimizerStates>
  create(mlir::ArrayRef<mlir::func::FuncOp> entries);

  /// The state that counts the steps of an entry's optimizer: "step" of the
  /// first one, "<entry>/step" of others, where no attribute says so.
  llvm::StringRef counterOf(mlir::func::FuncOp func) const {
    return counters.find(func)->second;
  }
  /// The table of its learning rates, beside that: "lr_table".
  std::string rateTableOf(mlir::func::FuncOp func) const {
    llvm::StringRef counter = counterOf(func);
    return (counter.take_front(counter.rfind('/') + 1) + "lr_table").str();
  }
  /// The state is the optimizer's of this entry. An error at the entry if it is
  /// another's.
  mlir::LogicalResult claim(mlir::func::FuncOp func, llvm::StringRef state);

private:
  llvm::DenseMap<mlir::Operation *, std::string> counters;
  llvm::StringMap<mlir::func::FuncOp> claimed; ///< by state: who did so first
};

} // namespace aicf

#endif // AICF_LIB_TRANSFORMS_STEP_OPTIMIZERSTATES_H
