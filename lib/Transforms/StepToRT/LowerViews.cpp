//===- LowerViews.cpp - views to rt ---------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A view of a view is a view of what that one sees. Where strides cannot say
// what a reshape asks for, a copy stands before it. An add of what repeats is a
// bias.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/StepToRT/LowerViews.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {
struct LowerReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op,
        Viewed(rewriter, op.getLoc(), op.getX()).reshape(op.getShape()).get());
    return success();
  }
};

struct LowerTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, Viewed(rewriter, op.getLoc(), op.getX())
                               .transpose(op.getPermutation())
                               .get());
    return success();
  }
};

struct LowerSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, Viewed(rewriter, op.getLoc(), op.getX())
                               .slice(op.getBegin(), op.getEnd(), op.getSteps())
                               .get());
    return success();
  }
};

struct LowerBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, Viewed(rewriter, op.getLoc(), op.getX())
                               .broadcastTo(op.getShape())
                               .get());
    return success();
  }
};
} // namespace

namespace {
/// A vector that an add repeats along all dimensions but one is a bias, which
/// has kernels of its own; elsewhere a copy would repeat it.
struct LowerAddOfBias : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    if (!isFloatElement(getElementTypeOrSelf(op.getC())))
      return failure();
    for (auto [y, b] :
         {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())}) {
      int64_t axis = repeatedBeside(b);
      if (axis < 0 || rt::baseOf(y) == rt::baseOf(b))
        continue;
      rt::ViewOp view = rt::viewOf(b);
      Viewed whole(rewriter, op.getLoc(), view.getBase());
      whole.reshape({whole.desc().elements()})
          .slice({view.getOffset()}, {view.getOffset() + shapeOf(b)[axis]},
                 {1});
      rewriter.replaceOp(op, makeCall(rewriter, op.getLoc(), OpKind::BiasAdd,
                                      BiasAddAttrs{axis}, op.getC().getType(),
                                      {y, whole.get()}, vidsOf(op)));
      return success();
    }
    return failure();
  }

private:
  /// The one dimension along which a view's elements lie behind each other
  /// while it repeats along all others, of which there are some; or -1.
  static int64_t repeatedBeside(Value value) {
    int64_t axis = -1, repeated = 0;
    TensorDesc desc = rt::toTensorDesc(value.getType());
    for (size_t i = 0; i < desc.rank && !desc.isDense(); ++i) {
      if (desc.stride(i) == 0) // dimensions of 1 among them
        ++repeated;
      else if (desc.stride(i) != 1)
        return -1;
      else
        axis = int64_t(i);
    }
    return repeated > 0 ? axis : -1;
  }
};
} // namespace

void aicf::populateViewPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerAddOfBias>(patterns.getContext(), /*benefit=*/2);
  patterns.add<LowerReshape, LowerTranspose, LowerSlice, LowerBroadcast>(
      patterns.getContext());
}
