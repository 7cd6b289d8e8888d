//===- Unifier.cpp - is an expression a definition? -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Scalar/Unifier.h"

#include "lib/Transforms/Scalar/Scalar.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace aicf::scalars {

std::optional<double> numberOf(Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto splat = dyn_cast<SplatElementsAttr>(attr))
    attr = splat.getSplatValue<Attribute>();
  if (auto exact = value.getDefiningOp()->getAttrOfType<FloatAttr>(step::kExactAttr))
    return exact.getValueAsDouble();
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  auto number = dyn_cast<IntegerAttr>(attr); // true is -1
  // A field is an f64, which has no other integers.
  if (number && std::abs(number.getInt()) <= int64_t(1) << 53)
    return double(number.getInt());
  return std::nullopt;
}

/// Whether `number` is `exact`, which `type` has; or it is but for a rounding to
/// `type` of each, or to the nine decimals that people write.
static bool isRounded(double number, double exact, Type type) {
  APFloat held(exact);
  bool isInexact = false;
  held.convert(cast<FloatType>(type).getFloatSemantics(),
               APFloat::rmNearestTiesToEven, &isInexact);
  if (!isInexact)
    return number == exact;
  int bits = int(cast<FloatType>(type).getFPMantissaWidth());
  double bound = std::max(std::ldexp(1.0, 1 - bits), 1e-8);
  return std::abs(number - exact) <= bound * std::abs(exact);
}

/// A mark stands for any one number.
bool Unifier::unifyConstant(double number, Value value) {
  std::optional<double> other = numberOf(value);
  if (!other)
    return false;
  const double *mark = llvm::find(definition.fields, number);
  if (mark == definition.fields.end())
    return isa<FloatType>(value.getType())
               ? isRounded(*other, number, value.getType())
               : *other == number;
  std::optional<double> &field = numbers[mark - definition.fields.begin()];
  if (!field)
    field = other;
  return field == other;
}

bool Unifier::inOrder(ValueRange pattern, ValueRange operands) {
  auto before = std::pair{leaves, numbers};
  for (auto [a, b] : llvm::zip_equal(pattern, operands))
    if (!unify(a, b)) {
      std::tie(leaves, numbers) = std::move(before);
      return false;
    }
  return true;
}

/// x / c for x · 1/c.
bool Unifier::unifyQuotient(Operation *product, arith::DivFOp quotient) {
  double divisor = numberOf(quotient.getRhs()).value_or(NAN); // NaN fits none
  for (unsigned i : {0u, 1u}) {
    double factor = numberOf(product->getOperand(i)).value_or(NAN);
    if (!llvm::is_contained(definition.fields, factor) &&
        isRounded(divisor, 1 / factor, quotient.getType()))
      return unify(product->getOperand(1 - i), quotient.getLhs());
  }
  return false;
}

/// The predicate with the operands exchanged if that is a definition's: those are
/// written with "less".
static std::pair<int64_t, bool> directionOf(Operation *compare) {
  if (auto floats = dyn_cast<arith::CmpFOp>(compare)) {
    arith::CmpFPredicate is = floats.getPredicate();
    if (is == arith::CmpFPredicate::OGT)
      return {int64_t(arith::CmpFPredicate::OLT), true};
    if (is == arith::CmpFPredicate::OGE)
      return {int64_t(arith::CmpFPredicate::OLE), true};
    return {int64_t(is), false};
  }
  arith::CmpIPredicate is = cast<arith::CmpIOp>(compare).getPredicate();
  if (is == arith::CmpIPredicate::sgt)
    return {int64_t(arith::CmpIPredicate::slt), true};
  if (is == arith::CmpIPredicate::sge)
    return {int64_t(arith::CmpIPredicate::sle), true};
  return {int64_t(is), false};
}

/// Ops of one name have operands of one type, but for conditions. Where a type
/// differs all the same, the definition's op refuses it.
bool Unifier::unify(Value pattern, Value value) {
  if (isa<BlockArgument>(pattern)) {
    if (!takesNumbers && numberOf(value))
      return false;
    return leaves.try_emplace(pattern, value).first->second == value;
  }
  if (std::optional<double> number = numberOf(pattern))
    return unifyConstant(*number, value);
  Operation *p = pattern.getDefiningOp(), *v = value.getDefiningOp();
  if (!v)
    return false;
  if (auto negate = dyn_cast<arith::NegFOp>(v)) // for 0 - x
    if (isa<arith::SubFOp>(p))
      return numberOf(p->getOperand(0)) == 0.0 &&
             unify(p->getOperand(1), negate.getOperand());
  if (isa<arith::DivFOp>(v) && isa<arith::MulFOp>(p))
    return unifyQuotient(p, cast<arith::DivFOp>(v));
  if (p->getName() != v->getName())
    return false;
  bool isSwapped = false;
  if (isa<arith::CmpFOp, arith::CmpIOp>(v)) {
    auto [is, swaps] = directionOf(v);
    if (is != directionOf(p).first)
      return false;
    isSwapped = swaps;
  }
  if (!isSwapped && inOrder(p->getOperands(), v->getOperands()))
    return true;
  bool maySwap = isSwapped || p->hasTrait<OpTrait::IsCommutative>();
  return maySwap && v->getNumOperands() == 2 &&
         inOrder(p->getOperands(), {v->getOperand(1), v->getOperand(0)});
}

} // namespace aicf::scalars
