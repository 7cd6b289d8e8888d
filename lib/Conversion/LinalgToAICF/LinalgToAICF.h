//===- LinalgToAICF.h - ops of linalg and tensor to aicf --------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the pass does with each kind of op. What aicf cannot say stays as it is,
// with a remark.
//===----------------------------------------------------------------------===//
#ifndef AICF_CONVERSION_LINALGTOAICF_LINALGTOAICF_H
#define AICF_CONVERSION_LINALGTOAICF_LINALGTOAICF_H

#include "aicf/Dialect/AICF/AICF.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace aicf::linalg_bridge {
using namespace mlir;

/// Replaces a named or generic op of linalg by aicf ops.
void convertStructured(IRRewriter &rewriter, linalg::LinalgOp op);

/// True if `op` is a transpose, another shape, a slice or a concat.
bool isViewOp(Operation *op);
/// Replaces an op for which isViewOp() holds by aicf's.
void convertView(IRRewriter &rewriter, Operation *op);

/// True if `op` is a constant of several numbers that a plan may hold.
bool isTable(Operation *op);
/// Replaces an op for which isTable() holds by aicf's.
void convertTable(IRRewriter &rewriter, Operation *op);

/// A tensor that aicf has, which lies as it is.
inline bool isPlainTensor(Type type) {
  return step::isAbiTensor(type) &&
         !cast<RankedTensorType>(type).getEncoding();
}
inline bool isFloatTensor(Type type) {
  return isPlainTensor(type) &&
         step::isFloatElement(getElementTypeOrSelf(type));
}

} // namespace aicf::linalg_bridge

#endif // AICF_CONVERSION_LINALGTOAICF_LINALGTOAICF_H
