//===- Scalar.h - arithmetic on SSA values, as one writes it ----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// `a * b + 1` on Scalars adds arith and math ops where the builder stands.
// Operands have one type, a number takes the other operand's. Comparisons
// but != are false for NaN. Integers are signed, for `shr` they are not. The
// functions named as in kernels/pointwise/Scalars.h are what the definitions of
// pointwise records are made of.
//===----------------------------------------------------------------------===//
#ifndef AICF_TRANSFORMS_SCALAR_SCALAR_H
#define AICF_TRANSFORMS_SCALAR_SCALAR_H

#include "aicf/Dialect/AICF/AICF.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

#include <cmath>

namespace aicf::scalars {

class Scalar {
public:
  Scalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value)
      : builder(&builder), loc(loc), value(value) {}

  mlir::Value get() const { return value; }
  mlir::Type type() const { return value.getType(); }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(type()); }

  /// A number of `type`, by default of this one's.
  Scalar constant(double number) const { return constantOf(type(), number); }
  Scalar integer(int64_t number) const {
    return with(mlir::arith::ConstantOp::create(
        *builder, loc, builder->getIntegerAttr(type(), number)));
  }
  /// Makes a number of `type`; one of 16 bits also says what it was (kExactAttr).
  Scalar constantOf(mlir::Type type, double number) const {
    if (!llvm::isa<mlir::FloatType>(type))
      return with(mlir::arith::ConstantOp::create(*builder, loc,
                                                  integerAttr(type, number)));
    mlir::FloatAttr rounded = builder->getFloatAttr(type, number);
    auto constant = mlir::arith::ConstantOp::create(*builder, loc, rounded);
    if (type.getIntOrFloatBitWidth() == 16 &&
        rounded.getValueAsDouble() != number)
      constant->setAttr(step::kExactAttr, builder->getF64FloatAttr(number));
    return with(constant);
  }
  /// Converted as aicf.cast says: to a float rounded to nearest even, to an
  /// integer toward zero and into its range, to i1 whether it is not zero.
  Scalar to(mlir::Type type) const;

  Scalar operator+(Scalar other) const {
    return isFloat() ? make<mlir::arith::AddFOp>(other)
                     : make<mlir::arith::AddIOp>(other);
  }
  Scalar operator-(Scalar other) const {
    return isFloat() ? make<mlir::arith::SubFOp>(other)
                     : make<mlir::arith::SubIOp>(other);
  }
  Scalar operator*(Scalar other) const {
    return isFloat() ? make<mlir::arith::MulFOp>(other)
                     : make<mlir::arith::MulIOp>(other);
  }
  Scalar operator/(Scalar other) const {
    return isFloat() ? make<mlir::arith::DivFOp>(other)
                     : make<mlir::arith::DivSIOp>(other);
  }
  Scalar operator%(Scalar other) const {
    return make<mlir::arith::RemSIOp>(other);
  }
  Scalar operator&(Scalar other) const {
    return make<mlir::arith::AndIOp>(other);
  }
  Scalar operator|(Scalar other) const {
    return make<mlir::arith::OrIOp>(other);
  }
  Scalar operator^(Scalar other) const {
    return make<mlir::arith::XOrIOp>(other);
  }
  Scalar shr(int64_t bits) const {
    return make<mlir::arith::ShRUIOp>(integer(bits));
  }
  Scalar shl(int64_t bits) const {
    return make<mlir::arith::ShLIOp>(integer(bits));
  }

  Scalar operator<(Scalar other) const {
    return compare(other, mlir::arith::CmpFPredicate::OLT,
                   mlir::arith::CmpIPredicate::slt);
  }
  Scalar operator<=(Scalar other) const {
    return compare(other, mlir::arith::CmpFPredicate::OLE,
                   mlir::arith::CmpIPredicate::sle);
  }
  Scalar operator>(Scalar other) const { return other < *this; }
  Scalar operator==(Scalar other) const {
    return compare(other, mlir::arith::CmpFPredicate::OEQ,
                   mlir::arith::CmpIPredicate::eq);
  }
  /// True for NaN too.
  Scalar operator!=(Scalar other) const {
    return compare(other, mlir::arith::CmpFPredicate::UNE,
                   mlir::arith::CmpIPredicate::ne);
  }
  Scalar operator<(double other) const { return *this < constant(other); }
  Scalar operator>(double other) const { return *this > constant(other); }
  Scalar operator+(double other) const { return *this + constant(other); }
  Scalar operator-(double other) const { return *this - constant(other); }
  Scalar operator*(double other) const { return *this * constant(other); }
  Scalar operator/(double other) const { return *this / constant(other); }

  template <typename Op> Scalar make() const {
    return with(Op::create(*builder, loc, value));
  }
  template <typename Op> Scalar make(Scalar other) const {
    return with(Op::create(*builder, loc, value, other.value));
  }
  /// Where this is true `a`, else `b`; both are computed.
  Scalar pick(Scalar a, Scalar b) const {
    return with(
        mlir::arith::SelectOp::create(*builder, loc, value, a.value, b.value));
  }
  Scalar with(mlir::Value other) const { return {*builder, loc, other}; }

private:
  /// What the type cannot hold is the nearest number that it can.
  mlir::IntegerAttr integerAttr(mlir::Type type, double number) const {
    unsigned shift = 64 - std::max(type.getIntOrFloatBitWidth(), 2u);
    double bound = std::ldexp(1.0, int(63 - shift));
    return builder->getIntegerAttr(type, number < -bound ? INT64_MIN >> shift
                                         : number >= bound
                                             ? INT64_MAX >> shift
                                             : int64_t(number));
  }
  Scalar saturated(mlir::Type to) const;
  Scalar compare(Scalar other, mlir::arith::CmpFPredicate floats,
                 mlir::arith::CmpIPredicate integers) const {
    if (isFloat())
      return with(mlir::arith::CmpFOp::create(*builder, loc, floats, value,
                                              other.value));
    return with(mlir::arith::CmpIOp::create(*builder, loc, integers, value,
                                            other.value));
  }

  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Value value;
};

/// Converts a float: what `to` cannot hold is the nearest number that it can, NaN 0.
inline Scalar Scalar::saturated(mlir::Type to) const {
  unsigned bits = to.getIntOrFloatBitWidth() - 1;
  double bound = std::ldexp(1.0, int(bits));
  // What is out of range is not converted: that would be poison.
  Scalar isLow = *this < -bound, isHigh = (*this < bound) ^ (*this < bound).integer(1);
  Scalar inside = (isLow | isHigh).pick(constant(0), *this);
  Scalar converted =
      with(mlir::arith::FPToSIOp::create(*builder, loc, to, inside.get()));
  Scalar lowest = constantOf(to, 0).integer(INT64_MIN >> (63 - bits));
  Scalar highest = constantOf(to, 0).integer(INT64_MAX >> (63 - bits));
  Scalar ofNumber = isLow.pick(lowest, isHigh.pick(highest, converted));
  return (*this != *this).pick(constantOf(to, 0), ofNumber);
}

inline Scalar operator+(double a, Scalar b) { return b.constant(a) + b; }
inline Scalar operator*(double a, Scalar b) { return b.constant(a) * b; }
inline Scalar operator-(double a, Scalar b) { return b.constant(a) - b; }
inline Scalar operator/(double a, Scalar b) { return b.constant(a) / b; }

inline Scalar Scalar::to(mlir::Type to) const {
  unsigned from = type().getIntOrFloatBitWidth(),
           width = to.getIntOrFloatBitWidth();
  if (to == type())
    return *this;
  if (to.isInteger(1))
    return *this != constant(0);
  if (type().isInteger(1))
    return pick(constantOf(to, 1), constantOf(to, 0));
  if (isFloat() && !llvm::isa<mlir::FloatType>(to))
    return saturated(to);
  if (!isFloat() && llvm::isa<mlir::FloatType>(to))
    return with(mlir::arith::SIToFPOp::create(*builder, loc, to, value));
  if (!isFloat())
    return width > from
               ? with(mlir::arith::ExtSIOp::create(*builder, loc, to, value))
               : with(mlir::arith::TruncIOp::create(*builder, loc, to, value));
  if (width > from)
    return with(mlir::arith::ExtFOp::create(*builder, loc, to, value));
  if (width < from)
    return with(mlir::arith::TruncFOp::create(*builder, loc, to, value));
  // f16 and bf16: each is exact in f32.
  return this->to(builder->getF32Type()).to(to);
}

// The opcodes of definitions.

inline Scalar same(Scalar x) { return x; }
inline Scalar add(Scalar a, Scalar b) { return a + b; }
inline Scalar sub(Scalar a, Scalar b) { return a - b; }
inline Scalar mul(Scalar a, Scalar b) { return a * b; }
inline Scalar div(Scalar a, Scalar b) { return a / b; }
inline Scalar less(Scalar a, Scalar b) { return a < b; }
inline Scalar greater(Scalar a, Scalar b) { return a > b; }
inline Scalar pick(Scalar condition, Scalar a, Scalar b) {
  return condition.pick(a, b);
}
inline Scalar lessEqual(Scalar a, Scalar b) { return a <= b; }
inline Scalar greaterEqual(Scalar a, Scalar b) { return b <= a; }
inline Scalar equal(Scalar a, Scalar b) { return a == b; }
inline Scalar notEqual(Scalar a, Scalar b) { return a != b; }
inline Scalar logicalAnd(Scalar a, Scalar b) { return a & b; }
inline Scalar logicalOr(Scalar a, Scalar b) { return a | b; }
inline Scalar logicalXor(Scalar a, Scalar b) { return a ^ b; }
inline Scalar logicalNot(Scalar x) { return x ^ x.integer(1); }
inline Scalar bitAnd(Scalar a, Scalar b) { return a & b; }
inline Scalar bitOr(Scalar a, Scalar b) { return a | b; }
inline Scalar bitXor(Scalar a, Scalar b) { return a ^ b; }
/// `shifted` by a number of places below the width, or `otherwise`.
template <typename Shift>
inline Scalar shifted(Scalar a, Scalar places, Scalar otherwise) {
  Scalar inside =
      places & places.integer(a.type().getIntOrFloatBitWidth() - 1);
  return (places == inside).pick(a.make<Shift>(inside), otherwise);
}
inline Scalar shiftLeft(Scalar a, Scalar places) {
  return shifted<mlir::arith::ShLIOp>(a, places, a.constant(0));
}
inline Scalar shiftRightLogical(Scalar a, Scalar places) {
  return shifted<mlir::arith::ShRUIOp>(a, places, a.constant(0));
}
inline Scalar shiftRight(Scalar a, Scalar places) {
  return shifted<mlir::arith::ShRSIOp>(
      a, places,
      a.make<mlir::arith::ShRSIOp>(
          a.integer(a.type().getIntOrFloatBitWidth() - 1)));
}
inline Scalar neg(Scalar x) {
  return x.isFloat() ? x.make<mlir::arith::NegFOp>() : x.constant(0) - x;
}
inline Scalar exp(Scalar x) { return x.make<mlir::math::ExpOp>(); }
inline Scalar sin(Scalar x) { return x.make<mlir::math::SinOp>(); }
inline Scalar floor(Scalar x) { return x.make<mlir::math::FloorOp>(); }
inline Scalar ceil(Scalar x) { return x.make<mlir::math::CeilOp>(); }
inline Scalar round(Scalar x) { return x.make<mlir::math::RoundEvenOp>(); }
inline Scalar pow(Scalar x, Scalar y) { return x.make<mlir::math::PowFOp>(y); }
inline Scalar log2(Scalar x) { return x.make<mlir::math::Log2Op>(); }
inline Scalar log10(Scalar x) { return x.make<mlir::math::Log10Op>(); }
inline Scalar exp2(Scalar x) { return x.make<mlir::math::Exp2Op>(); }
inline Scalar fmod(Scalar a, Scalar b) {
  return a.make<mlir::arith::RemFOp>(b);
}
inline Scalar atan2(Scalar y, Scalar x) {
  return y.make<mlir::math::Atan2Op>(x);
}
inline Scalar erf(Scalar x) { return x.make<mlir::math::ErfOp>(); }
inline Scalar erfc(Scalar x) { return x.make<mlir::math::ErfcOp>(); }
inline Scalar tanh(Scalar x) { return x.make<mlir::math::TanhOp>(); }

// What the other ops need beside them.

inline Scalar log(Scalar x) { return x.make<mlir::math::LogOp>(); }
inline Scalar log1p(Scalar x) { return x.make<mlir::math::Log1pOp>(); }
inline Scalar expm1(Scalar x) { return x.make<mlir::math::ExpM1Op>(); }
inline Scalar pow(Scalar x, double y) {
  return x.make<mlir::math::PowFOp>(x.constant(y));
}
inline Scalar pow(double x, Scalar y) {
  return y.constant(x).make<mlir::math::PowFOp>(y);
}
inline Scalar cos(Scalar x) { return x.make<mlir::math::CosOp>(); }
inline Scalar sqrt(Scalar x) { return x.make<mlir::math::SqrtOp>(); }
inline Scalar abs(Scalar x) {
  return x.isFloat() ? x.make<mlir::math::AbsFOp>()
                     : x.make<mlir::math::AbsIOp>();
}
/// NaN where one is.
inline Scalar maximum(Scalar a, Scalar b) {
  return a.isFloat() ? a.make<mlir::arith::MaximumFOp>(b)
                     : a.make<mlir::arith::MaxSIOp>(b);
}
inline Scalar minimum(Scalar a, Scalar b) {
  return a.isFloat() ? a.make<mlir::arith::MinimumFOp>(b)
                     : a.make<mlir::arith::MinSIOp>(b);
}
/// -1, 0 or 1; NaN's is NaN.
inline Scalar sign(Scalar x) {
  Scalar ofNumber =
      (x > 0).pick(x.constant(1), (x < 0).pick(x.constant(-1), x.constant(0)));
  return (x != x).pick(x, ofNumber);
}

} // namespace aicf::scalars

#endif // AICF_TRANSFORMS_SCALAR_SCALAR_H
