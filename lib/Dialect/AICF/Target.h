//===- Target.h - what an entry is compiled for -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_DIALECT_AICF_TARGET_H
#define AICF_LIB_DIALECT_AICF_TARGET_H

#include "aicf/Dialect/AICF/AICF.h"
#include "lib/Ops/Costs.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace aicf::step {

/// What the `aicf.target` of an entry says.
struct Target {
  /// The profile that it names, with the numbers that it gives itself.
  Costs costs;
  bool allowsTF32 = false;

  DeviceKind device() const { return costs.device; }
};
/// A CPU where the function says none.
Target targetOf(mlir::FunctionOpInterface function);

} // namespace aicf::step

#endif // AICF_LIB_DIALECT_AICF_TARGET_H
