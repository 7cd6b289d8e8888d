//===- OptimizerRates.h - hypers that parameters are trained with -*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A learning rate for all of them, or the numbers of a group of parameters.
// Schedules are not here: no hyper holds their rate.
//===----------------------------------------------------------------------===//
#ifndef AICF_TRANSFORMS_STEP_OPTIMIZERRATES_H
#define AICF_TRANSFORMS_STEP_OPTIMIZERRATES_H

#include "lib/Transforms/Step/EntryBuilder.h"
#include "lib/Transforms/Step/Gradients.h"

namespace aicf {

class OptimizerRates {
public:
  OptimizerRates(mlir::func::FuncOp func, step::OptimizerAttrInterface optimizer)
      : func(func), optimizer(optimizer) {}

  /// Adds the hypers that are not there: the one that the optimizer names, and
  /// those that parameters name. A diagnostic where one is something else.
  mlir::LogicalResult add(step::EntrySignature &signature, EntryBuilder &entry,
                          llvm::ArrayRef<Gradient> gradients);
  /// The hyper of a parameter, or null for a schedule.
  mlir::Value of(mlir::BlockArgument param);
  bool areGroups() { return optimizer.getGroupSize() != 0; }

private:
  mlir::LogicalResult checkMarks(const Gradient &gradient);

  mlir::func::FuncOp func;
  step::OptimizerAttrInterface optimizer;
  llvm::StringMap<mlir::Value> byName;
};

/// The first number of a group as a scalar of `element`, that others are made
/// like. It is a view: nothing is launched.
mlir::Value firstOfGroup(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value group, mlir::Type element);

} // namespace aicf

#endif // AICF_TRANSFORMS_STEP_OPTIMIZERRATES_H
