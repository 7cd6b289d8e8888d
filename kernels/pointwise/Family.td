//===- Family.td - pointwise primitives, copies and casts -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_POINTWISE_FAMILY_TD
#define AICF_KERNELS_POINTWISE_FAMILY_TD

include "kernels/pointwise/Pointwise.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

def ReluPrimitive : PointwisePrimitive<"relu", 2, "", ["x"], "y",
    (pick (lessf $x, 0), 0, $x)> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "y = max(x, 0); NaN stays NaN";
  let phase = ForwardPhase;
  let precision = Narrow;
}

def ReluBwdPrimitive : PointwisePrimitive<"relu_bwd", 3, "", ["dy", "saved"],
    "dx", (pick (greaterf $saved, 0), $dy, 0)> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "dx = saved > 0 ? dy : 0";
  let text = [{
    `saved` is relu's input or its output. Either will do, because both are above 0 at
    the same elements.
  }];
  let phase = BackwardPhase;
  let precision = Narrow;
}

def AddPrimitive : PointwisePrimitive<"add", 4, "", ["a", "b"], "c",
    (addf $a, $b), "pointwise", NumbersInPairs,
    NumberElement> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "c = a + b, element by element, without broadcasting";
  let phase = ForwardPhase;
  let precision = Narrow;
}

def ReciprocalPrimitive : PointwisePrimitive<"reciprocal", 27, "", ["x"], "y",
    (divf 1, $x)> {
  let summary = "y = 1/x";
  let phase = ForwardPhase;
  let precision = Wide;
}

// GELU is from Hendrycks & Gimpel 2016, "Gaussian Error Linear Units". It uses the
// distribution function of the normal distribution, or their approximation by tanh.
// The definitions use erfc, and a sigmoid for (1 + tanh u)/2 = 1/(1 + exp(-2u)),
// because 1 + erf and 1 + tanh would round small values away. 1.5957691216057308 is
// 2·sqrt(2/pi), and 0.3989422804014327 is 1/sqrt(2·pi).
defvar NormalCdf = (mulf "0.5", (erfcf (mulf $x, "-0.7071067811865476")));
defvar NormalPdf = (mulf "0.3989422804014327",
                         (expf (mulf "-0.5", (mulf $x, $x))));
defvar TanhCdf = (divf 1, (addf 1, (expf (mulf "-1.5957691216057308",
    (addf $x, (mulf "0.044715", (mulf $x, (mulf $x, $x))))))));
defvar TanhSlope = (mulf "1.5957691216057308",
    (addf 1, (mulf "0.134145", (mulf $x, $x))));
// This is 0 for large |x|, where the slope may be infinite.
defvar TanhFlank = (mulf TanhCdf, (subf 1, TanhCdf));

def GeluPrimitive : PointwisePrimitive<"gelu", 31, "GELU", ["x"], "y",
    (mulf $x, (pick $approximate, TanhCdf, NormalCdf))> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "y = x · Φ(x), where Φ is the normal distribution function";
  let text = [{
    Φ(x) is (1 + erf(x/√2))/2. With `approximate` (PyTorch's "tanh") it is
    (1 + tanh(√(2/π)·(x + 0.044715·x³)))/2. -∞ gives NaN, as -∞·0 does.
  }];
  let fields = [BoolField<"approximate">];
  let phase = ForwardPhase;
  let precision = Narrow;
}

def GeluBwdPrimitive : PointwisePrimitive<"gelu_bwd", 32, "GELB", ["dy", "x"],
    "dx",
    (mulf $dy, (pick $approximate,
        (addf TanhCdf,
              (pick (greaterf TanhFlank, 0),
                    (mulf (mulf $x, TanhFlank), TanhSlope), 0)),
        (addf NormalCdf, (mulf $x, NormalPdf))))> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "dx = dy · d gelu(x)/dx";
  let text = [{
    x is gelu's operand. Without `approximate`, the result is NaN where x is infinite.
  }];
  let fields = [BoolField<"approximate">];
  let phase = BackwardPhase;
  let precision = Narrow;
}

def MulPrimitive : PointwisePrimitive<"mul", 35, "", ["a", "b"], "c",
    (mulf $a, $b), "pointwise", NumbersInPairs,
    NumberElement> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "c = a · b, element by element, without broadcasting";
  let phase = ForwardPhase;
  let precision = Narrow;
}

def SubPrimitive : PointwisePrimitive<"sub", 36, "", ["a", "b"], "c",
    (subf $a, $b), "pointwise", NumbersInPairs,
    NumberElement> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "c = a - b, element by element, without broadcasting";
  let phase = ForwardPhase;
  let precision = Narrow;
}

def ScalePrimitive : PointwisePrimitive<"scale", 37, "SCAL", ["x"], "y",
    (mulf $factor, $x), "pointwise", NumbersInPairs, NumberElement> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "y = factor · x";
  let fields = [F64Field<"factor", FiniteNumber>];
  let constraints = ["if x holds integers, `factor` is a number of x's type."];
  let phase = ForwardPhase;
  let precision = Narrow;
}

def FillLikePrimitive : PointwisePrimitive<"fill_like", 38, "FILL", ["x"], "y",
    (same $value), "pointwise", NumbersInPairs, NumberElement> {
  let summary = "y = value, in x's shape";
  let text = [{
    The values of x's elements do not matter.
  }];
  let fields = [F64Field<"value", FiniteNumber>];
  let constraints = ["if x holds integers, `value` is a number of x's type."];
  let phase = ForwardPhase;
  let precision = Narrow;
}

def TanhPrimitive : PointwisePrimitive<"tanh", 39, "", ["x"], "y", (tanhf $x)> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "y = tanh(x)";
  let phase = ForwardPhase;
  let precision = Narrow;
}

def TanhBwdPrimitive : PointwisePrimitive<"tanh_bwd", 40, "", ["dy", "y"], "dx",
    (mulf $dy, (subf 1, (mulf $y, $y)))> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "dx = dy · (1 - y²), where y = tanh(x)";
  let phase = BackwardPhase;
  let precision = Narrow;
}

defvar Sigmoid = (divf 1, (addf 1, (expf (subf 0, $x))));
def SigmoidPrimitive : PointwisePrimitive<"sigmoid", 41, "", ["x"], "y", Sigmoid> {
  let summary = "y = 1/(1 + exp(-x))";
  let phase = ForwardPhase;
  let precision = Narrow;
}

def SigmoidBwdPrimitive : PointwisePrimitive<"sigmoid_bwd", 42, "", ["dy", "y"],
    "dx", (mulf $dy, (mulf $y, (subf 1, $y)))> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "dx = dy · y · (1 - y), where y = sigmoid(x)";
  let phase = BackwardPhase;
  let precision = Narrow;
}

def SiluPrimitive : PointwisePrimitive<"silu", 43, "", ["x"], "y",
    (mulf $x, Sigmoid)> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "y = x · sigmoid(x), also known as swish";
  let text = [{
    -∞ gives NaN, as -∞·0 does. The source is Elfwing et al. 2017.
  }];
  let phase = ForwardPhase;
  let precision = Narrow;
}

def SiluBwdPrimitive : PointwisePrimitive<"silu_bwd", 44, "", ["dy", "x"], "dx",
    (mulf $dy, (addf Sigmoid, (mulf $x, (mulf Sigmoid, (subf 1, Sigmoid)))))> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "dx = dy · d silu(x)/dx, where x is silu's operand";
  let text = [{
    The result is NaN where x is infinite.
  }];
  let phase = BackwardPhase;
  let precision = Narrow;
}

def BiasAddPrimitive : Primitive<"bias_add", 1, "BADD"> {
  let keepsZeros = ZerosKeptInColumns;
  let summary = "out = y + b, where b is broadcast along every dimension but `axis`";
  let text = [{
    An `axis` of -1 means the last dimension.
  }];
  let operandList = [In<"y">, In<"b">];
  let resultList = [Like<"out", "y">];
  let ties = [Tie<"out", "y">];
  let fields = [I64Field<"axis", AnyNumber, "-1">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let spreadOperand = "b";
  let spreadAs = "add";
  let constraints = ["b has rank 1 and y's element type.",
                     "`axis` is -1 or a dimension of y.",
                     "b has the size of y's dimension `axis`."];
}

class CopyLikePrimitive<string mnemonic, int number>
    : Primitive<mnemonic, number> {
  let keepsZeros = ZerosKeptEverywhere;
  let elementwise = 1;
  let operandList = [In<"x", AnyElement>];
  let resultList = [Like<"y", "x">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = []<string>;
}

def CopyPrimitive : CopyLikePrimitive<"copy", 5> {
  let flops = NoFlops;
  let summary = "y = x, bit for bit";
  let text = [{
    Folding never removes a copy; only passes that are made for it do.
    `--aicf-rt-materialize-updates` inserts copies that it marks as `protective`, and
    only `--aicf-rt-annotate-inplace` removes those.
  }];
}

def CopySavedPrimitive : CopyLikePrimitive<"copy_saved", 6> {
  let flops = NoFlops;
  let summary = "y = x, kept for the backward pass";
  let text = [{
    Folding never removes this copy. The pass `--aicf-rt-eliminate-saves` does.
  }];
}

def CastPrimitive : Primitive<"cast", 7> {
  let keepsZeros = ZerosKeptEverywhere;
  let elementwise = 1;
  let summary = "y = x converted to y's element type";
  let text = [{
    A conversion to a float rounds to nearest even. To reach a 16-bit float, a value is
    rounded to f32 first. A conversion from a float to an integer rounds toward zero. A
    value that the integer type cannot hold becomes the nearest one that it can, and NaN
    becomes 0. i64 to i32 keeps the low bits. To i1, zero becomes false. All other values
    become true, also NaN. From i1, true becomes 1.
  }];
  let operandList = [In<"x", AnyElement>];
  let resultList = [Checked<"y", AnyElement>];
  let phase = ForwardPhase;
  let precision = Wide;
  let constraints = ["y has x's shape."];
}

/// A cast whose name says the type. So it may stand inside a body, where nothing else
/// gives that.
class CastToPrimitive<string element, int number>
    : Primitive<"to_" # element, number> {
  string dtype = element;
  let keepsZeros = ZerosKeptEverywhere;
  let elementwise = 1;
  let summary = "y = x converted to " # element;
  let text = [{
    This is what a `cast` inside a body is. It converts as `cast` does.
  }];
  let operandList = [In<"x", AnyElement>];
  let resultList = [FloatLike<"y", "x", element>];
  let phase = ForwardPhase;
  let precision = Wide;
  let constraints = []<string>;
}
def ToF32Primitive : CastToPrimitive<"f32", 158>;
def ToF16Primitive : CastToPrimitive<"f16", 159>;
def ToBF16Primitive : CastToPrimitive<"bf16", 160>;
def ToF64Primitive : CastToPrimitive<"f64", 161>;

//===----------------------------------------------------------------------===//
// The ops of a step
//===----------------------------------------------------------------------===//

def AICF_ReluOp : AICF_OpOf<ReluPrimitive> {
  let hasFolder = 1;
  let gradient = [{
    g.add(getX(), ReluBwdOp::create(b, loc, g.cotangent(getY()),
                                    g.saved(getY())));
  }];
}
def AICF_ReluBwdOp : AICF_ComparingOpOf<ReluBwdPrimitive, "Saved",
    "::llvm::isa<ReluOp>(function)",
    "return GreaterScalarOp::create(b, loc, x, ::llvm::APFloat(0.0));"> {
  let gradient = Second<Flat>.gradient;
}

def AICF_AddOp : AICF_OpOf<AddPrimitive, "add", [Commutative]> {
  let gradient = "g.passOn(getC(), getA()); g.passOn(getC(), getB());";
}
def AICF_SubOp : AICF_OpOf<SubPrimitive> {
  let gradient = [{
    g.passOn(getC(), getA());
    if (g.isNeeded(getB())) {
      g.add(getB(), ScaleOp::create(b, loc, g.cotangent(getC()),
                                    ::llvm::APFloat(-1.0)));
    }
  }];
}
def AICF_MulOp : AICF_OpOf<MulPrimitive, "mul", [Commutative]> {
  let gradient = [{
    if (g.isNeeded(getA())) {
      g.add(getA(), MulOp::create(b, loc, g.cotangent(getC()),
                                  g.saved(getB())));
    }
    if (g.isNeeded(getB())) {
      g.add(getB(), MulOp::create(b, loc, g.cotangent(getC()),
                                  g.saved(getA())));
    }
  }];
}
def AICF_ScaleOp : AICF_OpOf<ScalePrimitive> {
  let gradient = [{
    g.add(getX(), ScaleOp::create(b, loc, g.cotangent(getY()), getFactor()));
  }];
}
def AICF_FillLikeOp : AICF_OpOf<FillLikePrimitive> {
  let gradient = "(void)g;"; // y does not depend on x
}

/// The derivative of y = 1/x is -y².
def AICF_ReciprocalOp : AICF_OpOf<ReciprocalPrimitive> {
  let gradient = [{
    ::mlir::Value y = g.saved(getY());
    g.add(getX(), MulOp::create(b, loc, g.cotangent(getY()),
        ScaleOp::create(b, loc, MulOp::create(b, loc, y, y),
                        ::llvm::APFloat(-1.0))));
  }];
}
def AICF_GeluOp : AICF_OpOf<GeluPrimitive> {
  let gradient = [{
    g.add(getX(), GeluBwdOp::create(b, loc, g.cotangent(getY()),
                                    g.saved(getX()), getApproximate()));
  }];
}
// With u(x) for the sigmoid's operand, gelu's second derivative by tanh is
// s·(1 - s)·(2u' + x·(1 - 2s)·u'² + x·u''), and 1 - 2s = -tanh(u/2). Beyond ±20, s·(1 - s) is 0.
def AICF_GeluBwdOp : AICF_OpOf<GeluBwdPrimitive> {
  let gradient = Second<[{
    if (!getApproximate()) { // v · φ(x) · (2 - x²)
      ::mlir::Value square = SquareOp::create(b, loc, s);
      ::mlir::Value density = ExpOp::create(b, loc, scaled(b, square, -0.5));
      ::mlir::Value rest = AddScalarOp::create(b, loc, scaled(b, square, -1),
                                               ::llvm::APFloat(2.0));
      return times(b, scaled(b, times(b, v, density), 0.3989422804014327), rest);
    }
    ::mlir::Value x = ClampOp::create(b, loc, s, ::llvm::APFloat(-20.0),
                                      ::llvm::APFloat(20.0));
    ::mlir::Value square = SquareOp::create(b, loc, x);
    ::mlir::Value slope = scaled(b, AddScalarOp::create(
        b, loc, scaled(b, square, 0.134145), ::llvm::APFloat(1.0)), 1.5957691216057308);
    ::mlir::Value u = scaled(b, times(b, x, AddScalarOp::create(
        b, loc, scaled(b, square, 0.044715), ::llvm::APFloat(1.0))), 1.5957691216057308);
    ::mlir::Value bend = times(b, x, TanhOp::create(b, loc, scaled(b, u, 0.5)));
    bend = times(b, bend, SquareOp::create(b, loc, slope));
    // x · u'' is 2 · 0.134145 · 1.5957691216057308 · x².
    ::mlir::Value rest = scaled(b, square, 0.42812889763560147);
    rest = AddOp::create(b, loc, rest, scaled(b, slope, 2));
    return sigmoidSlope(b, times(b, v, less(b, rest, bend)), u);}]>.gradient;
}
def AICF_TanhOp : AICF_OpOf<TanhPrimitive> {
  let gradient = [{
    g.add(getX(), TanhBwdOp::create(b, loc, g.cotangent(getY()),
                                    g.saved(getY())));
  }];
}
def AICF_TanhBwdOp : AICF_OpOf<TanhBwdPrimitive> {
  let gradient = Second<"return scaled(b, times(b, v, s), -2);">.gradient;
}
def AICF_SigmoidOp : AICF_OpOf<SigmoidPrimitive> {
  let gradient = [{
    g.add(getX(), SigmoidBwdOp::create(b, loc, g.cotangent(getY()),
                                       g.saved(getY())));
  }];
}
def AICF_SigmoidBwdOp : AICF_OpOf<SigmoidBwdPrimitive> {
  let gradient = Second<"return less(b, v, scaled(b, times(b, v, s), 2));">.gradient;
}
def AICF_SiluOp : AICF_OpOf<SiluPrimitive> {
  let gradient = [{
    g.add(getX(), SiluBwdOp::create(b, loc, g.cotangent(getY()),
                                    g.saved(getX())));
  }];
}
def AICF_SiluBwdOp : AICF_OpOf<SiluBwdPrimitive> {
  let gradient = Second<[{ // v · s·(1 - s) · (2 - x·tanh(x/2)), where s = sigmoid(x)
    ::mlir::Value bend = times(b, s, TanhOp::create(b, loc, scaled(b, s, 0.5)));
    ::mlir::Value rest = AddScalarOp::create(b, loc, scaled(b, bend, -1),
                                             ::llvm::APFloat(2.0));
    return times(b, sigmoidSlope(b, v, s), rest);}]>.gradient;
}

def AICF_SaveOp : AICF_OpOf<CopySavedPrimitive, "save"> {
  let gradient = "g.passOn(getY(), getX());";
}

def AICF_CopyOp : AICF_OpOf<CopyPrimitive> {
  let gradient = "g.passOn(getY(), getX());";
}

def AICF_CastOp : AICF_OpOf<CastPrimitive> {
  let gradient = [{
    ::mlir::Value dy = g.cotangent(getY());
    g.add(getX(), CastOp::create(b, loc, dy, ::mlir::TypeAttr::get(
        ::llvm::cast<::mlir::RankedTensorType>(getX().getType())
            .getElementType())));
  }];
  let stepAttrs = (ins TypeAttr:$dtype);
  let stepConstraints = ["`dtype` is y's element type: f16, bf16, f32, f64, i32, i64 or "
                         "i1."];
  let assemblyFormat = "$x `to` $dtype attr-dict `:` type($x)";
  let hasFolder = 1; // a cast to x's own type is x
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

defm Pointwise : PointwiseKernels<"pointwise">;

def BiasAddCpu : KernelFamily<"pointwise", CPU> {
  let kinds = [BiasAddPrimitive];
  let variants = EveryFloat.each;
  let kernel = "biasAdd<$T>";
}
def BiasAddCuda : KernelFamily<"pointwise", CUDA> {
  let kinds = [BiasAddPrimitive];
  let variants = Vectors.each;
  let kernel = "biasAdd<$T, $V>";
}

/// Copies into a part of another tensor.
class CopyInto<Device on> : KernelFamily<"pointwise", on> {
  let kinds = [CopyPrimitive];
  let variants = EveryType.each;
  let kernel = "copyInto";
  let variantName = "strided";
  let preference = 2;
  let strided = [Strided<CopyPrimitive, "x", AnyStrides>,
                 Strided<CopyPrimitive, "y", AnyStrides>];
}
def CopyIntoCpu : CopyInto<CPU>;
def CopyIntoCuda : CopyInto<CUDA>;

def CopyCpu : KernelFamily<"pointwise", CPU> {
  let kinds = [CopyPrimitive, CopySavedPrimitive];
  let variants = EveryType.each;
  let kernel = "copy<$Args>";
  let strided = [Strided<CopyPrimitive, "x", AnyStrides>,
                 Strided<CopySavedPrimitive, "x", AnyStrides>];
}
def CopyCuda : KernelFamily<"pointwise", CUDA> {
  let kinds = [CopyPrimitive, CopySavedPrimitive];
  let variants = EveryType.each;
  let kernel = "copy<$Args>";
  let strided = [Strided<CopyPrimitive, "x", AnyStrides>,
                 Strided<CopySavedPrimitive, "x", AnyStrides>];
}

/// All pairs of two types that the lists of the first casts lack.
defvar CastNames = ["f32", "f64", "f16", "bf16", "i32", "i64", "i1"];
defvar FirstCasts = ["f32 f64", "f64 f32", "f32 f16", "f16 f32", "f32 bf16",
                     "bf16 f32"];
class OtherCasts<string from> {
  list<Variant> each = !foreach(to,
      !filter(t, CastNames, !not(!or(!eq(t, from),
          !not(!empty(!filter(c, FirstCasts, !eq(c, from # " " # t))))))),
      From<from, to>);
}
defvar EveryOtherCast = !foldl([]<Variant>, CastNames, all, name,
                               all # OtherCasts<name>.each);

def CastCpu : KernelFamily<"pointwise", CPU> {
  let kinds = [CastPrimitive];
  let variants = [From<"f32", "f64">, From<"f64", "f32">, From<"f32", "f16">,
                  From<"f16", "f32">, From<"f32", "bf16">, From<"bf16", "f32">]
                 # EveryOtherCast;
  let kernel = "cast<$Args, $T, $U>";
  let takesPads = 1;
}
def CastCuda : KernelFamily<"pointwise", CUDA> {
  let kinds = [CastPrimitive];
  let variants = [From<"f32", "f16", 4>, From<"f32", "f16">,
                  From<"f32", "bf16", 4>, From<"f32", "bf16">,
                  From<"f16", "f32", 4>, From<"f16", "f32">,
                  From<"bf16", "f32", 4>, From<"bf16", "f32">,
                  From<"f32", "f64">, From<"f64", "f32">]
                 # !foreach(v, EveryOtherCast, From<v.input, v.output, 4>)
                 # EveryOtherCast;
  let kernel = "cast<$Args, $T, $U, $V>";
  let takesPads = 1;
}

/// The pairs of other types with one that a primitive's name says.
class CastsTo<string element> {
  defvar others = !filter(from, CastNames, !ne(from, element));
  list<Variant> onCpu = !foreach(from, others, From<from, element>);
  list<Variant> onCuda = !foreach(from, others, From<from, element, 4>) # onCpu;
}
foreach to = [ToF32Primitive, ToF16Primitive, ToBF16Primitive, ToF64Primitive] in {
  def : KernelFamily<"pointwise", CPU> {
    let kinds = [to];
    let variants = CastsTo<to.dtype>.onCpu;
    let kernel = "cast<$Args, $T, $U>";
    let takesPads = 1;
  }
  def : KernelFamily<"pointwise", CUDA> {
    let kinds = [to];
    let variants = CastsTo<to.dtype>.onCuda;
    let kernel = "cast<$Args, $T, $U, $V>";
    let takesPads = 1;
  }
}

#endif // AICF_KERNELS_POINTWISE_FAMILY_TD
