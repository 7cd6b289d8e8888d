//===- Variance.h - how often a value changes -------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_ANALYSIS_VARIANCE_H
#define AICF_ANALYSIS_VARIANCE_H

#include "aicf/Analysis/Entry.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::aicf {

/// const: fixed when the plan is made (attributes). hyper: written by the host
/// between steps. perStep: changes from step to step.
enum class Variance { Const = 0, Hyper, PerStep };
StringRef toString(Variance variance);

/// The class of an argument by its role.
Variance varianceOfRole(::aicf::Role role);

/// Classes of all values of an entry: arguments by role, an op's result as its
/// fastest operand. Works on aicf and on aicf_rt.
class VarianceAnalysis {
public:
  explicit VarianceAnalysis(func::FuncOp func);
  Variance get(Value value) const { return classes.lookup(value); }

private:
  llvm::DenseMap<Value, Variance> classes;
};

} // namespace mlir::aicf

#endif // AICF_ANALYSIS_VARIANCE_H
