//===- Structured.cpp - loops of linalg to aicf ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Named ops are taken as the generic ones that they stand for, so that there is
// one matcher.
//===----------------------------------------------------------------------===//

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

class Converter {
public:
  /// `usesGradients`: see ScalarBody.
  Converter(IRRewriter &rewriter, linalg::GenericOp op, bool usesGradients)
      : rewriter(rewriter), op(op), loc(op.getLoc()),
        shape(op.getStaticLoopRanges()), body(rewriter, op, shape, usesGradients) {}

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
    if (op.getMatchingIndexingMap(&init).getNumResults() != parallel.size() ||
        !llvm::equal(loopsOf(op, init), parallel))
      return fail("a result whose dimensions are not its loops in order");
    if (op.getNumReductionLoops() != 0)
      return convertReduction(yielded, init);
    return body.translate(yielded);
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
    if (!total && reason.empty())
      total = summed(body.translate(term));
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
    return ReduceSumOp::create(rewriter, loc, tensor, reducedAxes(),
                               rewriter.getBoolAttr(false));
  }

  DenseI64ArrayAttr reducedAxes() {
    SmallVector<unsigned> axes;
    op.getReductionDims(axes);
    return rewriter.getDenseI64ArrayAttr(llvm::to_vector_of<int64_t>(axes));
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
    Value x = body.translate(better->getOperand(better->getOperand(0) == out));
    if (!x)
      return {};
    BoolAttr keepdim = rewriter.getBoolAttr(false);
    return isMax ? ReduceMaxOp::create(rewriter, loc, x, reducedAxes(), keepdim)
                       .getY()
                 : ReduceMinOp::create(rewriter, loc, x, reducedAxes(), keepdim)
                       .getY();
  }

  /// A factor before it is cast to the type that is summed in.
  static Value narrow(Value factor) {
    auto cast = factor.getDefiningOp<arith::ExtFOp>();
    return cast ? cast.getIn() : factor;
  }
  /// Products of 16-bit numbers are exact in f32.
  Value wide(Value tensor) {
    Type element = getElementTypeOrSelf(op.getResult(0).getType());
    if (getElementTypeOrSelf(tensor.getType()) == element)
      return tensor;
    return CastOp::create(rewriter, loc, tensor, TypeAttr::get(element));
  }

  /// Returns the product of two operands over one reduction loop; null where it
  /// is not one, with a reason where its form is not ours.
  Value product(Value term, OpOperand &init) {
    auto times = term.getDefiningOp<arith::MulFOp>();
    if (!times || op.getNumReductionLoops() != 1 || op.getNumDpsInputs() != 2)
      return {};
    Value left = narrow(times.getLhs()), right = narrow(times.getRhs());
    Value first = op.getMatchingBlockArgument(op.getDpsInputOperand(0)),
          second = op.getMatchingBlockArgument(op.getDpsInputOperand(1));
    if (!(left == first && right == second) &&
        !(left == second && right == first))
      return {};
    SmallVector<int64_t> out = loopsOf(op, init);
    if (Value batched = batchedProduct(out))
      return batched;
    for (unsigned i : {0u, 1u}) {
      OpOperand *a = op.getDpsInputOperand(i),
                *b = op.getDpsInputOperand(1 - i);
      std::optional<bool> transA = isTransposed(loopsOf(op, *a), out, true);
      std::optional<bool> transB = isTransposed(loopsOf(op, *b), out, false);
      if (transA && transB)
        return makeProduct(a->get(), *transA, b->get(), *transB);
    }
    bool isBroadcast =
        llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *use) {
          return int64_t(loopsOf(op, *use).size()) == op.getNumLoops();
        });
    return isBroadcast ? Value()
                       : fail("a product that is not of two matrices");
  }

  /// Returns a product matrix by matrix, where the dimensions in front are
  /// those of both factors and of the result, or null.
  Value batchedProduct(ArrayRef<int64_t> out) {
    size_t batch = out.size() < 3 ? 0 : out.size() - 2;
    if (batch == 0 || !llvm::equal(out.take_front(batch),
                                   llvm::seq<int64_t>(0, int64_t(batch))))
      return {};
    for (unsigned i : {0u, 1u}) {
      OpOperand *a = op.getDpsInputOperand(i),
                *b = op.getDpsInputOperand(1 - i);
      SmallVector<int64_t> loopsA = loopsOf(op, *a), loopsB = loopsOf(op, *b);
      if (loopsA.size() != out.size() || loopsB.size() != out.size() ||
          !llvm::equal(ArrayRef(loopsA).take_front(batch),
                       out.take_front(batch)) ||
          !llvm::equal(ArrayRef(loopsB).take_front(batch),
                       out.take_front(batch)))
        return {};
      std::optional<bool> transA = isTransposed(
          ArrayRef(loopsA).drop_front(batch), out.drop_front(batch), true);
      std::optional<bool> transB = isTransposed(
          ArrayRef(loopsB).drop_front(batch), out.drop_front(batch), false);
      if (transA && transB)
        return MatmulOp::create(rewriter, loc, wide(a->get()), wide(b->get()),
                                rewriter.getBoolAttr(*transA),
                                rewriter.getBoolAttr(*transB));
    }
    return {};
  }

  /// Whether a factor lies the other way round: a is [rows..., k], b [k, n].
  std::optional<bool> isTransposed(ArrayRef<int64_t> loops,
                                   ArrayRef<int64_t> out, bool isLeft) {
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    int64_t k = reduced[0];
    if (out.size() < 2 || loops.size() < 2)
      return std::nullopt;
    SmallVector<int64_t> others(isLeft ? out.drop_back() : out.take_back(1));
    SmallVector<int64_t> behind = others, before = {k};
    behind.push_back(k);
    before.append(others);
    if (llvm::equal(loops, behind))
      return !isLeft;
    if (llvm::equal(loops, before) && others.size() == 1)
      return isLeft;
    return std::nullopt;
  }

  Value makeProduct(Value a, bool transA, Value b, bool transB) {
    for (auto [factor, flag] : {std::pair{&a, &transA}, {&b, &transB}}) {
      auto transpose = factor->getDefiningOp<TransposeOp>();
      if (!transpose ||
          !llvm::equal(transpose.getPermutation(), ArrayRef<int64_t>{1, 0}))
        continue;
      *factor = transpose.getX();
      *flag = !*flag;
    }
    a = wide(a);
    b = wide(b);
    if (!transA && transB)
      return LinearOp::create(rewriter, loc, a, b, /*bias=*/Value(),
                              rewriter.getBoolAttr(true));
    return MatmulOp::create(rewriter, loc, a, b, rewriter.getBoolAttr(transA),
                            rewriter.getBoolAttr(transB));
  }

  IRRewriter &rewriter;
  linalg::GenericOp op;
  Location loc;
  SmallVector<int64_t> shape;
  BodyTranslator body;
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
