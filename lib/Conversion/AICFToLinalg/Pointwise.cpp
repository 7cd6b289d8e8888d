//===- Pointwise.cpp - pointwise ops, casts, copies to linalg -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What an op with a scalar definition computes comes from its record.
//===----------------------------------------------------------------------===//

#include "lib/Conversion/AICFToLinalg/Tensors.h"

namespace aicf::linalg_bridge {

#include "lib/Conversion/AICFToLinalg/Definitions.h.inc"

namespace {

/// Any op with an overload of definitionOf().
template <typename Op> struct LowerPointwise : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    TensorBuilder tensors(rewriter, op.getLoc());
    SmallVector<Read> operands;
    for (Value operand : adaptor.getOperands())
      operands.push_back(TensorBuilder::all(operand));
    rewriter.replaceOp(op, tensors.map(operands, typeOf(op->getResult(0)),
                                       [&](ArrayRef<Scalar> in) {
                                         return definitionOf(op, in);
                                       }));
    return success();
  }
};

template <typename Op> struct Forward : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getX());
    return success();
  }
};

template <typename... Ops>
void add(RewritePatternSet &patterns, std::tuple<Ops...> *) {
  patterns.add<LowerPointwise<Ops>...>(patterns.getContext());
}

} // namespace

static SmallVector<Value> lower(TensorBuilder &t, CastOp op,
                                CastOp::Adaptor adaptor) {
  return {t.convert(cast<Tensor>(adaptor.getX()),
                    typeOf(op.getY()).getElementType())};
}

void addPointwise(RewritePatternSet &patterns) {
  add(patterns, static_cast<PointwiseOps *>(nullptr));
  // Values are values: a copy of one is the same one.
  patterns.add<Forward<CopyOp>, Forward<SaveOp>, Forward<StopGradientOp>>(
      patterns.getContext());
  patterns.add<Lower<CastOp>>(patterns.getContext());
}

} // namespace aicf::linalg_bridge
