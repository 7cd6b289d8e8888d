//===- AbiShape.h - tensors that the ABI can hold ---------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_DIALECT_AICFRT_ABISHAPE_H
#define AICF_LIB_DIALECT_AICFRT_ABISHAPE_H

#include "mlir/IR/Operation.h"

namespace aicf::rt {

/// Emits an error at `op` unless the ABI can hold a tensor of `type`: asked
/// before the type becomes a TensorDesc.
mlir::LogicalResult checkAbiShape(mlir::Operation *op, mlir::Type type);

} // namespace aicf::rt

#endif // AICF_LIB_DIALECT_AICFRT_ABISHAPE_H
