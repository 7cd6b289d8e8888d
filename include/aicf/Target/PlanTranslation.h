//===- PlanTranslation.h - aicf_rt.plan to a plan file ----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_TARGET_PLANTRANSLATION_H
#define AICF_TARGET_PLANTRANSLATION_H

#include "aicf/Plan/Plan.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::aicf {

/// The one aicf_rt.plan of `module` as a plan, verified by the loader's own
/// checks. Copies, decides nothing. Emits a diagnostic on failure.
FailureOr<::aicf::Plan> translateToPlan(ModuleOp module);

/// Writes what a tool made, all or nothing: to standard output where `path` is
/// "-", else as writeFileAtomically(). Says why not in `error`.
LogicalResult writeToolOutput(StringRef path, ArrayRef<uint8_t> bytes,
                              std::string &error);

} // namespace mlir::aicf

#endif // AICF_TARGET_PLANTRANSLATION_H
