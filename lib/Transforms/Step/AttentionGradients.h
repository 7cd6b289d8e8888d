//===- AttentionGradients.h - gradients of attention by hand ----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_STEP_ATTENTIONGRADIENTS_H
#define AICF_LIB_TRANSFORMS_STEP_ATTENTIONGRADIENTS_H

#include "lib/Transforms/Step/AttentionParts.h"

namespace aicf::step {

/// A tensor by what it is a transpose of, so that equal ones are seen as equal.
struct Transposed {
  mlir::Value of;
  llvm::SmallVector<int64_t> order;

  /// With `turned`, rows are columns.
  static Transposed at(mlir::Value value, bool turned = false);
  bool operator==(const Transposed &other) const {
    return of == other.of && order == other.order;
  }
  bool operator!=(const Transposed &other) const { return !(*this == other); }
  llvm::SmallVector<int64_t> shape() const;
  mlir::Value write(mlir::OpBuilder &b, mlir::Location loc) const;
};

/// A product that reads a matrix M: M · right, or if `turned`, Mᵀ · right. `op` gives it,
/// or if `isResultTurned`, its transpose.
struct ProductOf {
  MatmulOp op;
  bool turned, isResultTurned;
  Transposed right;

  /// Returns that of the product, before it is turned.
  llvm::SmallVector<int64_t> shape();
};

/// The other half of an attention by hand, as a step of JAX has it: what reads the weights
/// beside the product with values.
///
///     dv = weightsᵀ · dy                 dscores = softmax_bwd(dy · vᵀ, weights) · scale
///     dq = dscores · k                   dk = dscoresᵀ · q
class AttentionGradients {
public:
  explicit AttentionGradients(const AttentionParts &parts) : parts(parts) {}

  /// False if something else reads the weights, or these are other gradients; why() says
  /// which.
  bool find();
  llvm::StringRef why() const { return reason; }
  llvm::SmallVector<ProductOf> all() const;
  /// The first op of all, of which there is one if they were found.
  mlir::Operation *first() const;

  Transposed dy;
  /// Each is one product, or several equal ones.
  llvm::SmallVector<ProductOf> dq, dk, dv;

private:
  bool no(llvm::StringRef text) {
    reason = text;
    return false;
  }
  bool findDy(SoftmaxBwdOp softmax);
  bool passSlopes(mlir::Value &slopes);
  bool sort(llvm::ArrayRef<ProductOf> ofWeights, llvm::ArrayRef<ProductOf> ofSlopes);
  bool fits(llvm::ArrayRef<ProductOf> products, llvm::ArrayRef<int64_t> shape);

  const AttentionParts &parts;
  SoftmaxBwdOp softmaxBwd;
  llvm::StringRef reason;
};

} // namespace aicf::step

#endif // AICF_LIB_TRANSFORMS_STEP_ATTENTIONGRADIENTS_H
