//===- KernelChoice.h - which kernel a call would get -----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_ANALYSIS_KERNELCHOICE_H
#define AICF_ANALYSIS_KERNELCHOICE_H

#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "aicf/Support/KernelTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::aicf_rt {

/// "cpu" or "cuda"; emits an error at `op` for anything else.
FailureOr<::aicf::DeviceKind> parseTarget(Operation *op, StringRef target);

/// Asks Kernels.def on behalf of the calls of one entry.
class KernelChooser {
public:
  /// Reads `aicf.math` of the entry.
  KernelChooser(func::FuncOp func, ::aicf::DeviceKind device);

  /// The row for a call of `kind` with these types, or nullptr.
  const ::aicf::KernelRow *choose(::aicf::OpKind kind, TypeRange ins,
                                  TypeRange outs) const;
  /// The row that `op` names, or else the one it would get, or nullptr.
  const ::aicf::KernelRow *choose(PrimitiveOpInterface op) const;

private:
  ::aicf::DeviceKind device;
  bool allowTF32;
};

SmallVector<::aicf::TensorDesc> toTensorDescs(TypeRange types);

} // namespace mlir::aicf_rt

#endif // AICF_ANALYSIS_KERNELCHOICE_H
