//===- Family.td - sums of all elements before -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_SCAN_FAMILY_TD
#define AICF_KERNELS_SCAN_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "lib/Ops/KernelFamily.td"

def CumsumPrimitive : Primitive<"cumsum", 145, "CUMS"> {
  let summary = "y[i] = the sum of x[0] to x[i] along `axis`";
  let text = [{
    With `reversed`, y[i] is the sum of x[i] to the last element. Floats are added in f64,
    in an order that depends only on the shape. Integers wrap.
  }];
  let operandList = [In<"x", NumberElement>];
  let resultList = [Like<"y", "x">];
  let ties = [Tie<"y", "x">];
  let fields = [I64Field<"axis", NonNegative31>, BoolField<"reversed">];
  let phase = ForwardPhase;
  let precision = Wide;
  let constraints = ["`axis` is a dimension of x."];
}

/// x[i] is part of y[i] and of all elements after it, so the gradient sums from there.
def AICF_CumsumOp : AICF_OpOf<CumsumPrimitive> {
  let gradient = [{
    g.add(getX(), CumsumOp::create(b, loc, g.cotangent(getY()), getAxisAttr(),
                                   b.getBoolAttr(!getReversed())));
  }];
}

class Cumsum<Device device> : KernelFamily<"scan", device> {
  let kinds = [CumsumPrimitive];
  let variants = EveryFloat.each # [On<"i32">, On<"i64">];
  let kernel = "cumsum<$T>";
}
def CumsumCpu : Cumsum<CPU>;
def CumsumCuda : Cumsum<CUDA>;

#endif // AICF_KERNELS_SCAN_FAMILY_TD
