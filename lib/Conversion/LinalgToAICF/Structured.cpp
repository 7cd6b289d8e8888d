//===- Structured.cpp - loops of linalg to aicf ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Named ops are taken as the generic ones that they stand for, so that there is
// one matcher.
//===----------------------------------------------------------------------===//

#include "lib/Conversion/LinalgToAICF/Contraction.h"
#include "lib/Conversion/LinalgToAICF/Elementwise.h"
#include "lib/Conversion/LinalgToAICF/LinalgToAICF.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

#include <cmath>

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::linalg_bridge;

namespace {

/// Loops that the dimensions of an operand follow; empty where they are not
/// loops alone.
SmallVector<int64_t> loopsOf(linalg::GenericOp op, OpOperand &use) {
  SmallVector<int64_t> loops;
  for (AffineExpr result : op.getMatchingIndexingMap(&use).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim)
      return {};
    loops.push_back(dim.getPosition());
  }
  return loops;
}

/// The extents of the loops; in a reduction 1 for those of the result that no
/// operand which the body reads follows: what is reduced is the same in each of
/// their turns.
SmallVector<int64_t> computedShape(linalg::GenericOp op) {
  SmallVector<int64_t> shape = op.getStaticLoopRanges();
  if (op.getNumReductionLoops() == 0)
    return shape;
  SmallVector<unsigned> unread;
  op.getParallelDims(unread);
  for (BlockArgument argument : op.getRegionInputArgs())
    if (!argument.use_empty())
      for (AffineExpr result :
           op.getMatchingIndexingMap(op.getMatchingOpOperand(argument))
               .getResults())
        llvm::erase_if(unread, [&](unsigned loop) {
          return result.isFunctionOfDim(loop);
        });
  for (unsigned loop : unread)
    shape[loop] = 1;
  return shape;
}

class Converter {
public:
  /// `usesGradients`: see ScalarBody.
  Converter(IRRewriter &rewriter, linalg::GenericOp op, bool usesGradients)
      : rewriter(rewriter), op(op), loc(op.getLoc()), shape(computedShape(op)),
        body(rewriter, op, shape, usesGradients) {}

  /// The op's result as a value of aicf ops, or null for `reason`.
  Value convert() {
    if (op.getNumResults() != 1)
      return fail("it has several results, expected one");
    Value yielded = op.getBody()->getTerminator()->getOperand(0);
    for (Value value : op->getOperands())
      if (!isPlainTensor(value.getType()) && !value.getType().isIntOrFloat())
        return fail("an operand of a type that aicf does not have");
    if (op.getNumReductionLoops() + op.getNumParallelLoops() !=
        op.getNumLoops())
      return fail("it has loops that are neither parallel nor reductions");
    if (op.getNumLoops() > aicf::kMaxRank)
      return fail("it has more than 8 loops");
    OpOperand &init = *op.getDpsInitOperand(0);
    SmallVector<unsigned> parallel;
    op.getParallelDims(parallel);
    isInOrder =
        op.getMatchingIndexingMap(&init).getNumResults() == parallel.size() &&
        llvm::equal(loopsOf(op, init), parallel);
    if (op.getNumReductionLoops() != 0)
      return convertReduction(yielded, init);
    return isInOrder ? body.translate(yielded) : failOutOfOrder();
  }

  std::string reason;
  const std::string &whyNot() const {
    return reason.empty() ? body.reason : reason;
  }

private:
  Value fail(StringRef why) {
    reason = why;
    return {};
  }
  Value failOutOfOrder() {
    return fail("a result whose dimensions are not its loops in order");
  }

  /// out + term, summed over the reduction loops; or an extremum.
  Value convertReduction(Value yielded, OpOperand &init) {
    if (Value found = extremum(yielded, init); found || !reason.empty())
      return found;
    auto sum = yielded.getDefiningOp<arith::AddFOp>();
    BlockArgument out = op.getMatchingBlockArgument(&init);
    if (!sum || !out.hasOneUse() ||
        (sum.getLhs() != out && sum.getRhs() != out))
      return fail("a reduction that is not a sum, a maximum or a minimum");
    Value term = sum.getLhs() == out ? sum.getRhs() : sum.getLhs();
    Value total = product(term, init);
    if (!total)
      total = isInOrder ? summed(body.translate(term)) : failOutOfOrder();
    if (!total)
      return {};
    std::optional<double> start = constantOf(init.get());
    if (!start)
      return sumOf(rewriter, loc, total, init.get());
    if (*start == 0)
      return total;
    if (!std::isfinite(*start))
      return fail("a number that is not finite");
    return AddOp::create(
        rewriter, loc, total,
        FillLikeOp::create(rewriter, loc, total, APFloat(*start)));
  }

  Value summed(Value tensor) {
    if (!tensor)
      return {};
    remarkSize();
    return repeated(ReduceSumOp::create(rewriter, loc, tensor, reducedAxes(),
                                        rewriter.getBoolAttr(false)));
  }

  DenseI64ArrayAttr reducedAxes() {
    SmallVector<unsigned> axes;
    op.getReductionDims(axes);
    return rewriter.getDenseI64ArrayAttr(llvm::to_vector_of<int64_t>(axes));
  }

  /// A tensor of the loops that are not reduced, of which some are 1 (see
  /// computedShape()), as the result.
  Value repeated(Value tensor) {
    return rewriter.createOrFold<BroadcastOp>(
        loc, tensor,
        rewriter.getDenseI64ArrayAttr(
            cast<ShapedType>(op.getResult(0).getType()).getShape()));
  }

  /// What is computed for each turn of all loops may be far more than is read.
  void remarkSize() {
    int64_t computed = llvm::product_of(shape), read = 0;
    for (BlockArgument argument : op.getRegionInputArgs())
      if (auto type = dyn_cast<ShapedType>(
              op.getMatchingOpOperand(argument)->get().getType());
          type && !argument.use_empty())
        read += type.getNumElements();
    if (read > 0 && computed / read >= 100)
      emitRemark(loc) << "computes " << computed << " elements from " << read
                      << " of its operands and reduces them: only a sum of "
                         "products over loops that both factors have becomes a "
                         "product of matrices";
  }

  /// The largest or smallest over the reduction loops; NaN where there is one.
  Value extremum(Value yielded, OpOperand &init) {
    Operation *better = yielded.getDefiningOp();
    BlockArgument out = op.getMatchingBlockArgument(&init);
    if (!isa_and_present<arith::MaximumFOp, arith::MinimumFOp>(better) ||
        !out.hasOneUse() || !llvm::is_contained(better->getOperands(), out))
      return {};
    bool isMax = isa<arith::MaximumFOp>(better);
    std::optional<double> start = constantOf(init.get());
    if (!start || !std::isinf(*start) || (*start < 0) != isMax)
      return fail("a reduction that does not start from infinity");
    if (!isInOrder)
      return failOutOfOrder();
    Value x = body.translate(better->getOperand(better->getOperand(0) == out));
    if (!x)
      return {};
    remarkSize();
    BoolAttr keepdim = rewriter.getBoolAttr(false);
    return repeated(
        isMax ? ReduceMaxOp::create(rewriter, loc, x, reducedAxes(), keepdim)
                    .getY()
              : ReduceMinOp::create(rewriter, loc, x, reducedAxes(), keepdim)
                    .getY());
  }

  /// A factor before it is cast to the type that is summed in.
  static Value narrow(Value factor) {
    auto cast = factor.getDefiningOp<arith::ExtFOp>();
    return cast ? cast.getIn() : factor;
  }
  /// An operand of the body, with its loops, or null.
  std::optional<Factor> factorOf(Value scalar) {
    auto argument = dyn_cast<BlockArgument>(narrow(scalar));
    if (!argument || argument.getOwner() != op.getBody())
      return std::nullopt;
    OpOperand &use = op->getOpOperand(argument.getArgNumber());
    SmallVector<int64_t> loops = loopsOf(op, use), once = loops;
    llvm::sort(once);
    if (loops.empty() || llvm::unique(once) != once.end() || op.isDpsInit(&use))
      return std::nullopt;
    return Factor{use.get(), loops};
  }

  /// Returns the product of two operands, summed as matrices are; null where it
  /// is not one.
  Value product(Value term, OpOperand &init) {
    auto times = term.getDefiningOp<arith::MulFOp>();
    if (!times)
      return {};
    std::optional<Factor> a = factorOf(times.getLhs()),
                          b = factorOf(times.getRhs());
    return a && b ? contract(rewriter, loc, *a, *b, loopsOf(op, init),
                             op.getStaticLoopRanges(), term.getType())
                  : Value();
  }

  IRRewriter &rewriter;
  linalg::GenericOp op;
  Location loc;
  SmallVector<int64_t> shape; ///< of what is computed before it is reduced
  BodyTranslator body;
  bool isInOrder =
      true; ///< the dimensions of the result are its loops in order
};

} // namespace

/// A copy of `op` as a generic one, whose body sees constants as such.
static linalg::GenericOp genericCopy(IRRewriter &rewriter,
                                     linalg::LinalgOp op) {
  auto copy = cast<linalg::LinalgOp>(rewriter.clone(*op.getOperation()));
  auto generic = dyn_cast<linalg::GenericOp>(copy.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> general =
        linalg::generalizeNamedOp(rewriter, copy);
    if (failed(general)) {
      rewriter.eraseOp(copy);
      return {};
    }
    generic = *general;
  }
  rewriter.setInsertionPoint(generic);
  for (OpOperand &use : generic->getOpOperands()) {
    BlockArgument argument = generic.getMatchingBlockArgument(&use);
    std::optional<double> number = constantOf(use.get());
    if (generic.isDpsInit(&use) && generic.getNumReductionLoops() != 0)
      continue; // what a sum starts from
    if (number && isa<FloatType>(argument.getType()))
      rewriter.replaceAllUsesWith(
          argument, arith::ConstantOp::create(
                        rewriter, op.getLoc(),
                        rewriter.getFloatAttr(argument.getType(), *number)));
  }
  return generic;
}

static bool hasMinimized(func::FuncOp func) {
  return func && llvm::any_of(llvm::seq(func.getNumResults()), [&](unsigned i) {
           return bool(func.getResultAttr(i, kMinimizeAttr));
         });
}

void linalg_bridge::convertStructured(IRRewriter &rewriter,
                                      linalg::LinalgOp op) {
  if (isa<linalg::FillOp>(op) || !op.hasPureTensorSemantics())
    return; // read by those that use them
  rewriter.setInsertionPoint(op);
  linalg::GenericOp generic = genericCopy(rewriter, op);
  if (!generic) {
    op.emitRemark() << "stays in linalg: linalg.generic cannot express it";
    return;
  }
  // An op of a backward pass has no derivative: where there is a loss to derive, it is
  // the last resort, for what does not lead to the loss.
  bool isToDerive = hasMinimized(op->getParentOfType<func::FuncOp>());
  Converter converter(rewriter, generic, /*usesGradients=*/!isToDerive);
  Value value = converter.convert();
  if (!value && isToDerive)
    value = Converter(rewriter, generic, /*usesGradients=*/true).convert();
  if (value && value.getType() == op->getResult(0).getType())
    rewriter.replaceAllUsesWith(op->getResult(0), value);
  else if (value)
    op.emitRemark() << "stays in linalg: its body gives " << value.getType()
                    << ", expected " << op->getResult(0).getType();
  else
    op.emitRemark() << "stays in linalg: " << converter.whyNot();
  rewriter.eraseOp(generic);
}
