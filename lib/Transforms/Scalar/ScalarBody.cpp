//===- ScalarBody.cpp - bodies of scalar ops as aicf ops ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Scalar/ScalarBody.h"
#include "lib/Transforms/Scalar/Unifier.h"

#include "aicf/Dialect/AICF/AICF.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Support/DebugStringHelper.h"

#include <cmath>

using namespace mlir;
using namespace aicf::step;

namespace aicf::scalars {

/// Expressions are read by recursion, and some threads have 1 MiB of stack.
static constexpr unsigned kMostDepth = 500;

Value ScalarBody::translate(Value scalar) {
  if (auto found = made.find(scalar); found != made.end())
    return found->second; // null: it was tried in vain
  ++depth;
  Value tensor = compute(scalar); // which translates others
  --depth;
  return made[scalar] = tensor;
}

Value ScalarBody::filled(double number, Type element, Location loc) {
  // In the shape of an operand that is there, or a constant that is repeated.
  for (BlockArgument argument : body.getArguments())
    if (argument.getType() == element && std::isfinite(number) &&
        !element.isInteger(1) && reads(argument))
      if (Value like = translate(argument))
        if (Value filled = makeIfLegal<FillLikeOp>(
                builder, loc, like,
                builder.getNamedAttr("value", builder.getF64FloatAttr(number))))
          return filled;
  Attribute attr;
  if (isa<FloatType>(element))
    attr = builder.getFloatAttr(element, number);
  else
    attr = builder.getIntegerAttr(element, int64_t(number));
  Value one = ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(RankedTensorType::get({}, element), attr));
  if (shape.empty())
    return one;
  return BroadcastOp::create(builder, loc, one,
                             builder.getDenseI64ArrayAttr(shape));
}

Value ScalarBody::compute(Value scalar) {
  if (!toDType(scalar.getType()))
    return fail("a type that aicf does not have", scalar.getDefiningOp());
  if (std::optional<double> number = numberOf(scalar))
    return filled(*number, scalar.getType(), scalar.getLoc());
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    if (argument.getOwner() != &body)
      return fail("its body reads a scalar from outside");
    return operand(argument);
  }
  Operation *producer = scalar.getDefiningOp();
  if (producer->getBlock() != &body)
    return fail("its body reads a scalar from outside");
  if (depth > kMostDepth)
    return fail("an expression of more than " + Twine(kMostDepth) +
                    " ops that read one another",
                producer);
  if (Value tensor = byDefinition(scalar))
    return tensor;
  return byHand(producer);
}

Value ScalarBody::sum(Location loc, Value a, Value b) {
  return AddOp::create(builder, loc, a, b);
}

Value ScalarBody::byDefinition(Value scalar, bool takesNumbers) {
  // A condition is computed of another type, and where() has one as its first
  // operand.
  TypeRange types = scalar.getDefiningOp()->getOperandTypes();
  if (types.empty() || !toDType(types.back()))
    return {};
  auto &ofType = definitions[types.back()];
  if (!ofType)
    ofType = std::make_unique<Definitions>(types.back(), usesGradients);
  Location loc = scalar.getLoc();
  for (const Definition &definition : ofType->get()) {
    Unifier unifier(definition, takesNumbers);
    if (!unifier.run(scalar))
      continue;
    SmallVector<Value> operands;
    for (Value leaf : definition.leaves)
      operands.push_back(translate(unifier.leaves.lookup(leaf)));
    if (llvm::is_contained(operands, Value()))
      return {};
    if (definition.isSum && isa<FloatType>(scalar.getType()))
      return sum(loc, operands[0], operands[1]);
    SmallVector<double> numbers;
    for (std::optional<double> number : unifier.numbers)
      numbers.push_back(number.value_or(0));
    if (Value made = definition.build(builder, loc, operands, numbers))
      return made;
  }
  return {};
}

/// Casts.
Value ScalarBody::converted(Operation *producer) {
  auto narrow = dyn_cast<arith::TruncFOp>(producer);
  if (narrow &&
      narrow.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
          arith::RoundingMode::to_nearest_even)
    return fail("a rounding mode other than to nearest even", producer);
  Type from = producer->getOperand(0).getType(),
       to = producer->getResult(0).getType();
  // i1 is 0 or 1 in aicf: as a signed number true would be -1.
  bool isUnsigned = isa<arith::UIToFPOp, arith::ExtUIOp>(producer);
  if (isUnsigned != from.isInteger(1))
    return fail("'" + producer->getName().getStringRef() + "' of " +
                    debugString(from),
                producer);
  if (to.isInteger(1))
    return fail("'" + producer->getName().getStringRef() + "' to i1", producer);
  Value x = translate(producer->getOperand(0));
  return x ? CastOp::create(builder, producer->getLoc(), x, TypeAttr::get(to))
                 .getY()
           : Value();
}

/// Arithmetic with a finite number that no definition has.
Value ScalarBody::withNumber(Operation *producer) {
  Location loc = producer->getLoc();
  Value left = producer->getOperand(0), right = producer->getOperand(1);
  std::optional<double> a = numberOf(left), b = numberOf(right);
  if (!std::isfinite(a.value_or(0)) || !std::isfinite(b.value_or(0)))
    return {};
  // Null where the op does not take the number: other ops have it in a tensor.
  auto withField = [&](auto makeOp, Value x,
                       ArrayRef<std::pair<StringRef, double>> fields) {
    NamedAttrList attrs;
    for (auto [name, number] : fields)
      attrs.set(name, builder.getF64FloatAttr(number));
    return x ? makeOp(builder, loc, x, attrs.getAttrs()) : Value();
  };
  double number = b.value_or(a.value_or(0));
  auto clamped = [&](double min, double max) {
    return withField(makeIfLegal<ClampOp>, translate(b ? left : right),
                     {{"min", min}, {"max", max}});
  };
  if (isa<arith::MaximumFOp, arith::MaxSIOp>(producer))
    return clamped(number, INFINITY);
  if (isa<arith::MinimumFOp, arith::MinSIOp>(producer))
    return clamped(-INFINITY, number);
  if (isa<arith::SubFOp, arith::SubIOp>(producer)) {
    Value x = b ? translate(left)
                : withField(makeIfLegal<ScaleOp>, translate(right),
                            {{"factor", -1}});
    return withField(makeIfLegal<AddScalarOp>, x,
                     {{"value", b ? -number : number}});
  }
  return {};
}

Value ScalarBody::byHand(Operation *producer) {
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp,
          arith::FPToSIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
          producer))
    return converted(producer);
  bool isBinary = producer->getNumOperands() == 2;
  if (isBinary && (numberOf(producer->getOperand(0)) ||
                   numberOf(producer->getOperand(1))))
    if (Value tensor = withNumber(producer))
      return tensor;
  if (isa<math::FmaOp>(producer)) { // rounds twice here
    Location loc = producer->getLoc();
    auto in = llvm::map_to_vector(producer->getOperands(),
                                  [&](Value v) { return translate(v); });
    if (llvm::is_contained(in, Value()))
      return {};
    return sum(loc, MulOp::create(builder, loc, in[0], in[1]), in[2]);
  }
  if (Value tensor = byDefinition(producer->getResult(0), true))
    return tensor;
  return fail("aicf has no op for '" + producer->getName().getStringRef() + "'",
              producer);
}

} // namespace aicf::scalars
