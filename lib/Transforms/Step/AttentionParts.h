//===- AttentionParts.h - what an attention by hand is made of --*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_STEP_ATTENTIONPARTS_H
#define AICF_LIB_TRANSFORMS_STEP_ATTENTIONPARTS_H

#include "aicf/Dialect/AICF/AICF.h"

namespace aicf::step {

inline llvm::ArrayRef<int64_t> dimensionsOf(mlir::Value value) {
  return mlir::cast<mlir::ShapedType>(value.getType()).getShape();
}

/// What is hidden of the scores: where the constant, which has two values, is not `seenIf`.
struct Hidden {
  mlir::DenseElementsAttr mask;
  bool seenIf = false;

  llvm::SmallVector<bool> seen() const;
  int64_t keys() const { return mask.getType().getShape().back(); }
  /// A query that sees no key gives NaN, or the mean of all: the op gives 0.
  bool showsAKeyInEachRow() const;
  /// The key up to which query 0 sees, if each next one sees one more.
  std::optional<int64_t> diagonal(int64_t numQueries, int64_t numKeys) const;
};

/// The factor of a product or quotient with one number, and what it is of.
std::optional<std::pair<double, mlir::Value>> factorOf(mlir::Operation *op);

/// What a constant hides where it is not `seenIf`, be it repeated or negated; null: it is
/// not a constant.
std::optional<Hidden> hiddenBy(mlir::Value condition, bool seenIf);

/// The parts of an attention, from its product with the values upwards. Heads are
/// [..., length, size], as products have them.
class AttentionParts {
public:
  explicit AttentionParts(MatmulOp product) : product(product) {}

  /// False where it is none; then why() says what it lacks, or nothing where it does not
  /// look like one.
  bool find();
  llvm::StringRef why() const { return reason; }

  MatmulOp product, scores;
  SoftmaxOp softmax;
  DropoutOp dropout;
  bool areWeightsRead = false; ///< by others than the product
  mlir::Value mask; ///< of floats that are added, or null
  std::optional<Hidden> hidden;
  std::optional<int64_t> diagonal; ///< of `hidden`, if it is one
  double scale = 1, softcap = 0;

private:
  bool no(llvm::StringRef text) {
    reason = text;
    return false;
  }
  mlir::Value passed(mlir::Value value);
  bool isHeld(double number);
  double passFactors(mlir::Value &value);
  bool passMasks(mlir::Value &value);
  bool hide(mlir::Value condition, bool seenIf, double number);
  bool hideConstant(const Hidden &found);
  bool passWhere(WhereOp where, mlir::Value &value);
  bool addMask(AddOp add, mlir::Value &value);
  bool passScores(mlir::Value value);
  bool fits();

  bool isReadByOthers = false;
  llvm::StringRef reason;
};

} // namespace aicf::step

#endif // AICF_LIB_TRANSFORMS_STEP_ATTENTIONPARTS_H
