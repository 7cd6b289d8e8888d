//===- RaiseAttention.cpp - attention that was written by hand ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Runs in front of autodiff, so that the gradients are those of one op, too. A step that
// brings its own gradients gets both ops.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/DeadOps.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Remarks.h"
#include "lib/Transforms/Step/AttentionGradients.h"

namespace aicf {
#define GEN_PASS_DEF_RAISEATTENTION
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

/// [..., length, size] as [batch, length, heads, size].
static Value toHeads(OpBuilder &b, Location loc, Value heads) {
  ArrayRef<int64_t> shape = dimensionsOf(heads);
  if (shape.size() == 4)
    return b.createOrFold<TransposeOp>(loc, heads,
                                       b.getDenseI64ArrayAttr({0, 2, 1, 3}));
  const int64_t batch = shape.size() == 3 ? shape[0] : 1;
  return b.createOrFold<ReshapeOp>(
      loc, heads,
      b.getDenseI64ArrayAttr({batch, shape[shape.size() - 2], 1, shape.back()}));
}

/// What broadcasts to scores of this rank, as [batch, heads, queries, keys].
static Value toScores(OpBuilder &b, Location loc, Value of, size_t rank) {
  SmallVector<int64_t> shape(dimensionsOf(of));
  shape.insert(shape.begin(), rank - shape.size(), 1);
  shape.insert(shape.end() - 2, rank == 3 ? 1 : 0, 1); // no heads
  shape.insert(shape.begin(), rank == 2 ? 2 : 0, 1);
  return b.createOrFold<ReshapeOp>(loc, of, b.getDenseI64ArrayAttr(shape));
}

/// What is added to the scores, or true where a key is seen; null for neither.
static Value maskOf(OpBuilder &b, Location loc, const AttentionParts &parts) {
  const size_t rank = dimensionsOf(parts.scores->getResult(0)).size();
  if (parts.mask)
    return toScores(b, loc, parts.mask, rank);
  if (!parts.hidden || parts.diagonal)
    return {};
  Value seen = ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(parts.hidden->mask.getType(), parts.hidden->seen()));
  return toScores(b, loc, seen, rank);
}

/// [batch, length, heads, size] as a product of this shape gives it.
static Value fromHeads(OpBuilder &b, Location loc, Value heads, ArrayRef<int64_t> shape) {
  if (shape.size() == 4)
    return b.createOrFold<TransposeOp>(loc, heads,
                                       b.getDenseI64ArrayAttr({0, 2, 1, 3}));
  return b.createOrFold<ReshapeOp>(loc, heads, b.getDenseI64ArrayAttr(shape));
}

/// Writes the op in front of its product with values.
static AttentionOp writeAttention(const AttentionParts &parts) {
  MatmulOp product = parts.product, scores = parts.scores;
  DropoutOp dropout = parts.dropout;
  OpBuilder b(product);
  Location loc = product.getLoc();
  Value k = scores.getB(), v = product.getB();
  if (!scores.getTransB())
    k = Transposed::at(k, true).write(b, loc);
  if (product.getTransB())
    v = Transposed::at(v, true).write(b, loc);
  auto op = AttentionOp::create(
      b, loc, toHeads(b, loc, scores.getA()), toHeads(b, loc, k), toHeads(b, loc, v),
      maskOf(b, loc, parts), /*segments=*/Value(),
      dropout ? Value(dropout.getStep()) : Value(), b.getF64FloatAttr(parts.scale),
      APFloat(parts.softcap), /*window_left=*/uint64_t(-1),
      /*window_right=*/parts.diagonal ? 0 : uint64_t(-1),
      uint64_t(parts.diagonal.value_or(0)), dropout ? dropout.getP() : APFloat(0.0),
      dropout ? dropout.getSeed() : 0);
  op->setDiscardableAttrs(llvm::to_vector(product->getDiscardableAttrDictionary()));
  return op;
}

/// Writes the gradients' op in front of the first product that gives one.
static void writeGradients(AttentionOp op, const AttentionGradients &gradients) {
  Operation *first = gradients.first();
  OpBuilder b(first);
  Location loc = first->getLoc();
  auto bwd = AttentionBwdOp::create(
      b, loc, toHeads(b, loc, gradients.dy.write(b, loc)), op.getQ(), op.getK(), op.getV(),
      op.getY(), op.getLse(), op.getMask(), op.getSegments(), op.getStep(),
      op.getScaleAttr(), op.getSoftcapAttr(), op.getWindowLeftAttr(),
      op.getWindowRightAttr(), op.getOffsetAttr(), op.getPAttr(), op.getSeedAttr());
  bwd->setDiscardableAttrs(llvm::to_vector(first->getDiscardableAttrDictionary()));
  auto replace = [&](ArrayRef<ProductOf> products, Value heads) {
    for (ProductOf product : products) {
      Value rows = fromHeads(b, loc, heads, product.shape());
      product.op.replaceAllUsesWith(
          Transposed::at(rows, product.isResultTurned).write(b, loc));
    }
  };
  replace(gradients.dq, bwd.getDq());
  replace(gradients.dk, bwd.getDk());
  replace(gradients.dv, bwd.getDv());
}

/// Replaces the product by the op, and its gradients by theirs, if they are there.
static bool raise(AttentionParts &parts, StringRef &why) {
  AttentionGradients gradients(parts);
  const bool isFound = parts.find() && (!parts.areWeightsRead || gradients.find());
  why = parts.why().empty() ? gradients.why() : parts.why();
  if (!isFound)
    return false;
  MatmulOp product = parts.product;
  AttentionOp op = writeAttention(parts);
  if (parts.areWeightsRead)
    writeGradients(op, gradients);
  OpBuilder b(product);
  product.replaceAllUsesWith(
      fromHeads(b, product.getLoc(), op.getY(), dimensionsOf(product.getC())));
  return true;
}

namespace {

struct RaiseAttention : aicf::impl::RaiseAttentionBase<RaiseAttention> {
  using RaiseAttentionBase::RaiseAttentionBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isEntry(func))
      return markAllAnalysesPreserved();
    // A step of JAX has ops that the import has found better ones for.
    eraseDeadOps(func.getBody().front());
    remark::RemarkOpts about = remarkOf("RaiseAttention", func.getSymName());
    for (MatmulOp product : llvm::to_vector(func.getOps<MatmulOp>())) {
      AttentionParts parts(product);
      StringRef why;
      if (raise(parts, why)) {
        if (auto remark = remark::passed(product.getLoc(), about))
          remark << (parts.areWeightsRead
                         ? "products and a softmax are one attention, with its gradients"
                         : "two products and a softmax are one attention");
      } else if (!why.empty()) {
        if (auto remark = remark::missed(product.getLoc(), about))
          remark << ("two products and a softmax stay as they are: " + why).str();
      }
    }
    eraseDeadOps(func.getBody().front());
  }
};

} // namespace
