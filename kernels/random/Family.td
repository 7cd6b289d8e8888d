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

#endif // AICF_KERNELS_RANDOM_FAMILY_TD
