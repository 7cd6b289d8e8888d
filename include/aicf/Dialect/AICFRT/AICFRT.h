//===- AICFRT.h - the aicf_rt dialect ---------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_DIALECT_AICFRT_AICFRT_H
#define AICF_DIALECT_AICFRT_AICFRT_H

#include "aicf/Ops.h"
#include "aicf/TensorDesc.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace aicf::rt {
/// The resource every primitive writes, so that calls stay in program order.
struct ExecutionOrder : mlir::SideEffects::Resource::Base<ExecutionOrder> {
  llvm::StringRef getName() final { return "aicf_rt.execution_order"; }
};

/// The ABI description of a static ranked tensor type.
TensorDesc toTensorDesc(mlir::Type type);
/// The ABI element type; std::nullopt for one the ABI does not have.
std::optional<DType> toDType(mlir::Type elementType);
} // namespace aicf::rt

#include "aicf/Dialect/AICFRT/AICFRTDialect.h.inc"
#include "aicf/Dialect/AICFRT/AICFRTInterfaces.h.inc"
#define GET_OP_CLASSES
#include "aicf/Dialect/AICFRT/AICFRTOps.h.inc"

namespace aicf::rt {

/// Marks a copy inserted by --aicf-rt-materialize-updates (discardable).
inline constexpr llvm::StringLiteral kProtectiveAttr = "aicf_rt.protective";
/// Function, argument and result attributes written by --aicf-rt-plan-memory.
inline constexpr llvm::StringLiteral kTargetAttr = "aicf_rt.target";
inline constexpr llvm::StringLiteral kOffsetAttr = "aicf_rt.offset";
inline constexpr llvm::StringLiteral kIoBytesAttr = "aicf_rt.io_bytes";
inline constexpr llvm::StringLiteral kTempBytesAttr = "aicf_rt.temp_bytes";
inline constexpr llvm::StringLiteral kTempBoundAttr = "aicf_rt.temp_bound";
inline constexpr llvm::StringLiteral kWorkspacesAttr = "aicf_rt.workspaces";
inline constexpr llvm::StringLiteral kPersistentBytesAttr =
    "aicf_rt.persistent_bytes";

} // namespace aicf::rt

#endif // AICF_DIALECT_AICFRT_AICFRT_H
