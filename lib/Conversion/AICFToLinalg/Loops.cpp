//===- Loops.cpp - aicf.repeat, to scf.for --------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Conversion/AICFToLinalg/Tensors.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace aicf::linalg_bridge {
namespace {

struct LowerRepeat : OpConversionPattern<RepeatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(RepeatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto index = [&](int64_t number) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, number);
    };
    auto loop =
        scf::ForOp::create(rewriter, loc, index(0),
                           index(int64_t(op.getTimes())), index(1),
                           adaptor.getInits());
    Block *body = loop.getBody();
    rewriter.setInsertionPointToStart(body);
    Value run = arith::IndexCastOp::create(
        rewriter, loc, rewriter.getI64Type(), loop.getInductionVar());
    SmallVector<Value> values{tensor::FromElementsOp::create(
        rewriter, loc, op.getBody().front().getArgument(0).getType(), run)};
    llvm::append_range(values, loop.getRegionIterArgs());
    rewriter.inlineBlockBefore(&op.getBody().front(), body, body->end(),
                               values);
    rewriter.replaceOp(op, loop.getResults());
    return success();
  }
};

struct LowerNext : OpConversionPattern<NextOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(NextOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, adaptor.getValues());
    return success();
  }
};

} // namespace

void addLoops(RewritePatternSet &patterns) {
  patterns.add<LowerRepeat, LowerNext>(patterns.getContext());
}

} // namespace aicf::linalg_bridge
