//===- Family.td - pointwise primitives, copies and casts -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_POINTWISE_FAMILY_TD
#define AICF_KERNELS_POINTWISE_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "kernels/KernelFamily.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

/// A pointwise primitive: operands of one type, one result of that type, whose
/// elements are `definition` of the operands' elements. Both devices' functors
/// come from the definition; it reads all operands before it writes, so that
/// the result may take the storage of any of them.
class AICFRT_Pointwise<string mnemonic, int number, string schema,
                       list<string> operands, string result, dag definition>
    : AICFRT_Primitive<mnemonic, number, schema> {
  let operandList = [In<operands[0]>]
      # !foreach(o, !tail(operands), Same<o, operands[0]>);
  let resultList = [Like<result, operands[0]>];
  let ties = !foreach(o, operands, Tie<result, o>);
  let scalar = definition;
  let constraints = []<string>;
}

def AICFRT_ReluOp : AICFRT_Pointwise<"relu", 2, "", ["x"], "y",
    (pick (lessf $x, 0), 0, $x)> {
  let keepsZeros = "Everywhere";
  let summary = "y = max(x, 0); NaN stays NaN";
  let phase = ForwardPhase;
  let precision = Narrow;
  let scaling = Linear; // max(s·x, 0) = s·max(x, 0) for s > 0
}

def AICFRT_ReluBwdOp : AICFRT_Pointwise<"relu_bwd", 3, "", ["dy", "saved"],
    "dx", (pick (greaterf $saved, 0), $dy, 0)> {
  let keepsZeros = "Everywhere";
  let summary = "dx = saved > 0 ? dy : 0";
  let text = [{
    `saved` is relu's input or its output: both have the same sign.
  }];
  let phase = BackwardPhase;
  let precision = Narrow;
  let scaling = Linear;
}

def AICFRT_AddOp : AICFRT_Pointwise<"add", 4, "", ["a", "b"], "c",
    (addf $a, $b)> {
  let keepsZeros = "Everywhere";
  let summary = "c = a + b, element by element, no broadcasting";
  let phase = ForwardPhase;
  let precision = Narrow;
  let scaling = Sum;
}

def AICFRT_ReciprocalOp : AICFRT_Pointwise<"reciprocal", 27, "", ["x"], "y",
    (divf 1, $x)> {
  let summary = "y = 1/x";
  let phase = ForwardPhase;
  let precision = Wide;
  let scaling = NotScaled;
}

// GELU: Hendrycks & Gimpel 2016, "Gaussian Error Linear Units". The distribution
// function of the normal distribution, or their approximation by tanh. As erfc and
// as a sigmoid, (1 + tanh u)/2 = 1/(1 + exp(-2u)): 1 + erf and 1 + tanh would round
// small values away. 1.5957691216057308 is 2·sqrt(2/pi), 0.3989422804014327
// 1/sqrt(2·pi).
defvar NormalCdf = (mulf "0.5", (erfcf (mulf $x, "-0.7071067811865476")));
defvar NormalPdf = (mulf "0.3989422804014327",
                         (expf (mulf "-0.5", (mulf $x, $x))));
defvar TanhCdf = (divf 1, (addf 1, (expf (mulf "-1.5957691216057308",
    (addf $x, (mulf "0.044715", (mulf $x, (mulf $x, $x))))))));
defvar TanhSlope = (mulf "1.5957691216057308",
    (addf 1, (mulf "0.134145", (mulf $x, $x))));
// 0 far out, where the slope may be infinite.
defvar TanhFlank = (mulf TanhCdf, (subf 1, TanhCdf));

def AICFRT_GeluOp : AICFRT_Pointwise<"gelu", 31, "GELU", ["x"], "y",
    (mulf $x, (pick $approximate, TanhCdf, NormalCdf))> {
  let keepsZeros = "Everywhere";
  let summary = "y = x · Φ(x), Φ the normal distribution function";
  let text = [{
    Φ(x) = (1 + erf(x/√2))/2, or with `approximate` (PyTorch's "tanh")
    (1 + tanh(√(2/π)·(x + 0.044715·x³)))/2. NaN for -∞, as -∞·0 is.
  }];
  let fields = [BoolField<"approximate">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let scaling = NotScaled;
}

def AICFRT_GeluBwdOp : AICFRT_Pointwise<"gelu_bwd", 32, "GELB", ["dy", "x"],
    "dx",
    (mulf $dy, (pick $approximate,
        (addf TanhCdf,
              (pick (greaterf TanhFlank, 0),
                    (mulf (mulf $x, TanhFlank), TanhSlope), 0)),
        (addf NormalCdf, (mulf $x, NormalPdf))))> {
  let keepsZeros = "Everywhere";
  let summary = "dx = dy · d gelu(x)/dx";
  let text = [{
    x is gelu's operand. Without `approximate` NaN where it is infinite.
  }];
  let fields = [BoolField<"approximate">];
  let phase = BackwardPhase;
  let precision = Narrow;
  let scaling = Linear;
}

def AICFRT_BiasAddOp : AICFRT_Primitive<"bias_add", 1, "BADD"> {
  let keepsZeros = "InColumns";
  let summary = "out = y + b, b broadcast along every dimension but `axis`";
  let text = "\n    `axis` -1 is the last dimension.\n";
  let operandList = [In<"y">, In<"b">];
  let resultList = [Like<"out", "y">];
  let ties = [Tie<"out", "y">];
  let fields = [I64Field<"axis", AnyNumber, "-1">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let scaling = Sum;
  let constraints = ["b has rank 1 and y's element type.",
                     "`axis` is -1 or a dimension of y.",
                     "b's size is y's dimension `axis`."];
}

class AICFRT_CopyLike<string mnemonic, int number>
    : AICFRT_Primitive<mnemonic, number> {
  let keepsZeros = "Everywhere";
  let operandList = [In<"x", AnyElement>];
  let resultList = [Like<"y", "x">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let scaling = Linear;
  let constraints = []<string>;
}

def AICFRT_CopyOp : AICFRT_CopyLike<"copy", 5> {
  let summary = "y = x, bit for bit";
  let text = [{
    Never folded: only named passes remove it. Protective copies that
    `--aicf-rt-materialize-updates` inserts are copies with the discardable
    attribute `aicf_rt.protective`; only `--aicf-rt-annotate-inplace` removes
    those.
  }];
}

def AICFRT_CopySavedOp : AICFRT_CopyLike<"copy_saved", 6> {
  let summary = "y = x, kept for the backward pass";
  let text = "\n    Never folded: only named passes remove it.\n";
}

def AICFRT_CastOp : AICFRT_Primitive<"cast", 7> {
  let keepsZeros = "Everywhere";
  let summary = "y = x converted to y's element type, rounded to nearest even";
  let operandList = [In<"x">];
  let resultList = [Checked<"y", FloatElement>];
  let phase = ForwardPhase;
  let precision = Wide;
  let scaling = Linear;
  let constraints = ["y has x's shape."];
}

//===----------------------------------------------------------------------===//
// Their ops of a step
//===----------------------------------------------------------------------===//

def AICF_ReluOp : AICF_OpOf<AICFRT_ReluOp> { let hasFolder = 1; }

def AICF_ReluBwdOp : AICF_OpOf<AICFRT_ReluBwdOp>;

def AICF_AddOp : AICF_OpOf<AICFRT_AddOp, "add", [Commutative]>;

def AICF_ReciprocalOp : AICF_OpOf<AICFRT_ReciprocalOp>;
def AICF_GeluOp : AICF_OpOf<AICFRT_GeluOp>;
def AICF_GeluBwdOp : AICF_OpOf<AICFRT_GeluBwdOp>;

def AICF_SaveOp : AICF_OpOf<AICFRT_CopySavedOp, "save">;

def AICF_CopyOp : AICF_OpOf<AICFRT_CopyOp>;

def AICF_CastOp : AICF_OpOf<AICFRT_CastOp> {
  let stepAttrs = (ins TypeAttr:$dtype);
  let stepConstraints = ["`dtype`, y's element type, is f16, bf16, f32 or f64."];
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

def PointwiseCpu : KernelFamily<"pointwise", "CPU"> {
  let everyPointwise = 1;
  let variants = EveryFloat.each;
  let kernel = "pointwise<functor::$Kind, $T>";
}
def PointwiseCuda : KernelFamily<"pointwise", "CUDA"> {
  let everyPointwise = 1;
  let variants = Vectors.each;
  let kernel = "pointwise<functor::$Kind, $T, $V>";
}

def BiasAddCpu : KernelFamily<"pointwise", "CPU"> {
  let kinds = [AICFRT_BiasAddOp];
  let variants = EveryFloat.each;
  let kernel = "biasAdd<$T>";
}
def BiasAddCuda : KernelFamily<"pointwise", "CUDA"> {
  let kinds = [AICFRT_BiasAddOp];
  let variants = Vectors.each;
  let kernel = "biasAdd<$T, $V>";
}

def CopyCpu : KernelFamily<"pointwise", "CPU"> {
  let kinds = [AICFRT_CopyOp, AICFRT_CopySavedOp];
  let variants = EveryType.each;
  let kernel = "copy<$Args>";
}
def CopyCuda : KernelFamily<"pointwise", "CUDA"> {
  let kinds = [AICFRT_CopyOp, AICFRT_CopySavedOp];
  let variants = EveryType.each;
  let kernel = "copy<$Args>";
}

def CastCpu : KernelFamily<"pointwise", "CPU"> {
  let kinds = [AICFRT_CastOp];
  let variants = [From<"f32", "f64">, From<"f64", "f32">, From<"f32", "f16">,
                  From<"f16", "f32">, From<"f32", "bf16">, From<"bf16", "f32">];
  let kernel = "cast<$T, $U>";
  let takesPads = 1;
}
def CastCuda : KernelFamily<"pointwise", "CUDA"> {
  let kinds = [AICFRT_CastOp];
  let variants = [From<"f32", "f16", 4>, From<"f32", "f16">,
                  From<"f32", "bf16", 4>, From<"f32", "bf16">,
                  From<"f16", "f32", 4>, From<"f16", "f32">,
                  From<"bf16", "f32", 4>, From<"bf16", "f32">,
                  From<"f32", "f64">, From<"f64", "f32">];
  let kernel = "cast<$T, $U, $V>";
  let takesPads = 1;
}

#endif // AICF_KERNELS_POINTWISE_FAMILY_TD
