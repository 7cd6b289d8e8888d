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
  let summary = "y = x/(1-p) for elements that are kept, else 0";
  let text = [{
    Element i is kept with probability 1-p (Srivastava et al. 2014). Philox4x32-10
    (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3") makes four words
    from the key `seed` and the counter (i / 4, step). Element i is kept if word i mod 4
    is at least p·2^32, rounded down. Give each dropout layer of a step its own seed. The
    same seed and step make the same mask on every device. So the gradient draws the mask
    again, and nothing stores it.
  }];
  let operandList = [In<"x">, In<"step", IntElement>];
  let resultList = [Like<"y", "x">];
  let ties = [Tie<"y", "x">];
  let spreadOperand = "step";
  let spreadAs = "dropout";
  let fields = [F64Field<"p", BelowOne>, I64Field<"seed", AnyNumber>];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["step is 0-d."];
}

/// Draws numbers that depend only on the seed, the step and their position.
class DrawPrimitive<string mnemonic, int number, string schema>
    : Primitive<mnemonic, number, schema> {
  let operandList = [In<"step", IntElement>];
  let resultList = [Checked<"y", FloatElement>];
  let phase = ForwardPhase;
  let precision = Wide;
  let constraints = ["step is 0-d."];
}

def UniformPrimitive : DrawPrimitive<"uniform", 148, "UNIF"> {
  let summary = "y = low + (high - low) · u, where u is uniform in [0, 1)";
  let text = [{
    If y would be rounded to `high`, it is the next smaller number instead, but not less
    than `low`. For element i, u consists of the highest bits of dropout's word i mod 4:
    24 for f32, 11 for f16, 8 for bf16 and 32 for f64. So the type holds u exactly.
  }];
  let fields = [F64Field<"low", FiniteNumber, "0.0">,
                F64Field<"high", FiniteNumber, "1.0">,
                I64Field<"seed", AnyNumber>];
  let constraints = ["step is 0-d.",
                     "`low` is at most `high`, and high - low is finite in y's type (in "
                     "f32 if that has 16 bits)."];
}

def NormalPrimitive : DrawPrimitive<"normal", 149, "NORM"> {
  let summary = "y = mean + std · z, where z has the standard normal distribution";
  let text = [{
    This is the method of Box & Muller 1958. Two of dropout's four words, a and b, give
    two elements. With u = (a + 1/2)/2^32 and v = b/2^32, z is √(-2 ln u)·cos(2πv) for
    the first element and √(-2 ln u)·sin(2πv) for the second.
  }];
  let fields = [F64Field<"mean", FiniteNumber, "0.0">,
                F64Field<"std", NonNegative, "1.0">,
                I64Field<"seed", AnyNumber>];
}

//===----------------------------------------------------------------------===//
// The ops of a step
//===----------------------------------------------------------------------===//

def AICF_DropoutOp : AICF_OpOf<DropoutPrimitive> {
  let counter = "step";
  let gradient = [{
    g.add(getX(), DropoutOp::create(b, loc, g.cotangent(getY()),
                                    g.saved(getStep()), getPAttr(),
                                    getSeedAttr()));
  }];
}

/// They have no gradient: nothing that is trained comes before them.
class AICF_Draw<Primitive record> : AICF_OpOf<record> {
  let counter = "step";
  let stepAttrs = (ins DenseI64ArrayAttr:$shape, OptionalAttr<TypeAttr>:$dtype);
  let stepConstraints = ["`shape` is y's shape: up to 8 numbers in [1, 2^31). `dtype` "
                         "is f16, bf16, f32 (the default) or f64."];
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
