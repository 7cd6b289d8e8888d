//===- Tensors.h - tensor types and the ABI's descriptions ------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For both dialects. An encoding is not looked at: what one means, the dialect
// that has it says (rt::toTensorDesc).
//===----------------------------------------------------------------------===//
#ifndef AICF_DIALECT_TENSORS_H
#define AICF_DIALECT_TENSORS_H

#include "aicf/TensorDesc.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <vector>

namespace aicf {

/// The ABI element type; std::nullopt for one the ABI does not have.
std::optional<DType> toDType(mlir::Type elementType);
/// A static tensor of an element type that the ABI has, as a dense one.
TensorDesc toDenseDesc(mlir::RankedTensorType type);
/// The tensor type of a desc's shape and element type, without encoding.
mlir::RankedTensorType toDenseType(mlir::MLIRContext *context,
                                   const TensorDesc &desc);

/// Returns the elements in row-major order, as a plan holds them. Their type is one
/// of the ABI's.
std::vector<uint8_t> bytesOf(mlir::DenseElementsAttr elements);
/// Makes elements of such bytes. There are as many as `type` takes.
mlir::DenseElementsAttr elementsOf(mlir::RankedTensorType type,
                                   const std::vector<uint8_t> &bytes);
/// Makes the numbers 0, 1, 2, ... in a tensor of rank 1.
mlir::DenseElementsAttr countUp(mlir::RankedTensorType type);

} // namespace aicf

#endif // AICF_DIALECT_TENSORS_H
