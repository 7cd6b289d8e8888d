//===- Passes.h - what passes share beyond the public header --*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_PASSES_H
#define AICF_LIB_TRANSFORMS_PASSES_H

#include "aicf/Compiler.h"

namespace aicf {
using namespace mlir;

// The two rewrites that --aicf-dump-lowered applies to a copy of a function.

/// Writes the labels of --aicf-number-values.
void numberValues(func::FuncOp func);
/// Lowers the entries of `module`; emits diagnostics on failure.
LogicalResult lowerEntriesToRT(ModuleOp module);

/// Fails, with a diagnostic, for a mark that no pass has seen and that a lowering
/// would lose.
LogicalResult checkMarks(func::FuncOp func);
/// Fails where an optional result is used whose operand is absent: there is
/// nothing to lower it to.
LogicalResult checkAbsentResults(func::FuncOp func);

} // namespace aicf

#endif // AICF_LIB_TRANSFORMS_PASSES_H
