//===- Family.td - elementary functions and arithmetic ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// These primitives compute in f32 for 16-bit operands. Numbers in expressions are
// fields: `x + 1` is add_scalar, and `x * 2` is the older scale.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_MATH_FAMILY_TD
#define AICF_KERNELS_MATH_FAMILY_TD

include "kernels/pointwise/Pointwise.td"

//===----------------------------------------------------------------------===//
// Functions of one operand, with derivatives
//===----------------------------------------------------------------------===//

def ExpPrimitive : PointwiseFunction<"exp", 70, "math", (expf $x)> {
  let summary = "y = exp(x)";
  let text = [{
    -∞ gives 0. A result that overflows is ∞. NaN stays NaN.
  }];
  let precision = Wide;
}
def ExpBwdPrimitive : PointwiseDerivative<ExpPrimitive, 71, "y",
    (mulf $dy, $y)> {
  let summary = "dx = dy · y, where y = exp(x)";
}
defm AICF_Exp : PointwiseOps<ExpPrimitive, ExpBwdPrimitive,
    "return v;">;

def Expm1Primitive : PointwiseFunction<"expm1", 72, "math", (expm1f $x)> {
  let summary = "y = exp(x) - 1, accurate for small x";
  let text = [{
    ±0 stays ±0, and -∞ gives -1. A result that overflows is ∞. NaN stays NaN.
  }];
  let precision = Wide;
  let keepsZeros = ZerosKeptEverywhere;
}
def Expm1BwdPrimitive : PointwiseDerivative<Expm1Primitive, 73, "y",
    (mulf $dy, (addf $y, 1))> {
  let summary = "dx = dy · (y + 1), where y = exp(x) - 1";
}
defm AICF_Expm1 : PointwiseOps<Expm1Primitive, Expm1BwdPrimitive,
    "return v;">;

def LogPrimitive : PointwiseFunction<"log", 74, "math", (logf $x)> {
  let summary = "y = ln(x)";
  let text = [{
    ±0 gives -∞, and numbers below 0 give NaN. ∞ stays ∞, and NaN stays NaN.
  }];
  let precision = Wide;
}
def LogBwdPrimitive : PointwiseDerivative<LogPrimitive, 75, "x",
    (divf $dy, $x)> {
  let summary = "dx = dy / x";
  let keepsZeros = ZerosKeptNo;
}
defm AICF_Log : PointwiseOps<LogPrimitive, LogBwdPrimitive,
    "return NegOp::create(b, loc, LogBwdOp::create(b, loc, LogBwdOp::create(b, loc, v, s), s));">;

def Log1pPrimitive : PointwiseFunction<"log1p", 76, "math", (log1pf $x)> {
  let summary = "y = ln(1 + x), accurate for small x";
  let text = [{
    ±0 stays ±0. -1 gives -∞, and numbers below -1 give NaN. ∞ stays ∞, and NaN stays
    NaN.
  }];
  let precision = Wide;
  let keepsZeros = ZerosKeptEverywhere;
}
def Log1pBwdPrimitive : PointwiseDerivative<Log1pPrimitive, 77, "x",
    (divf $dy, (addf 1, $x))> {
  let summary = "dx = dy / (1 + x)";
}
defm AICF_Log1p : PointwiseOps<Log1pPrimitive, Log1pBwdPrimitive,
    "return NegOp::create(b, loc, Log1pBwdOp::create(b, loc, Log1pBwdOp::create(b, loc, v, s), s));">;

def SqrtPrimitive : PointwiseFunction<"sqrt", 78, "math", (sqrtf $x)> {
  let summary = "y = √x";
  let text = [{
    ±0 stays ±0, and the derivative there is infinite. Numbers below 0 give NaN.
  }];
  let precision = Wide;
  let keepsZeros = ZerosKeptEverywhere;
}
def SqrtBwdPrimitive : PointwiseDerivative<SqrtPrimitive, 79, "y",
    (divf (mulf "0.5", $dy), $y)> {
  let summary = "dx = dy / (2y), where y = √x";
  let keepsZeros = ZerosKeptNo;
}
defm AICF_Sqrt : PointwiseOps<SqrtPrimitive, SqrtBwdPrimitive,
    "return NegOp::create(b, loc, DivOp::create(b, loc, SqrtBwdOp::create(b, loc, v, s), s));">;

def RsqrtPrimitive : PointwiseFunction<"rsqrt", 80, "math", (divf 1, (sqrtf $x))> {
  let summary = "y = 1/√x";
  let text = [{
    ±0 gives ±∞, ∞ gives 0, and numbers below 0 give NaN.
  }];
  let precision = Wide;
}
def RsqrtBwdPrimitive : PointwiseDerivative<RsqrtPrimitive, 81, "y",
    // Multiplies by one y at a time, because y³ alone may overflow.
    (mulf (mulf (mulf (mulf "-0.5", $dy), $y), $y), $y)> {
  let summary = "dx = -dy · y³/2, where y = 1/√x";
}
defm AICF_Rsqrt : PointwiseOps<RsqrtPrimitive, RsqrtBwdPrimitive,
    "return scaled(b, times(b, times(b, v, s), s), -1.5);">;

def SquarePrimitive : PointwiseFunction<"square", 82, "math", (mulf $x, $x)> {
  let summary = "y = x²";
  let text = [{
    ±∞ gives ∞, and NaN stays NaN.
  }];
  let precision = Wide;
  let keepsZeros = ZerosKeptEverywhere;
}
def SquareBwdPrimitive : PointwiseDerivative<SquarePrimitive, 83, "x",
    (mulf (mulf 2, $x), $dy)> {
  let summary = "dx = 2x · dy";
}
defm AICF_Square : PointwiseOps<SquarePrimitive, SquareBwdPrimitive,
    "return scaled(b, v, 2);">;

def ErfPrimitive : PointwiseFunction<"erf", 162, "math", (erff $x)> {
  let summary = "y = erf(x), the error function 2/√π ∫₀ˣ exp(-t²) dt";
  let text = [{
    ±0 stays ±0, and ±∞ gives ±1. NaN stays NaN.
  }];
  let precision = Wide;
  let keepsZeros = ZerosKeptEverywhere;
}
def ErfBwdPrimitive : PointwiseDerivative<ErfPrimitive, 163, "x",
    (mulf $dy, (mulf "1.1283791670955126", (expf (negf (mulf $x, $x)))))> {
  let summary = "dx = dy · 2/√π · exp(-x²)";
}
defm AICF_Erf : PointwiseOps<ErfPrimitive, ErfBwdPrimitive,
    "return scaled(b, times(b, ErfBwdOp::create(b, loc, v, s), s), -2);">;

def ErfcPrimitive : PointwiseFunction<"erfc", 164, "math", (erfcf $x)> {
  let summary = "y = 1 - erf(x), accurate for large x";
  let text = [{
    ±0 gives 1, ∞ gives 0, and -∞ gives 2. NaN stays NaN.
  }];
  let precision = Wide;
}
def ErfcBwdPrimitive : PointwiseDerivative<ErfcPrimitive, 165, "x",
    (mulf $dy, (mulf "-1.1283791670955126", (expf (negf (mulf $x, $x)))))> {
  let summary = "dx = -dy · 2/√π · exp(-x²)";
}
defm AICF_Erfc : PointwiseOps<ErfcPrimitive, ErfcBwdPrimitive,
    "return scaled(b, times(b, ErfcBwdOp::create(b, loc, v, s), s), -2);">;

def Log2Primitive : PointwiseFunction<"log2", 166, "math", (log2f $x)> {
  let summary = "y = log2(x), exact for powers of 2";
  let text = [{
    ±0 gives -∞, and numbers below 0 give NaN. ∞ stays ∞, and NaN stays NaN.
  }];
  let precision = Wide;
}
def Log2BwdPrimitive : PointwiseDerivative<Log2Primitive, 167, "x",
    (divf $dy, (mulf $x, "0.6931471805599453"))> {
  let summary = "dx = dy / (x · ln 2)";
  let keepsZeros = ZerosKeptNo;
}
defm AICF_Log2 : PointwiseOps<Log2Primitive, Log2BwdPrimitive,
    "return NegOp::create(b, loc, LogBwdOp::create(b, loc, Log2BwdOp::create(b, loc, v, s), s));">;

def Log10Primitive : PointwiseFunction<"log10", 168, "math", (log10f $x)> {
  let summary = "y = log10(x)";
  let text = [{
    ±0 gives -∞, and numbers below 0 give NaN. ∞ stays ∞, and NaN stays NaN.
  }];
  let precision = Wide;
}
def Log10BwdPrimitive : PointwiseDerivative<Log10Primitive, 169, "x",
    (divf $dy, (mulf $x, "2.302585092994046"))> {
  let summary = "dx = dy / (x · ln 10)";
  let keepsZeros = ZerosKeptNo;
}
defm AICF_Log10 : PointwiseOps<Log10Primitive, Log10BwdPrimitive,
    "return NegOp::create(b, loc, LogBwdOp::create(b, loc, Log10BwdOp::create(b, loc, v, s), s));">;

def Exp2Primitive : PointwiseFunction<"exp2", 170, "math", (exp2f $x)> {
  let summary = "y = 2^x, exact for integers";
  let text = [{
    -∞ gives 0. A result that overflows is ∞. NaN stays NaN.
  }];
  let precision = Wide;
}
def Exp2BwdPrimitive : PointwiseDerivative<Exp2Primitive, 171, "y",
    (mulf (mulf $dy, $y), "0.6931471805599453")> {
  let summary = "dx = dy · y · ln 2, where y = 2^x";
}
defm AICF_Exp2 : PointwiseOps<Exp2Primitive, Exp2BwdPrimitive,
    "return scaled(b, v, 0.6931471805599453);">;

def SinPrimitive : PointwiseFunction<"sin", 84, "math", (sinf $x)> {
  let summary = "y = sin(x), with x in radians";
  let text = [{
    ±0 stays ±0, and ±∞ gives NaN.
  }];
  let precision = Wide;
  let keepsZeros = ZerosKeptEverywhere;
}
def SinBwdPrimitive : PointwiseDerivative<SinPrimitive, 85, "x",
    (mulf $dy, (cosf $x))> {
  let summary = "dx = dy · cos(x)";
}
defm AICF_Sin : PointwiseOps<SinPrimitive, SinBwdPrimitive,
    "return CosBwdOp::create(b, loc, v, s);">;

def CosPrimitive : PointwiseFunction<"cos", 86, "math", (cosf $x)> {
  let summary = "y = cos(x), with x in radians";
  let text = [{
    ±∞ gives NaN.
  }];
  let precision = Wide;
}
def CosBwdPrimitive : PointwiseDerivative<CosPrimitive, 87, "x",
    (negf (mulf $dy, (sinf $x)))> {
  let summary = "dx = -dy · sin(x)";
}
defm AICF_Cos : PointwiseOps<CosPrimitive, CosBwdPrimitive,
    "return NegOp::create(b, loc, SinBwdOp::create(b, loc, v, s));">;

/// The sign of x: -1, ±0 or 1. The sign of NaN is NaN.
defvar SignOfX = (pick (lessf $x, 0), -1, (pick (greaterf $x, 0), 1, $x));

/// If the exponent is 0, the result is 1 for any base.
def PowScalarPrimitive : PointwiseFunction<"pow_scalar", 88, "math",
    (powf $x, $exponent), "POWS"> {
  let summary = "y = x^exponent";
  let text = [{
    This is C's pow. If the exponent is 0, the result is 1, even for NaN. A finite x
    below 0 gives NaN if the exponent is not an integer. ±0 to a negative exponent is
    infinite.
  }];
  let fields = [F64Field<"exponent", FiniteNumber>];
  let precision = Wide;
}
def PowScalarBwdPrimitive : PointwiseDerivative<PowScalarPrimitive, 89, "x",
    (pick (equalf $exponent, 0), 0,
          (mulf $dy, (mulf $exponent, (powf $x, (subf $exponent, 1))))), "POWB"> {
  let summary = "dx = dy · exponent · x^(exponent - 1)";
  let keepsZeros = ZerosKeptNo;
}
defm AICF_PowScalar : PointwiseOps<PowScalarPrimitive, PowScalarBwdPrimitive,
    [{ // v · e · (e - 1) · x^(e - 2)
    double e = getExponent().convertToDouble();
    return e == 0 || e == 1 ? ::mlir::Value() : PowScalarBwdOp::create(
        b, loc, scaled(b, v, e), s, ::llvm::APFloat(e - 1));}]>;

//===----------------------------------------------------------------------===//
// Functions of one operand, for integers as well
//===----------------------------------------------------------------------===//

/// A function of numbers of any type.
class NumberFunction<string mnemonic, int number, dag definition,
                     string schema = "">
    : PointwisePrimitive<mnemonic, number, schema, ["x"], "y", definition, "math",
                         Numbers, NumberElement> {
  let keepsZeros = ZerosKeptEverywhere;
  let phase = ForwardPhase;
  let precision = Narrow;
}

def NegPrimitive : NumberFunction<"neg", 90, (negf $x)> {
  let summary = "y = -x";
  let text = [{
    Only the sign bit of a float changes. Integers wrap, so the lowest integer stays as
    it is.
  }];
}
def AICF_NegOp : AICF_OpOf<NegPrimitive> {
  let gradient = [{
    g.add(getX(), NegOp::create(b, loc, g.cotangent(getY())));
  }];
}

def AbsPrimitive : NumberFunction<"abs", 91, (absf $x)> {
  let summary = "y = |x|";
  let text = [{
    The derivative at 0 is 0. The lowest integer stays as it is, because its type does
    not hold the positive counterpart.
  }];
}
def AbsBwdPrimitive : PointwisePrimitive<"abs_bwd", 92, "", ["dy", "x"], "dx",
    (mulf $dy, SignOfX), "math", Floats> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "dx = dy · sign(x)";
  let phase = BackwardPhase;
  let precision = Narrow;
}
def AICF_AbsOp : AICF_OpOf<AbsPrimitive> {
  let gradient = [{
    g.add(getX(), AbsBwdOp::create(b, loc, g.cotangent(getY()),
                                   g.saved(getX())));
  }];
}
def AICF_AbsBwdOp : AICF_OpOf<AbsBwdPrimitive> {
  let gradient = Second<Flat>.gradient;
}

def SignPrimitive : NumberFunction<"sign", 93, SignOfX> {
  let summary = "y = -1 where x < 0, 0 where x = 0, 1 where x > 0";
  let text = [{
    ±0 stays ±0, and NaN stays NaN. The gradient is 0.
  }];
}
def AICF_SignOp : AICF_OpOf<SignPrimitive> {
  let gradient = "(void)g;"; // 0 wherever it has a derivative
}

/// Rounds to an integer, which is a float here. The gradient is 0.
class Rounding<string mnemonic, int number, dag definition>
    : PointwisePrimitive<mnemonic, number, "", ["x"], "y", definition, "math",
                         Floats> {
  let keepsZeros = ZerosKeptEverywhere;
  let text = [{
    ±0, ±∞ and NaN stay as they are. The gradient is 0.
  }];
  let phase = ForwardPhase;
  let precision = Wide;
}
def FloorPrimitive : Rounding<"floor", 94, (floorf $x)> {
  let summary = "y = the largest integer that is not above x";
}
def CeilPrimitive : Rounding<"ceil", 95, (ceilf $x)> {
  let summary = "y = the smallest integer that is not below x";
}
def RoundPrimitive : Rounding<"round", 96, (roundf $x)> {
  let summary = "y = the integer nearest to x; of two nearest ones, the even one";
}
def AICF_FloorOp : AICF_OpOf<FloorPrimitive> { let gradient = "(void)g;"; }
def AICF_CeilOp : AICF_OpOf<CeilPrimitive> { let gradient = "(void)g;"; }
def AICF_RoundOp : AICF_OpOf<RoundPrimitive> { let gradient = "(void)g;"; }

defvar Bounds = [F64Field<"min", NotNaN>, F64Field<"max", NotNaN>];
def ClampPrimitive : NumberFunction<"clamp", 97,
    (minf (maxf $x, $min), $max), "CLMP"> {
  let keepsZeros = ZerosKeptNo;
  let summary = "y = x, but not below `min` and not above `max`";
  let text = [{
    NaN stays NaN. To leave out a bound, give -∞ for `min` or ∞ for `max`.
  }];
  let fields = Bounds;
  let constraints = ["`min` is not above `max`.",
                     "if x holds integers, `min` and `max` are numbers of x's type "
                     "or infinite."];
}
def ClampBwdPrimitive : PointwisePrimitive<"clamp_bwd", 98, "CLMB",
    ["dy", "x"], "dx",
    (pick (andb (greaterequalf $x, $min), (lessequalf $x, $max)), $dy, 0),
    "math", Floats> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "dx = dy where min <= x <= max, else 0";
  let fields = Bounds;
  let constraints = ["`min` is not above `max`."];
  let phase = BackwardPhase;
  let precision = Narrow;
}
def AICF_ClampOp : AICF_OpOf<ClampPrimitive> {
  let gradient = [{
    g.add(getX(), ClampBwdOp::create(b, loc, g.cotangent(getY()),
                                     g.saved(getX()), getMin(), getMax()));
  }];
}
def AICF_ClampBwdOp : AICF_ComparingOpOf<ClampBwdPrimitive, "X", "", [{
    ::mlir::Value isAbove = GreaterEqualScalarOp::create(b, loc, x, getMin());
    ::mlir::Value isBelow = LessEqualScalarOp::create(b, loc, x, getMax());
    return LogicalAndOp::create(b, loc, isAbove, isBelow);}]> {
  let gradient = Second<Flat>.gradient;
}

def AddScalarPrimitive : NumberFunction<"add_scalar", 99, (addf $x, $value),
                                        "ADDS"> {
  let keepsZeros = ZerosKeptNo;
  let summary = "y = x + value";
  let fields = [F64Field<"value", FiniteNumber>];
  let constraints = ["if x holds integers, `value` is a number of x's type."];
}
def AICF_AddScalarOp : AICF_OpOf<AddScalarPrimitive> {
  let gradient = "g.passOn(getY(), getX());";
}

def DivScalarPrimitive : PointwisePrimitive<"div_scalar", 154, "DIVS", ["x"], "y",
    (divf $x, $value), "math", Floats> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "y = x / value";
  let text = [{
    This is IEEE's quotient, which is rounded once. A multiplication by 1 / value would
    round twice.
  }];
  let fields = [F64Field<"value", FiniteNumber>];
  let constraints = ["`value` is not 0."];
  let phase = ForwardPhase;
  let precision = Narrow;
}
def AICF_DivScalarOp : AICF_OpOf<DivScalarPrimitive> {
  let gradient = [{
    g.add(getX(), DivScalarOp::create(b, loc, g.cotangent(getY()), getValue()));
  }];
}

//===----------------------------------------------------------------------===//
// Functions of two operands
//===----------------------------------------------------------------------===//

def DivPrimitive : PointwisePrimitive<"div", 100, "", ["a", "b"], "c",
    (divf $a, $b), "math", Floats> {
  let summary = "c = a / b, element by element";
  let text = [{
    This is IEEE's division. x/0 is infinite, and 0/0 is NaN.
  }];
  let phase = ForwardPhase;
  let precision = Wide;
}
def AICF_DivOp : AICF_OpOf<DivPrimitive> {
  let gradient = [{
    // d/da = 1/b, d/db = -c/b
    ::mlir::Value da = DivOp::create(b, loc, g.cotangent(getC()),
                                     g.saved(getB()));
    if (g.isNeeded(getB())) {
      g.add(getB(), NegOp::create(b, loc, MulOp::create(b, loc, da,
                                                        g.saved(getC()))));
    }
    g.add(getA(), da);
  }];
}

/// The larger or the smaller of two numbers.
class Extremum<string mnemonic, int number, dag definition>
    : PointwisePrimitive<mnemonic, number, "", ["a", "b"], "c", definition, "math",
                         Numbers, NumberElement> {
  let keepsZeros = ZerosKeptEverywhere;
  let text = [{
    The result is NaN where a or b is NaN. Where a and b are equal, as +0 and -0 are,
    the result is b, and each of the two gets half of the gradient.
  }];
  let phase = ForwardPhase;
  let precision = Narrow;
}
def MaximumPrimitive : Extremum<"maximum", 101, (maxf $a, $b)> {
  let summary = "c = the larger of a and b";
}
def MinimumPrimitive : Extremum<"minimum", 102, (minf $a, $b)> {
  let summary = "c = the smaller of a and b";
}
def MaximumBwdPrimitive : PointwisePrimitive<"maximum_bwd", 103, "",
    ["dy", "a", "b"], "da",
    (pick (greaterf $a, $b), $dy,
          (pick (equalf $a, $b), (mulf "0.5", $dy), 0)),
    "math", Floats> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "da = dy where a > b, dy/2 where a = b, else 0";
  let text = [{
    This is the gradient of `maximum` with respect to a. For `minimum`, exchange a and
    b.
  }];
  let phase = BackwardPhase;
  let precision = Narrow;
}
def AICF_MaximumOp : AICF_OpOf<MaximumPrimitive, "maximum", [Commutative]> {
  let gradient = [{
    for (auto [x, y] : {std::pair{getA(), getB()}, std::pair{getB(), getA()}}) {
      if (g.isNeeded(x)) {
        g.add(x, MaximumBwdOp::create(b, loc, g.cotangent(getC()), g.saved(x),
                                      g.saved(y)));
      }
    }
  }];
}
def AICF_MinimumOp : AICF_OpOf<MinimumPrimitive, "minimum", [Commutative]> {
  let gradient = [{
    for (auto [x, y] : {std::pair{getA(), getB()}, std::pair{getB(), getA()}}) {
      if (g.isNeeded(x)) {
        g.add(x, MaximumBwdOp::create(b, loc, g.cotangent(getC()), g.saved(y),
                                      g.saved(x)));
      }
    }
  }];
}
def AICF_MaximumBwdOp : AICF_OpOf<MaximumBwdPrimitive> {
  let gradient = Second<Flat>.gradient;
}

def PowPrimitive : PointwisePrimitive<"pow", 104, "", ["a", "b"], "c",
    (powf $a, $b), "math", Floats> {
  let summary = "c = a^b, element by element";
  let text = [{
    This is C's pow. The result is 1 where b is 0, even for NaN. It is NaN where a is
    finite and below 0 and b is finite and not an integer.
  }];
  let phase = ForwardPhase;
  let precision = Wide;
}
def PowBaseBwdPrimitive : PointwisePrimitive<"pow_base_bwd", 105, "",
    ["dy", "a", "b"], "da",
    (pick (equalf $b, 0), 0,
          (mulf $dy, (mulf $b, (powf $a, (subf $b, 1))))),
    "math", Floats> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "da = 0 where b = 0, else dy · b · a^(b - 1)";
  let phase = BackwardPhase;
  let precision = Wide;
}
def PowExponentBwdPrimitive : PointwisePrimitive<"pow_exponent_bwd", 106, "",
    ["dy", "a", "b"], "db",
    (pick (andb (equalf $a, 0), (greaterequalf $b, 0)), 0,
          (mulf $dy, (mulf (powf $a, $b), (logf $a)))),
    "math", Floats> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "db = 0 where a = 0 and b >= 0, else dy · a^b · ln(a)";
  let phase = BackwardPhase;
  let precision = Wide;
}
def AICF_PowOp : AICF_OpOf<PowPrimitive> {
  let gradient = [{
    if (g.isNeeded(getA())) {
      g.add(getA(), PowBaseBwdOp::create(b, loc, g.cotangent(getC()),
                                         g.saved(getA()), g.saved(getB())));
    }
    if (g.isNeeded(getB())) {
      g.add(getB(), PowExponentBwdOp::create(b, loc, g.cotangent(getC()),
                                             g.saved(getA()), g.saved(getB())));
    }
  }];
}
/// For v = dy · cotangent: the derivative of v · a^b by both, v · a^(b - 1) · (1 + b · ln a).
defvar PowMixed = [{
    ::mlir::Value v = times(b, g.cotangent(getResult()), g.saved(getDy()));
    ::mlir::Value base = g.saved(getA()), exponent = g.saved(getB());
    ::mlir::Value lower = AddScalarOp::create(b, loc, exponent, ::llvm::APFloat(-1.0));
    [[maybe_unused]] auto mixed = [&]() -> ::mlir::Value {
      ::mlir::Value plain = times(b, v, PowOp::create(b, loc, base, lower));
      return AddOp::create(b, loc, plain, PowExponentBwdOp::create(
          b, loc, times(b, v, exponent), base, lower));
    };
}];
def AICF_PowBaseBwdOp : AICF_OpOf<PowBaseBwdPrimitive> {
  let gradient = PowMixed # [{
    if (g.isNeeded(getDy())) {
      g.add(getDy(), PowBaseBwdOp::create(b, loc, g.cotangent(getDa()), base, exponent));
    }
    if (g.isNeeded(getA())) { // v · b · (b - 1) · a^(b - 2)
      g.add(getA(), times(b, PowBaseBwdOp::create(b, loc, v, base, lower), exponent));
    }
    if (g.isNeeded(getB())) {
      g.add(getB(), mixed());
    }
  }];
}
def AICF_PowExponentBwdOp : AICF_OpOf<PowExponentBwdPrimitive> {
  let gradient = PowMixed # [{
    if (g.isNeeded(getDy())) {
      g.add(getDy(), PowExponentBwdOp::create(b, loc, g.cotangent(getDb()), base,
                                              exponent));
    }
    if (g.isNeeded(getA())) {
      g.add(getA(), mixed());
    }
    if (g.isNeeded(getB())) { // v · a^b · ln² a, and 0 where a is
      ::mlir::Value isZero = EqualScalarOp::create(b, loc, base, ::llvm::APFloat(0.0));
      ::mlir::Value logs = MaskedFillOp::create(b, loc, LogOp::create(b, loc, base), isZero,
                                                ::llvm::APFloat(0.0), false);
      ::mlir::Value once = PowExponentBwdOp::create(b, loc, v, base, exponent);
      g.add(getB(), times(b, once, logs));
    }
  }];
}

def FmodPrimitive : PointwisePrimitive<"fmod", 172, "", ["a", "b"], "c",
    (fmodf $a, $b), "math", Floats> {
  let summary = "c = a - trunc(a / b) · b, exact, element by element";
  let text = [{
    This is C's fmod. The result has the sign of a, also where it is 0. It is a where b is
    infinite, and NaN where a is infinite or b is 0. Its gradient for a is dy.
  }];
  let phase = ForwardPhase;
  let precision = Wide;
}
def FmodBwdPrimitive : PointwisePrimitive<"fmod_bwd", 173, "",
    ["dy", "a", "b"], "db",
    (mulf (negf $dy),
          (pick (lessf (divf $a, $b), 0), (ceilf (divf $a, $b)),
                (floorf (divf $a, $b)))),
    "math", Floats> {
  let summary = "db = -dy · trunc(a / b)";
  let phase = BackwardPhase;
  let precision = Wide;
}
def AICF_FmodOp : AICF_OpOf<FmodPrimitive> {
  let gradient = [{
    if (g.isNeeded(getA()))
      g.add(getA(), g.cotangent(getC()));
    if (g.isNeeded(getB())) {
      g.add(getB(), FmodBwdOp::create(b, loc, g.cotangent(getC()),
                                      g.saved(getA()), g.saved(getB())));
    }
  }];
}
def AICF_FmodBwdOp : AICF_OpOf<FmodBwdPrimitive> {
  let gradient = Second<Flat>.gradient;
}

def Atan2Primitive : PointwisePrimitive<"atan2", 180, "", ["a", "b"], "c",
    (atan2f $a, $b), "math", Floats> {
  let summary = "c = the angle of the point (b, a), in radians, from -π to π";
  let text = [{
    This is C's atan2, with its values at ±0 and ±∞. NaN gives NaN. The gradients are
    dy · b / (a² + b²) for a and -dy · a / (a² + b²) for b.
  }];
  let phase = ForwardPhase;
  let precision = Wide;
}
def AICF_Atan2Op : AICF_OpOf<Atan2Primitive> {
  let gradient = [{
    ::mlir::Value a = g.saved(getA()), c = g.saved(getB());
    ::mlir::Value share = DivOp::create(
        b, loc, g.cotangent(getC()),
        AddOp::create(b, loc, SquareOp::create(b, loc, a), SquareOp::create(b, loc, c)));
    if (g.isNeeded(getA())) {
      g.add(getA(), MulOp::create(b, loc, share, c));
    }
    if (g.isNeeded(getB())) {
      g.add(getB(), NegOp::create(b, loc, MulOp::create(b, loc, share, a)));
    }
  }];
}

//===----------------------------------------------------------------------===//
// Bits of integers
//===----------------------------------------------------------------------===//

class BitsPrimitive<string mnemonic, int number, dag definition, string words>
    : PointwisePrimitive<mnemonic, number, "", ["a", "b"], "c", definition, "math",
                         OnlyIntegers, IntElement> {
  let summary = "c = " # words # ", element by element, of integers";
  let phase = ForwardPhase;
  let precision = Narrow;
}
def BitwiseAndPrimitive : BitsPrimitive<"bitwise_and", 174, (bitandi $a, $b),
                                        "the bits that a and b have"> {
  let keepsZeros = ZerosKeptEverywhere;
}
def BitwiseOrPrimitive : BitsPrimitive<"bitwise_or", 175, (bitori $a, $b),
                                       "the bits that a or b has"> {
  let keepsZeros = ZerosKeptEverywhere;
}
def BitwiseXorPrimitive : BitsPrimitive<"bitwise_xor", 176, (bitxori $a, $b),
                                        "the bits that one of a and b has"> {
  let keepsZeros = ZerosKeptEverywhere;
}
def ShiftLeftPrimitive : BitsPrimitive<"shift_left", 177, (shlefti $a, $b),
                                       "a · 2^b"> {
  let text = [{
    Bits that leave are lost. The result is 0 where b is below 0 or not below the number
    of bits.
  }];
  let keepsZeros = ZerosKeptEverywhere;
}
def ShiftRightPrimitive : BitsPrimitive<"shift_right", 178, (shrighti $a, $b),
                                        "floor(a / 2^b)"> {
  let text = [{
    The sign comes in from the left. The result is 0 or -1, by a's sign, where b is below
    0 or not below the number of bits.
  }];
  let keepsZeros = ZerosKeptEverywhere;
}
def ShiftRightLogicalPrimitive : BitsPrimitive<"shift_right_logical", 179,
    (shrightlogicali $a, $b), "floor(a / 2^b) of an a without a sign"> {
  let text = [{
    Zeros come in from the left. The result is 0 where b is below 0 or not below the
    number of bits.
  }];
  let keepsZeros = ZerosKeptEverywhere;
}
def AICF_BitwiseAndOp : AICF_OpOf<BitwiseAndPrimitive, "bitwise_and", [Commutative]>;
def AICF_BitwiseOrOp : AICF_OpOf<BitwiseOrPrimitive, "bitwise_or", [Commutative]>;
def AICF_BitwiseXorOp : AICF_OpOf<BitwiseXorPrimitive, "bitwise_xor", [Commutative]>;
def AICF_ShiftLeftOp : AICF_OpOf<ShiftLeftPrimitive>;
def AICF_ShiftRightOp : AICF_OpOf<ShiftRightPrimitive>;
def AICF_ShiftRightLogicalOp : AICF_OpOf<ShiftRightLogicalPrimitive>;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

defm Math : PointwiseKernels<"math">;

#endif // AICF_KERNELS_MATH_FAMILY_TD
