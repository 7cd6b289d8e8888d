//===- AICFRT.h - the aicf_rt dialect ---------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_DIALECT_AICFRT_AICFRT_H
#define AICF_DIALECT_AICFRT_AICFRT_H

#include "aicf/Body.h"
#include "aicf/Dialect/Tensors.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace aicf {
struct BodyFacts;
} // namespace aicf
namespace aicf::rt::detail {
struct BodyAttrStorage;
} // namespace aicf::rt::detail

namespace aicf::rt {
/// The resource every call writes, so that calls stay in program order.
struct ExecutionOrder : mlir::SideEffects::Resource::Base<ExecutionOrder> {
  llvm::StringRef getName() final { return "aicf_rt.execution_order"; }
};

/// The ABI description of a static ranked tensor type, or of a value's. Where
/// layoutOf() knows nothing, it is strided: nothing takes it for dense.
TensorDesc toTensorDesc(mlir::Type type);
/// The other way round.
mlir::RankedTensorType toTensorType(mlir::MLIRContext *context,
                                    const TensorDesc &desc);
/// What the encoding says; nothing if it is none of ours.
std::optional<Layout> layoutOf(mlir::RankedTensorType type);
/// A type with another layout, dense or padded.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, Layout layout);
/// Bytes of a tensor or value, pads included.
inline uint64_t bytesOf(mlir::Type type) {
  return toTensorDesc(type).spanBytes();
}
} // namespace aicf::rt

#include "aicf/Dialect/AICFRT/AICFRTDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "aicf/Dialect/AICFRT/AICFRTTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "aicf/Dialect/AICFRT/AICFRTAttrs.h.inc"
#define GET_OP_CLASSES
#include "aicf/Dialect/AICFRT/AICFRTOps.h.inc"

#endif // AICF_DIALECT_AICFRT_AICFRT_H
