//===- Family.td - activation functions ------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The functions and their defaults in Python are PyTorch's. relu, gelu, tanh, sigmoid
// and silu are older: they are in kernels/pointwise.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ACTIVATION_FAMILY_TD
#define AICF_KERNELS_ACTIVATION_FAMILY_TD

include "kernels/pointwise/Pointwise.td"

/// Parts of the definitions below, for an operand x.
defvar IsPositive = (greaterf $x, 0);
/// ln(1 + exp(x)) without overflow.
defvar Softplus = (addf (maxf $x, 0), (log1pf (expf (negf (absf $x)))));
defvar Logistic = (divf 1, (addf 1, (expf (negf $x))));

def EluPrimitive : PointwiseFunction<"elu", 123, "activation",
    (pick IsPositive, $x, (mulf $alpha, (expm1f $x))), "ELU0"> {
  let summary = "y = x where x > 0, else alpha · (exp(x) - 1)";
  let text = [{
    -∞ gives -alpha, and NaN stays NaN. The source is Clevert et al. 2015.
  }];
  let fields = [F64Field<"alpha", FiniteNumber, "1.0">];
  let precision = Narrow;
  let keepsZeros = ZerosKeptEverywhere;
}
def EluBwdPrimitive : PointwiseDerivative<EluPrimitive, 124, "x",
    (pick IsPositive, $dy, (mulf $dy, (mulf $alpha, (expf $x)))), "ELUB"> {
  let summary = "dx = dy where x > 0, else dy · alpha · exp(x)";
}
defm AICF_Elu : PointwiseOps<EluPrimitive, EluBwdPrimitive,
    "return backwardOf<EluBwdOp>(b, *this, {whereLow(b, v, s), s});">;

// Klambauer et al. 2017, "Self-Normalizing Neural Networks".
defvar SeluScale = "1.0507009873554804934193349852946";
defvar SeluScaleAlpha = "1.7580993408473768599402175208123";
def SeluPrimitive : PointwiseFunction<"selu", 125, "activation",
    (pick IsPositive, (mulf SeluScale, $x),
          (mulf SeluScaleAlpha, (expm1f $x)))> {
  let summary = "y = λ · elu(x), with alpha = 1.6733 and λ = 1.0507";
  let text = [{
    -∞ gives -1.7581, and NaN stays NaN. The source is Klambauer et al. 2017.
  }];
  let precision = Narrow;
  let keepsZeros = ZerosKeptEverywhere;
}
def SeluBwdPrimitive : PointwiseDerivative<SeluPrimitive, 126, "x",
    (mulf $dy, (pick IsPositive, SeluScale,
                     (mulf SeluScaleAlpha, (expf $x))))> {
  let summary = "dx = dy · λ where x > 0, else dy · λ · alpha · exp(x)";
}
defm AICF_Selu : PointwiseOps<SeluPrimitive, SeluBwdPrimitive,
    "return SeluBwdOp::create(b, loc, whereLow(b, v, s), s);">;

def LeakyReluPrimitive : PointwiseFunction<"leaky_relu", 127, "activation",
    (pick IsPositive, $x, (mulf $slope, $x)), "LRLU"> {
  let summary = "y = x where x > 0, else slope · x";
  let text = [{
    NaN stays NaN. The source is Maas et al. 2013.
  }];
  let fields = [F64Field<"slope", FiniteNumber, "0.01">];
  let precision = Narrow;
  let keepsZeros = ZerosKeptEverywhere;
}
def LeakyReluBwdPrimitive : PointwiseDerivative<LeakyReluPrimitive, 128, "x",
    (pick IsPositive, $dy, (mulf $slope, $dy)), "LRLB"> {
  let summary = "dx = dy where x > 0, else slope · dy";
}
// With a slope that is not negative, y is above 0 where x is.
defm AICF_LeakyRelu : ComparingOps<LeakyReluPrimitive, LeakyReluBwdPrimitive, [{
      !getSlope().isNegative() && ::llvm::isa<LeakyReluOp>(function) &&
      ::llvm::cast<LeakyReluOp>(function).getSlope() == getSlope()}]>;

def HardtanhPrimitive : PointwiseFunction<"hardtanh", 129, "activation",
    (minf (maxf $x, $min), $max), "HTAN"> {
  let summary = "y = x, but not below `min` and not above `max`";
  let text = [{
    NaN stays NaN. The gradient at the bounds is 0. `clamp` computes the same values,
    but its gradient at the bounds is dy.
  }];
  let fields = [F64Field<"min", FiniteNumber, "-1.0">,
                F64Field<"max", FiniteNumber, "1.0">];
  let constraints = ["`min` is not above `max`."];
  let precision = Narrow;
}
def HardtanhBwdPrimitive : PointwiseDerivative<HardtanhPrimitive, 130, "x",
    (pick (andb (greaterf $x, $min), (lessf $x, $max)), $dy, 0), "HTNB"> {
  let summary = "dx = dy where min < x < max, else 0";
}
// y compares as x does where x's type holds the bounds: else y may be a bound that was
// rounded toward the inside.
defm AICF_Hardtanh : ComparingOps<HardtanhPrimitive, HardtanhBwdPrimitive, [{
      ::llvm::isa<HardtanhOp>(function) &&
      ::llvm::cast<HardtanhOp>(function).getMin() == getMin() &&
      ::llvm::cast<HardtanhOp>(function).getMax() == getMax() &&
      isExactIn(getMin(), getX().getType()) &&
      isExactIn(getMax(), getX().getType())}], [{
      ::mlir::Value isAbove = GreaterScalarOp::create(b, loc, x, getMin());
      ::mlir::Value isBelow = LessScalarOp::create(b, loc, x, getMax());
      return LogicalAndOp::create(b, loc, isAbove, isBelow);}]>;

def HardswishPrimitive : PointwiseFunction<"hardswish", 131, "activation",
    (mulf $x, (divf (minf (maxf (addf $x, 3), 0), 6), 6))> {
  let summary = "y = x · min(max(x + 3, 0), 6)/6";
  let text = [{
    -∞ gives NaN, as -∞·0 does. The source is Howard et al. 2019.
  }];
  let precision = Narrow;
  let keepsZeros = ZerosKeptEverywhere;
}
def HardswishBwdPrimitive : PointwiseDerivative<HardswishPrimitive, 132, "x",
    (pick (lessequalf $x, -3), 0,
          (pick (lessf $x, 3),
                (mulf $dy, (addf (divf $x, 3), "0.5")), $dy))> {
  let summary = "dx = dy · d hardswish(x)/dx";
}
defm AICF_Hardswish : PointwiseOps<HardswishPrimitive, HardswishBwdPrimitive,
    "return HardtanhBwdOp::create(b, loc, scaled(b, v, 1.0 / 3), s, "
                                 "::llvm::APFloat(-3.0), ::llvm::APFloat(3.0));">;

def SoftplusPrimitive : PointwiseFunction<"softplus", 133, "activation",
    (pick (greaterf (mulf $beta, $x), $threshold), $x,
          // The reciprocal does not depend on x and is computed once.
          (mulf (addf (maxf (mulf $beta, $x), 0),
                      (log1pf (expf (negf (absf (mulf $beta, $x)))))),
                (divf 1, $beta))), "SFPL"> {
  let summary = "y = x where beta · x > threshold, else ln(1 + exp(beta · x))/beta";
  let text = [{
    -∞ gives 0. ∞ stays ∞, and NaN stays NaN.
  }];
  let fields = [F64Field<"beta", Positive, "1.0">,
                F64Field<"threshold", FiniteNumber, "20.0">];
  let precision = Wide;
}
def SoftplusBwdPrimitive : PointwiseDerivative<SoftplusPrimitive, 134, "x",
    (pick (greaterf (mulf $beta, $x), $threshold), $dy,
          (divf $dy, (addf 1, (expf (negf (mulf $beta, $x)))))), "SFPB"> {
  let summary = "dx = dy where beta · x > threshold, else dy · sigmoid(beta · x)";
}
defm AICF_Softplus : PointwiseOps<SoftplusPrimitive, SoftplusBwdPrimitive, [{
    double beta = getBeta().convertToDouble();
    ::mlir::Value x = scaled(b, s, beta);
    return whereLow(b, scaled(b, sigmoidSlope(b, v, x), beta), x,
                    getThreshold().convertToDouble());}]>;

/// With e = exp(x), tanh(ln(1 + e)) is (e² + 2e)/(e² + 2e + 2). For x > 0 this is
/// computed with powers of exp(-x), which does not overflow. Below 0 it multiplies by √e
/// twice, because e alone would be rounded as a subnormal number before x is multiplied.
defvar MishDecay = (expf (negf $x));
defvar MishRising = (addf 1, (mulf 2, MishDecay));
defvar MishTwice = (mulf 2, (mulf MishDecay, MishDecay));
defvar MishRoot = (expf (mulf "0.5", $x));
defvar MishExp = (mulf MishRoot, MishRoot);
defvar MishFalling = (divf (addf MishExp, 2),
                           (addf (mulf MishExp, (addf MishExp, 2)), 2));
def MishPrimitive : PointwiseFunction<"mish", 135, "activation",
    (pick IsPositive, (divf (mulf $x, MishRising), (addf MishRising, MishTwice)),
          (mulf (mulf (mulf $x, MishRoot), MishRoot), MishFalling))> {
  let summary = "y = x · tanh(ln(1 + exp(x)))";
  let text = [{
    -∞ gives NaN, as -∞·0 does, and NaN stays NaN. The gradient is NaN for both
    infinities. The source is Misra 2019.
  }];
  let precision = Narrow;
  let keepsZeros = ZerosKeptEverywhere;
}
def MishBwdPrimitive : PointwiseDerivative<MishPrimitive, 136, "x",
    (mulf $dy, (addf (tanhf Softplus),
        (mulf (mulf $x, Logistic),
              (subf 1, (mulf (tanhf Softplus), (tanhf Softplus))))))> {
  let summary = "dx = dy · d mish(x)/dx";
}
defm AICF_Mish : PointwiseOps<MishPrimitive, MishBwdPrimitive, [{
    // With s for sigmoid and t = tanh(ln(1 + exp(x))): s·(1 - t²)·(2 + x·(1 - s - 2·t·s)).
    ::mlir::Value t = TanhOp::create(b, loc, SoftplusOp::create(
        b, loc, s, ::llvm::APFloat(1.0), ::llvm::APFloat(20.0)));
    ::mlir::Value sigmoid = SigmoidOp::create(b, loc, s);
    ::mlir::Value other = SigmoidOp::create(b, loc, NegOp::create(b, loc, s));
    ::mlir::Value bend = less(b, other, scaled(b, times(b, t, sigmoid), 2));
    ::mlir::Value rest = AddScalarOp::create(b, loc, times(b, s, bend),
                                             ::llvm::APFloat(2.0));
    return times(b, TanhBwdOp::create(b, loc, times(b, v, sigmoid), t), rest);}]>;

def LogSigmoidPrimitive : PointwiseFunction<"log_sigmoid", 137, "activation",
    (subf (minf $x, 0), (log1pf (expf (negf (absf $x)))))> {
  let summary = "y = ln(sigmoid(x)) = -ln(1 + exp(-x))";
  let text = [{
    -∞ stays -∞, ∞ gives 0, and NaN stays NaN.
  }];
  let precision = Wide;
}
def LogSigmoidBwdPrimitive : PointwiseDerivative<LogSigmoidPrimitive, 138, "x",
    (divf $dy, (addf 1, (expf $x)))> {
  let summary = "dx = dy · (1 - sigmoid(x))";
}
defm AICF_LogSigmoid : PointwiseOps<LogSigmoidPrimitive, LogSigmoidBwdPrimitive,
    "return NegOp::create(b, loc, sigmoidSlope(b, v, s));">;

def SoftsignPrimitive : PointwiseFunction<"softsign", 151, "activation",
    (divf $x, (addf 1, (absf $x)))> {
  let summary = "y = x/(1 + |x|)";
  let text = [{
    ±0 stays ±0, and ±∞ gives NaN, as ∞/∞ does. The source is Turian et al. 2009.
  }];
  let precision = Narrow;
  let keepsZeros = ZerosKeptEverywhere;
}
def SoftsignBwdPrimitive : PointwiseDerivative<SoftsignPrimitive, 152, "x",
    (divf (divf $dy, (addf 1, (absf $x))), (addf 1, (absf $x)))> {
  let summary = "dx = dy/(1 + |x|)²";
}
defm AICF_Softsign : PointwiseOps<SoftsignPrimitive, SoftsignBwdPrimitive, [{
    ::mlir::Value below = AddScalarOp::create(b, loc, AbsOp::create(b, loc, s),
                                              ::llvm::APFloat(1.0));
    ::mlir::Value signs = DivOp::create(b, loc, SignOp::create(b, loc, s), below);
    return scaled(b, times(b, SoftsignBwdOp::create(b, loc, v, s), signs), -2);}]>;

def PreluPrimitive : PointwisePrimitive<"prelu", 139, "", ["x", "slope"], "y",
    (pick IsPositive, $x, (mulf $slope, $x)), "activation", Floats> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "y = x where x > 0, else slope · x; the slope is trained";
  let text = [{
    NaN stays NaN. The source is He et al. 2015.
  }];
  let phase = ForwardPhase;
  let precision = Narrow;
}
def PreluBwdPrimitive : PointwisePrimitive<"prelu_bwd", 140, "",
    ["dy", "x", "slope"], "dx",
    (pick IsPositive, $dy, (mulf $slope, $dy)), "activation", Floats> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "dx = dy where x > 0, else slope · dy";
  let phase = BackwardPhase;
  let precision = Narrow;
}
def AICF_PreluOp : AICF_OpOf<PreluPrimitive> {
  let gradient = [{
    if (g.isNeeded(getX())) {
      g.add(getX(), PreluBwdOp::create(b, loc, g.cotangent(getY()),
                                       g.saved(getX()), g.saved(getSlope())));
    }
    if (g.isNeeded(getSlope())) { // the part of x that is not above 0
      ::mlir::Value low = ClampOp::create(
          b, loc, g.saved(getX()),
          ::llvm::APFloat::getInf(::llvm::APFloat::IEEEdouble(), true),
          ::llvm::APFloat(0.0));
      g.add(getSlope(), MulOp::create(b, loc, g.cotangent(getY()), low));
    }
  }];
}
def AICF_PreluBwdOp : AICF_OpOf<PreluBwdPrimitive> {
  let gradient = [{
    if (g.isNeeded(getSlope())) {
      ::mlir::Value v = times(b, g.cotangent(getDx()), g.saved(getDy()));
      g.add(getSlope(), whereLow(b, v, g.saved(getX())));
    }
  }] # Second<Flat>.gradient;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

defm Activation : PointwiseKernels<"activation">;

#endif // AICF_KERNELS_ACTIVATION_FAMILY_TD
