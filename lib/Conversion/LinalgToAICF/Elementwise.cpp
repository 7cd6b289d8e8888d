//===- Elementwise.cpp - bodies of linalg.generic as aicf ops -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Conversion/LinalgToAICF/Elementwise.h"

#include "aicf/Dialect/AICF/AICF.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace aicf::step;

namespace aicf::linalg_bridge {

std::optional<double> constantOf(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return constantOf(fill.getInputs()[0]);
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto splat = dyn_cast<SplatElementsAttr>(attr))
    attr = splat.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  return std::nullopt;
}

Value expanded(OpBuilder &builder, Location loc, Value x,
               ArrayRef<int64_t> loops, ArrayRef<int64_t> shape) {
  if (loops.size() == shape.size())
    return x;
  // In its own dimensions, as far in front as the first of them, and 1
  // elsewhere.
  SmallVector<int64_t> kept;
  for (int64_t loop = loops.empty() ? int64_t(shape.size()) : loops.front();
       loop < int64_t(shape.size()); ++loop)
    kept.push_back(llvm::is_contained(loops, loop) ? shape[loop] : 1);
  x = builder.createOrFold<ReshapeOp>(loc, x,
                                      builder.getDenseI64ArrayAttr(kept));
  return BroadcastOp::create(builder, loc, x,
                             builder.getDenseI64ArrayAttr(shape));
}

/// The vector that `value` repeats over its rows, or null.
static Value biasIn(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast || cast<ShapedType>(broadcast.getX().getType()).getShape() !=
                        broadcast.getShape().take_back(1))
    return {};
  return broadcast.getX();
}

Value sumOf(OpBuilder &builder, Location loc, Value a, Value b) {
  for (auto [product, other] : {std::pair{a, b}, std::pair{b, a}}) {
    auto linear = product.getDefiningOp<LinearOp>();
    Value bias = biasIn(other);
    // Its users are the op that is being converted and the copy of it that is
    // read here; with another op there would be two products. (A body that
    // reads it twice still makes two.)
    if (linear && bias && !linear.getBias() && !linear.getY().hasNUsesOrMore(3))
      return LinearOp::create(builder, loc, linear.getX(), linear.getWeight(),
                              bias, linear.getTransWAttr());
  }
  return AddOp::create(builder, loc, a, b);
}

/// Whether `number` is `exact` but for a rounding to `type` of each, or to the
/// nine decimals that people write.
static bool isRounded(double number, double exact, Type type) {
  int bits = int(cast<FloatType>(type).getFPMantissaWidth());
  double bound = std::max(std::ldexp(1.0, 1 - bits), 1e-8);
  return std::abs(number - exact) <= bound * std::abs(exact);
}

/// Whether `value` is `pattern` for some values of its leaves.
static bool unify(Value pattern, Value value, DenseMap<Value, Value> &leaves) {
  if (isa<BlockArgument>(pattern)) {
    if (pattern.getType() != value.getType() || constantOf(value))
      return false;
    return leaves.try_emplace(pattern, value).first->second == value;
  }
  if (std::optional<double> number = constantOf(pattern)) {
    std::optional<double> other = constantOf(value);
    return other && isRounded(*other, *number, pattern.getType());
  }
  Operation *p = pattern.getDefiningOp(), *v = value.getDefiningOp();
  if (!v)
    return false;
  auto inOrder = [&](ValueRange operands) {
    DenseMap<Value, Value> trial = leaves;
    for (auto [a, b] : llvm::zip_equal(p->getOperands(), operands))
      if (!unify(a, b, trial))
        return false;
    leaves = std::move(trial);
    return true;
  };
  if (auto negate = dyn_cast<arith::NegFOp>(v)) // for 0 - x
    return isa<arith::SubFOp>(p) && constantOf(p->getOperand(0)) == 0.0 &&
           unify(p->getOperand(1), negate.getOperand(), leaves);
  bool isSwapped = false;
  if (auto compare = dyn_cast<arith::CmpFOp>(v)) {
    auto other = dyn_cast<arith::CmpFOp>(p);
    isSwapped = compare.getPredicate() == arith::CmpFPredicate::OGT;
    if (!other || other.getPredicate() != (isSwapped ? arith::CmpFPredicate::OLT
                                                     : compare.getPredicate()))
      return false;
  } else if (auto divide = dyn_cast<arith::DivFOp>(v);
             divide && isa<arith::MulFOp>(p)) { // x / c for x · 1/c
    std::optional<double> divisor = constantOf(divide.getRhs());
    for (unsigned i : {0u, 1u}) {
      std::optional<double> factor = constantOf(p->getOperand(i));
      if (divisor && factor &&
          isRounded(*divisor, 1 / *factor, pattern.getType()))
        return unify(p->getOperand(1 - i), divide.getLhs(), leaves);
    }
    return false;
  } else if (p->getName() != v->getName()) {
    return false;
  }
  if (!isSwapped && inOrder(v->getOperands()))
    return true;
  bool maySwap = isSwapped || p->hasTrait<OpTrait::IsCommutative>();
  return maySwap && v->getNumOperands() == 2 &&
         inOrder({v->getOperand(1), v->getOperand(0)});
}

Value BodyTranslator::translate(Value scalar) {
  if (Value found = known.lookup(scalar))
    return found;
  Value tensor = compute(scalar);
  if (tensor)
    known[scalar] = tensor;
  return tensor;
}

Value BodyTranslator::filled(double number, Type element) {
  if (!std::isfinite(number))
    return fail("a number that is not finite");
  // An operand that is there, or one that nobody needed yet.
  for (BlockArgument argument : op.getBody()->getArguments())
    if (argument.getType() == element &&
        (argument.getArgNumber() < op.getNumDpsInputs() ||
         !argument.use_empty()) &&
        !constantOf(op->getOperand(argument.getArgNumber())))
      if (Value like = translate(argument))
        return FillLikeOp::create(builder, op.getLoc(), like, APFloat(number));
  for (auto [scalar, tensor] : known)
    if (getElementTypeOrSelf(tensor) == element)
      return FillLikeOp::create(builder, op.getLoc(), tensor, APFloat(number));
  return fail("a constant alone");
}

Value BodyTranslator::compute(Value scalar) {
  if (std::optional<double> number = constantOf(scalar))
    return filled(*number, scalar.getType());
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    return argument.getOwner() == op.getBody() ? operand(argument)
                                               : fail("a scalar from outside");
  Operation *producer = scalar.getDefiningOp();
  if (producer->getBlock() != op.getBody())
    return fail("a scalar from outside");
  if (isa<FloatType>(scalar.getType()))
    if (Value tensor = byDefinition(scalar))
      return tensor;
  return byHand(producer);
}

Value BodyTranslator::operand(BlockArgument argument) {
  OpOperand &use = op->getOpOperand(argument.getArgNumber());
  if (!isa<RankedTensorType>(use.get().getType()))
    return fail("a scalar from outside");
  SmallVector<int64_t> loops;
  for (AffineExpr result : op.getMatchingIndexingMap(&use).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || llvm::is_contained(loops, int64_t(dim.getPosition())))
      return fail("an operand whose dimensions are not different loops");
    loops.push_back(dim.getPosition());
  }
  Value x = use.get();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, loops.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return loops[a] < loops[b]; });
  if (!llvm::is_sorted(loops))
    x = TransposeOp::create(builder, op.getLoc(), x,
                            builder.getDenseI64ArrayAttr(order));
  llvm::sort(loops);
  return expanded(builder, op.getLoc(), x, loops, shape);
}

Value BodyTranslator::byDefinition(Value scalar) {
  auto &ofType = definitions[scalar.getType()];
  if (!ofType)
    ofType = std::make_unique<Definitions>(cast<FloatType>(scalar.getType()));
  for (const Definition &definition : ofType->get()) {
    DenseMap<Value, Value> leaves;
    if (!unify(definition.root, scalar, leaves))
      continue;
    SmallVector<Value> operands;
    for (Value leaf : definition.leaves)
      operands.push_back(leaves.count(leaf) ? translate(leaves[leaf])
                                            : Value());
    if (llvm::is_contained(operands, Value()))
      return {};
    if (isa<arith::AddFOp>(scalar.getDefiningOp()) && definition.size == 1)
      return sumOf(builder, op.getLoc(), operands[0], operands[1]);
    return definition.build(builder, op.getLoc(), operands);
  }
  return {};
}

/// Numbers as fields; casts; a division that is not 1/x.
Value BodyTranslator::byHand(Operation *producer) {
  Location loc = op.getLoc();
  if (auto narrow = dyn_cast<arith::TruncFOp>(producer);
      narrow &&
      narrow.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
          arith::RoundingMode::to_nearest_even)
    return fail("another rounding than to nearest even");
  if (isa<arith::ExtFOp, arith::TruncFOp>(producer) &&
      !isFloatElement(producer->getResult(0).getType()))
    return fail("a type that aicf does not have");
  if (isa<arith::ExtFOp, arith::TruncFOp>(producer)) {
    Value x = translate(producer->getOperand(0));
    return x ? CastOp::create(builder, loc, x,
                              TypeAttr::get(producer->getResult(0).getType()))
                   .getY()
             : Value();
  }
  auto scaled = [&](Value x, double factor) -> Value {
    if (!std::isfinite(factor))
      return fail("a number that is not finite");
    return x ? ScaleOp::create(builder, loc, x, APFloat(factor)).getY()
             : Value();
  };
  if (isa<arith::NegFOp>(producer))
    return scaled(translate(producer->getOperand(0)), -1);
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(
          producer))
    return fail("no word for '" + producer->getName().getStringRef() + "'");
  Value left = producer->getOperand(0), right = producer->getOperand(1);
  std::optional<double> a = constantOf(left), b = constantOf(right);
  if (isa<arith::MulFOp>(producer) && (a || b))
    return scaled(translate(b ? left : right), b ? *b : *a);
  if (isa<arith::DivFOp>(producer) && b && *b != 0)
    return scaled(translate(left), 1 / *b);
  Value x = b ? translate(left) : Value(), y = translate(right);
  x = x ? x : translate(left);
  if (!x || !y)
    return {};
  if (isa<arith::AddFOp>(producer))
    return AddOp::create(builder, loc, x, y);
  if (isa<arith::SubFOp>(producer))
    return SubOp::create(builder, loc, x, y);
  Value inverse = ReciprocalOp::create(builder, loc, y);
  return a ? scaled(inverse, *a)
           : Value(MulOp::create(builder, loc, x, inverse));
}

} // namespace aicf::linalg_bridge
