//===- Variance.cpp - how often a value changes ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Analysis/Variance.h"

using namespace mlir;
using namespace mlir::aicf;

StringRef mlir::aicf::toString(Variance variance) {
  switch (variance) {
  case Variance::Const:
    return "const";
  case Variance::Hyper:
    return "hyper";
  case Variance::PerStep:
    return "per_step";
  }
  llvm_unreachable("unknown variance");
}

Variance mlir::aicf::varianceOfRole(::aicf::Role role) {
  return role == ::aicf::Role::Hyper ? Variance::Hyper : Variance::PerStep;
}

VarianceAnalysis::VarianceAnalysis(func::FuncOp func) {
  EntrySignature signature(func);
  for (auto [arg, info] : llvm::zip(func.getArguments(), signature.arguments))
    classes[arg] = varianceOfRole(info.role);
  for (Operation &op : func.front()) {
    Variance fastest = Variance::Const;
    for (Value operand : op.getOperands())
      fastest = std::max(fastest, classes.lookup(operand));
    for (Value result : op.getResults())
      classes[result] = fastest;
  }
}
