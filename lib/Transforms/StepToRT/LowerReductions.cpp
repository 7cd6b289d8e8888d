//===- LowerReductions.cpp - primitives on views of their operands --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Reductions see their operand with the axes as one dimension.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/StepToRT/LowerViews.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {
/// How a tensor lies where `axes` of it are one dimension, `axis`, of a shape
/// that the primitives know.
struct ReducedShape {
  SmallVector<int64_t> permutation; ///< empty: dimensions stay in order
  SmallVector<int64_t> shape;       ///< then, with the axes as one
  int64_t axis = 0;
  bool keeps = false;        ///< the result has dimension `axis`, as 1
  bool dropsLeading = false; ///< it lacks those in front of `axis`, too

  ReducedShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes, bool keepdim);
  /// The shape that the primitive gives.
  SmallVector<int64_t> result() const {
    SmallVector<int64_t> left(shape);
    if (keeps)
      left[axis] = 1;
    else
      left.erase(left.begin() + (dropsLeading ? 0 : axis),
                 left.begin() + axis + 1);
    return left;
  }
};
} // namespace

ReducedShape::ReducedShape(ArrayRef<int64_t> whole, ArrayRef<int64_t> axes,
                           bool keepdim) {
  shape.assign(whole.begin(), whole.end());
  bool isLeading = llvm::equal(axes, llvm::seq<int64_t>(0, axes.size()));
  if (isLeading && !axes.empty() && !keepdim) {
    axis = axes.back();
    dropsLeading = true;
    return;
  }
  int64_t size = 1;
  for (int64_t i : axes)
    size *= whole[i];
  bool isRun =
      axes.empty() || axes.back() - axes.front() + 1 == int64_t(axes.size());
  shape.clear();
  if (isRun && !axes.empty()) {
    for (auto [i, extent] : llvm::enumerate(whole))
      if (!llvm::is_contained(axes, int64_t(i)))
        shape.push_back(extent);
    axis = axes.front();
    shape.insert(shape.begin() + axis, size);
    if (keepdim) { // the other axes stay in front of what follows, as 1
      shape.insert(shape.begin() + axis + 1, axes.size() - 1, 1);
      keeps = true;
    }
    return;
  }
  for (int64_t i = 0; i < int64_t(whole.size()); ++i)
    if (!llvm::is_contained(axes, i)) {
      permutation.push_back(i);
      shape.push_back(whole[i]);
    }
  axis = int64_t(shape.size());
  permutation.append(axes.begin(), axes.end());
  shape.push_back(size);
}

/// x with the axes as one dimension.
static Value viewReduced(OpBuilder &builder, Location loc, Value x,
                         const ReducedShape &reduced) {
  Viewed viewed(builder, loc, x);
  if (!reduced.permutation.empty())
    viewed.transpose(reduced.permutation);
  return viewed.reshape(reduced.shape).get();
}

namespace {
/// A reduction is its primitive, of kind `kind` with attrs Attrs, on x with the
/// axes as one dimension; its results get the op's shape.
template <typename Op, OpKind kind, typename Attrs>
struct LowerReduction : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ReducedShape reduced(shapeOf(op.getX()), op.getAxes(), op.getKeepdim());
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      types.push_back(cast<RankedTensorType>(type).clone(reduced.result()));
    rt::CallOp call =
        makeCalls(rewriter, loc, kind, Attrs{reduced.axis}, types,
                  {viewReduced(rewriter, loc, op.getX(), reduced)}, vidsOf(op));
    SmallVector<Value> results;
    for (auto [made, wanted] :
         llvm::zip_equal(call.getResults(), op->getResults()))
      results.push_back(
          Viewed(rewriter, loc, made).reshape(shapeOf(wanted)).get());
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// The other way round: dx as the primitive makes it, seen in its own shape.
struct LowerExtremumBwd : OpRewritePattern<ExtremumBwdOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ExtremumBwdOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ReducedShape reduced(op.getShape(), op.getAxes(), /*keepdim=*/false);
    SmallVector<int64_t> small = reduced.result();
    auto type = cast<RankedTensorType>(op.getDx().getType());
    Value dx =
        makeCall(rewriter, loc, OpKind::ExtremumBwd,
                 ExtremumBwdAttrs{reduced.axis}, type.clone(reduced.shape),
                 {Viewed(rewriter, loc, op.getDy()).reshape(small).get(),
                  Viewed(rewriter, loc, op.getIndex()).reshape(small).get()},
                 vidsOf(op));
    Viewed whole(rewriter, loc, dx);
    if (reduced.permutation.empty()) {
      whole.reshape(op.getShape());
    } else {
      SmallVector<int64_t> permuted, inverse(reduced.permutation.size());
      for (auto [i, from] : llvm::enumerate(reduced.permutation)) {
        permuted.push_back(op.getShape()[from]);
        inverse[from] = int64_t(i);
      }
      whole.reshape(permuted).transpose(inverse);
    }
    rewriter.replaceOp(op, whole.get());
    return success();
  }
};
/// The mean of everything is that over all dimensions up to the last: a sum, which
/// may be a part of what makes x. A scalar has none, and that of 16 bits is f32.
struct LowerMean : OpRewritePattern<MeanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MeanOp op,
                                PatternRewriter &rewriter) const override {
    const auto type = cast<RankedTensorType>(op.getX().getType());
    const int64_t rank = type.getRank();
    if (rank == 0 || type.getElementType() != getElementTypeOrSelf(op.getType()))
      return failure();
    rewriter.replaceOp(op, makeCall(rewriter, op.getLoc(), OpKind::ReduceMean,
                                    ReduceMeanAttrs{rank - 1}, op.getType(),
                                    {op.getX()}, vidsOf(op)));
    return success();
  }
};
} // namespace

void aicf::populateReductionPatterns(RewritePatternSet &patterns) {
  patterns
      .add<LowerExtremumBwd,
           LowerReduction<ReduceSumOp, OpKind::ReduceSum, ReduceSumAttrs>,
           LowerReduction<ReduceMeanOp, OpKind::ReduceMean, ReduceMeanAttrs>,
           LowerReduction<ReduceMaxOp, OpKind::ReduceMax, ReduceMaxAttrs>,
           LowerReduction<ReduceMinOp, OpKind::ReduceMin, ReduceMinAttrs>>(
          patterns.getContext());
  // Before the one that lowers an op to its own primitive.
  patterns.add<LowerMean>(patterns.getContext(), /*benefit=*/2);
}
