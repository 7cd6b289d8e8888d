//===- LinalgToAICF.cpp - the bridge into the aicf dialect ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One op after the other, in order: operands are converted already. What aicf
// cannot say stays, with a remark; the step's own verification refuses it
// later.
//===----------------------------------------------------------------------===//

#include "lib/Conversion/LinalgToAICF/LinalgToAICF.h"
#include "lib/Transforms/Passes.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

namespace aicf {
#define GEN_PASS_DEF_CONVERTLINALGTOAICF
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf::step;
using namespace aicf::linalg_bridge;

/// linalg.softmax is not a structured op.
static void convertSoftmax(IRRewriter &rewriter, linalg::SoftmaxOp op) {
  auto type = cast<ShapedType>(op.getInput().getType());
  if (!isFloatTensor(type) ||
      int64_t(op.getDimension()) + 1 != type.getRank()) {
    op.emitRemark() << "stays in linalg: it is over dimension "
                    << op.getDimension() << " of " << op.getInput().getType()
                    << ", expected the last dimension, of f16, bf16, f32 or "
                       "f64";
    return;
  }
  rewriter.setInsertionPoint(op);
  rewriter.replaceOp(
      op, SoftmaxOp::create(rewriter, op.getLoc(), type, op.getInput())
              ->getResults());
}

namespace {
struct ConvertLinalgToAICF
    : aicf::impl::ConvertLinalgToAICFBase<ConvertLinalgToAICF> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    // The same value once: definitions are compared by values.
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<linalg::LinalgOp, linalg::SoftmaxOp>(op) || isViewOp(op) ||
          isTable(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
        convertSoftmax(rewriter, softmax);
      else if (isTable(op))
        convertTable(rewriter, op);
      else if (isViewOp(op))
        convertView(rewriter, op);
      else
        convertStructured(rewriter, cast<linalg::LinalgOp>(op));
    }
    ops.clear(); // what nobody reads any more, users first
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      ops.push_back(op);
      return isa<linalg::LinalgOp>(op) ? WalkResult::skip()
                                       : WalkResult::advance();
    });
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        rewriter.eraseOp(op);
      else if (isa<linalg::FillOp>(op))
        op->emitRemark()
            << "stays in linalg: aicf fills only a tensor of the shape of "
               "another (aicf.fill_like)";
  }
};
} // namespace
