//===- AICF.h - the aicf dialect --------------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_DIALECT_AICF_AICF_H
#define AICF_DIALECT_AICF_AICF_H

#include "aicf/Ops.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace aicf::step {
/// A state of an optimizer and its new value, with their names in the record.
struct Moment {
  llvm::StringRef name, nextName;
  mlir::Value state;
  mlir::OpResult next;
};
/// What an optimizer trains; `param` and `grad` are null where an op is none.
struct Training {
  mlir::OpOperand *param = nullptr;
  mlir::OpOperand *grad = nullptr;
  llvm::SmallVector<Moment, 2> moments;
  explicit operator bool() const { return param && grad; }
};
} // namespace aicf::step

#include "aicf/Dialect/AICF/AICFDialect.h.inc"
#include "aicf/Dialect/AICF/AICFInterfaces.h.inc"
#define GET_OP_CLASSES
#include "aicf/Dialect/AICF/AICFOps.h.inc"

namespace aicf {
/// aicf, aicf_rt and func.
void registerDialects(mlir::DialectRegistry &registry);
} // namespace aicf

namespace aicf::step {

/// Names of the attributes users write on entries.
inline constexpr llvm::StringLiteral kRoleAttr = "aicf.role";
inline constexpr llvm::StringLiteral kNameAttr = "aicf.name";
inline constexpr llvm::StringLiteral kInitAttr = "aicf.init";
inline constexpr llvm::StringLiteral kUpdatesAttr = "aicf.updates";
inline constexpr llvm::StringLiteral kDerivedFromAttr = "aicf.derived_from";
inline constexpr llvm::StringLiteral kHistoryAttr = "aicf.history";
inline constexpr llvm::StringLiteral kMathAttr = "aicf.math";
/// Labels written by --aicf-number-values: on ops (array of result labels), on
/// arguments, and the counts on the function.
inline constexpr llvm::StringLiteral kVidsAttr = "aicf.vids";
inline constexpr llvm::StringLiteral kVidAttr = "aicf.vid";
inline constexpr llvm::StringLiteral kValuesAttr = "aicf.values";
inline constexpr llvm::StringLiteral kNodesAttr = "aicf.nodes";

} // namespace aicf::step

#endif // AICF_DIALECT_AICF_AICF_H
