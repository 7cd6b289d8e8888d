//===- Family.td - what draws random numbers ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_RANDOM_FAMILY_TD
#define AICF_KERNELS_RANDOM_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "lib/Ops/KernelFamily.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

def DropoutPrimitive : Primitive<"dropout", 57, "DROP"> {
  let summary = "y = x/(1-p) where element i is kept, else 0";
  let text = [{
    Srivastava et al. 2014. Element i is kept with probability 1-p: word i mod 4 of
    Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2,
    3") under the key `seed`, of the counter (i / 4, step), is at least p·2^32. Two
    layers of a step need two seeds. The same numbers make the same mask on every
    device: the gradient draws it again, and nothing keeps it.
  }];
  let operandList = [In<"x">, In<"step", IntElement>];
  let resultList = [Like<"y", "x">];
  let ties = [Tie<"y", "x">];
  let fields = [F64Field<"p", BelowOne>, I64Field<"seed", AnyNumber>];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["step is 0-d."];
}

/// Numbers of (seed, step) and of where they stand alone.
class DrawPrimitive<string mnemonic, int number, string schema>
    : Primitive<mnemonic, number, schema> {
  let operandList = [In<"step", IntElement>];
  let resultList = [Checked<"y", FloatElement>];
  let phase = ForwardPhase;
  let precision = Wide;
  let constraints = ["step is 0-d."];
}

def UniformPrimitive : DrawPrimitive<"uniform", 148, "UNIF"> {
  let summary = "y = low + (high - low) · u, u even in [0, 1)";
  let text = [{
    Where that is rounded to `high`, y is the number below it. u has the first 24
    bits of dropout's word i mod 4 (11 for f16, 8 for bf16, 32 for f64): multiples of
    a power of two, which the type has.
  }];
  let fields = [F64Field<"low", FiniteNumber, "0.0">,
                F64Field<"high", FiniteNumber, "1.0">,
                I64Field<"seed", AnyNumber>];
  let constraints = ["step is 0-d.",
                     "`low` is at most `high`, and high - low is finite in y's type (f32 "
                     "for 16 bits)."];
}

def NormalPrimitive : DrawPrimitive<"normal", 149, "NORM"> {
  let summary = "y = mean + std · z, z of the normal distribution";
  let text = [{
    Box & Muller 1958: of words a, b of dropout's four, z is √(-2 ln u) times
    cos(2πv), and sin(2πv) for the next element, u = (a + 1/2)/2^32, v = b/2^32.
  }];
  let fields = [F64Field<"mean", FiniteNumber, "0.0">,
                F64Field<"std", NonNegative, "1.0">,
                I64Field<"seed", AnyNumber>];
}

//===----------------------------------------------------------------------===//
// Its op of a step
//===----------------------------------------------------------------------===//

def AICF_DropoutOp : AICF_OpOf<DropoutPrimitive> {
  let counter = "step";
  let gradient = [{
    g.add(getX(), DropoutOp::create(b, loc, g.cotangent(getY()),
                                    g.saved(getStep()), getPAttr(),
                                    getSeedAttr()));
  }];
}

/// Nothing that is trained is before them.
class AICF_Draw<Primitive record> : AICF_OpOf<record> {
  let counter = "step";
  let stepAttrs = (ins DenseI64ArrayAttr:$shape, OptionalAttr<TypeAttr>:$dtype);
  let stepConstraints = ["`shape`, y's, has up to 8 numbers in [1, 2^31); `dtype` is "
                         "f16, bf16, f32 (the default) or f64."];
  let assemblyFormat = "$step `to` $shape attr-dict `:` type($step)";
  let more = [{
    static ::llvm::LogicalResult
    inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
               ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
}
def AICF_UniformOp : AICF_Draw<UniformPrimitive>;
def AICF_NormalOp : AICF_Draw<NormalPrimitive>;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

class Dropout<Device device> : KernelFamily<"random", device> {
  let kinds = [DropoutPrimitive];
  let variants = EveryFloat.each;
  let kernel = "dropout<$T>";
}
def DropoutCpu : Dropout<CPU>;
def DropoutCuda : Dropout<CUDA>;

class Draw<Device device, Primitive kind, string function>
    : KernelFamily<"random", device> {
  let kinds = [kind];
  let variants = !foldl([]<Variant>, ["f32", "f64", "f16", "bf16"], all, type,
                        all # [From<"i32", type>, From<"i64", type>]);
  let kidTypes = KidTypesBoth;
  let kernel = function;
}
def UniformCpu : Draw<CPU, UniformPrimitive, "uniform<$U>">;
def UniformCuda : Draw<CUDA, UniformPrimitive, "uniform<$U, $T>">;
def NormalCpu : Draw<CPU, NormalPrimitive, "normal<$U>">;
def NormalCuda : Draw<CUDA, NormalPrimitive, "normal<$U, $T>">;

#endif // AICF_KERNELS_RANDOM_FAMILY_TD
