//===- Family.td - sums and normalisation ---------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_NORM_FAMILY_TD
#define AICF_KERNELS_NORM_FAMILY_TD

include "aicf/Dialect/AICF/AICFBase.td"
include "lib/Ops/KernelFamily.td"
include "kernels/pointwise/Family.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

def ReduceSumPrimitive : Primitive<"reduce_sum", 10, "RSUM"> {
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "y = x summed over dimension `axis`";
  let text = [{
    Whether the dimension is kept (as 1) or dropped, or all up to it are summed,
    shows in y's shape.
  }];
  let operandList = [In<"x">];
  let resultList = [Checked<"y", FloatElement>];
  let fields = [I64Field<"axis", AnyNumber, "0">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["`axis` is a dimension of x.",
                     "x and y have the same element type.",
                     "y has x's shape with dimension `axis` dropped or 1, or "
                     "with dimensions 0 to `axis` dropped."];
}

/// How reduce_sum and what has its shapes say which elements go together.
defvar SummedShape = "with dimension `axis` dropped or 1, or with dimensions 0 to "
                     "`axis` dropped.";

def ReduceMeanPrimitive : Primitive<"reduce_mean", 63, "RMEA"> {
  let summary = "y = the mean of x over dimension `axis`";
  let text = [{
    Which dimensions stay shows in y's shape, as for reduce_sum. 16-bit values are
    summed and divided in f32.
  }];
  let operandList = [In<"x">];
  let resultList = [Checked<"y", FloatElement>];
  let fields = [I64Field<"axis", AnyNumber, "0">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["`axis` is a dimension of x.",
                     "x and y have the same element type.",
                     "y has x's shape " # SummedShape];
}

class ExtremumPrimitive<string mnemonic, int number, string schema, string what>
    : Primitive<mnemonic, number, schema> {
  let summary = "y = the " # what # " of x along dimension `axis`; index says "
                "where it is";
  let text = [{
    Which dimensions stay shows in y's shape, as for reduce_sum. `index` counts the
    elements that are compared; of equal ones the first counts, and a NaN counts
    before all others, as in PyTorch.
  }];
  let operandList = [In<"x">];
  let resultList = [Checked<"y", FloatElement>, Checked<"index", I32Element>];
  let fields = [I64Field<"axis", AnyNumber, "0">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["`axis` is a dimension of x.",
                     "x and y have the same element type.",
                     "y has x's shape " # SummedShape,
                     "index has y's shape, and counts fewer than 2^31 elements."];
}
def ReduceMaxPrimitive
    : ExtremumPrimitive<"reduce_max", 64, "RMAX", "largest">;
def ReduceMinPrimitive
    : ExtremumPrimitive<"reduce_min", 65, "RMIN", "smallest">;

def ExtremumBwdPrimitive : Primitive<"extremum_bwd", 66, "EXTB"> {
  let summary = "gradient of reduce_max and reduce_min";
  let text = [{
    dx is dy at the element that index names, and zero elsewhere; an index outside
    names none.
  }];
  let operandList = [In<"dy">, In<"index", IntElement>];
  let resultList = [Checked<"dx", FloatElement>];
  let fields = [I64Field<"axis", AnyNumber, "0">];
  let phase = BackwardPhase;
  let precision = Narrow;
  let constraints = ["`axis` is a dimension of dx.",
                     "dy and dx have the same element type.",
                     "dy has dx's shape " # SummedShape,
                     "index has dy's shape."];
}

def ExpandPrimitive : Primitive<"expand", 54, "EXPD"> {
  let summary = "y = x repeated along dimension `axis`";
  let text = [{
    Of plans before version 4.1: a broadcast is a view now, and a copy of one where
    no kernel takes it.
    The inverse of reduce_sum's shapes: x has dimension `axis` with size 1, or does
    not have it, or lacks all dimensions up to it. Its shape says which.
  }];
  let operandList = [In<"x">];
  let resultList = [Checked<"y", FloatElement>];
  let fields = [I64Field<"axis", AnyNumber, "0">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["`axis` is a dimension of y.",
                     "x and y have the same element type.",
                     "x has y's shape with dimension `axis` dropped or 1, or "
                     "with dimensions 0 to `axis` dropped."];
}

def LayerNormPrimitive : Primitive<"layer_norm", 11, "LNRM"> {
  let summary = "y = (x - mean) · rstd · gamma + beta over the last dimension";
  let text = [{
    Ba, Kiros, Hinton 2016; variance is the biased one,
    rstd = 1/sqrt(var + eps). mean and rstd have x's shape without the last
    dimension.
  }];
  let operandList = [In<"x">, In<"gamma">, In<"beta">];
  let resultList = [Like<"y", "x">, RowsOf<"mean", "x">, RowsOf<"rstd", "x">];
  let ties = [Tie<"y", "x">];
  let fields = [F64Field<"eps", NonNegative, "1e-5">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["x has rank 1 or more.",
                     "gamma and beta are [last dimension of x].",
                     "x, gamma and beta have the same element type."];
}

def LayerNormBwdPrimitive : Primitive<"layer_norm_bwd", 12> {
  let summary = "gradients of layer_norm";
  let text = [{
    With h = (x - mean)·rstd and g = dy·gamma, a row's
    dx = rstd·(g - mean(g) - h·mean(g·h)); dgamma = Σ dy·h; dbeta = Σ dy.
  }];
  let operandList = [In<"dy">, In<"x">, In<"gamma">, In<"mean">, In<"rstd">];
  let resultList = [Like<"dx", "x">, Like<"dgamma", "gamma">,
                    Like<"dbeta", "gamma">];
  let phase = BackwardPhase;
  let precision = Narrow;
  let constraints = ["dy and x have the same type, of rank 1 or more.",
                     "gamma is [last dimension of x].",
                     "mean and rstd have x's shape without the last dimension.",
                     "all have the same element type."];
}

//===----------------------------------------------------------------------===//
// Their ops of a step
//===----------------------------------------------------------------------===//

def AICF_LayerNormOp : AICF_OpOf<LayerNormPrimitive> {
  let gradient = [{
    if (g.isUsed(getMean()) || g.isUsed(getRstd())) {
      return emitOpError() << "the loss depends on its mean or rstd, which have "
                              "no derivative: stop_gradient says that none is "
                              "meant";
    }
    auto bwd = LayerNormBwdOp::create(
        b, loc, g.cotangent(getY()), g.saved(getX()), g.saved(getGamma()),
        g.saved(getMean()), g.saved(getRstd()));
    g.add(getX(), bwd.getDx());
    g.add(getGamma(), bwd.getDgamma());
    g.add(getBeta(), bwd.getDbeta());
  }];
}

def AICF_LayerNormBwdOp : AICF_OpOf<LayerNormBwdPrimitive>;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def ReduceSumCpu : KernelFamily<"norm", CPU> {
  let kinds = [ReduceSumPrimitive];
  let variants = EveryFloat.each;
  let kernel = "reduceSum<$T>";
}
def ReduceMeanCpu : KernelFamily<"norm", CPU> {
  let kinds = [ReduceMeanPrimitive];
  let variants = EveryFloat.each;
  let kernel = "reduceMean<$T>";
}
def ReduceMaxCpu : KernelFamily<"norm", CPU> {
  let kinds = [ReduceMaxPrimitive];
  let variants = EveryFloat.each;
  let kernel = "reduceExtremum<$T, true, $Args>";
}
def ReduceMinCpu : KernelFamily<"norm", CPU> {
  let kinds = [ReduceMinPrimitive];
  let variants = EveryFloat.each;
  let kernel = "reduceExtremum<$T, false, $Args>";
}
def ExtremumBwdCpu : KernelFamily<"norm", CPU> {
  let kinds = [ExtremumBwdPrimitive];
  let variants = EveryFloat.each;
  let kernel = "extremumBwd<$T>";
}
def ExpandCpu : KernelFamily<"norm", CPU> {
  let kinds = [ExpandPrimitive];
  let variants = EveryFloat.each;
  let kernel = "expand<$T>";
}
def LayerNormCpu : KernelFamily<"norm", CPU> {
  let kinds = [LayerNormPrimitive];
  let variants = EveryFloat.each;
  let kernel = "layerNorm<$T>";
}
def LayerNormBwdCpu : KernelFamily<"norm", CPU> {
  let kinds = [LayerNormBwdPrimitive];
  let variants = EveryFloat.each;
  let kernel = "layerNormBwd<$T>";
}

/// The workspace holds partial sums of chunks of rows.
class Sums : KernelFamily<"sums", CUDA> {
  let variants = EveryFloat.each;
  let workspace = "columnSumsWorkspace(c)";
  let workspaceCap = "kPartialSumsCap";
}
def ReduceSumCuda : Sums {
  let kinds = [ReduceSumPrimitive];
  let kernel = "reduceSum<$T>";
}
def ReduceMeanCuda : Sums {
  let kinds = [ReduceMeanPrimitive];
  let kernel = "reduceMean<$T>";
}
def ReduceMaxCuda : KernelFamily<"extrema", CUDA> {
  let kinds = [ReduceMaxPrimitive];
  let variants = EveryFloat.each;
  let kernel = "reduceExtremum<$T, true, $Args>";
}
def ReduceMinCuda : KernelFamily<"extrema", CUDA> {
  let kinds = [ReduceMinPrimitive];
  let variants = EveryFloat.each;
  let kernel = "reduceExtremum<$T, false, $Args>";
}
def ExtremumBwdCuda : KernelFamily<"extrema", CUDA> {
  let kinds = [ExtremumBwdPrimitive];
  let variants = EveryFloat.each;
  let kernel = "extremumBwd<$T>";
}
def ExpandCuda : KernelFamily<"sums", CUDA> {
  let kinds = [ExpandPrimitive];
  let variants = EveryFloat.each;
  let kernel = "expand<$T>";
}
/// The gradients of a bias and of what it was added to, behind a relu.
def ReluBwdReduce : BodyPattern<"relu_bwd_reduce", [
    Node<"bwd", ReluBwdPrimitive>, Node<"sum", ReduceSumPrimitive>]> {
  let bindings = ["sum.x = bwd.dx"];
  let keeps = ["bwd.dx"];
  let ties = ["bwd.dx = bwd.dy", "bwd.dx = bwd.saved"];
}
def ReluBwdReduceCuda : Sums {
  let patterns = [ReluBwdReduce];
  let condition = "sumsRows(c)";
  let kernel = "reluBwdReduce<$T>";
}
/// A residual connection and the norm behind it.
def AddLayerNorm : BodyPattern<"add_layer_norm", [
    Node<"add", AddPrimitive>, Node<"norm", LayerNormPrimitive>]> {
  let bindings = ["norm.x = add.c"];
  let mayKeep = ["add.c"];
  let ties = ["add.c = add.a", "add.c = add.b", "norm.y = add.a",
              "norm.y = add.b"];
}
def AddLayerNormCuda : KernelFamily<"layer_norm", CUDA> {
  let patterns = [AddLayerNorm];
  let variants = EveryFloat.each;
  let kernel = "addLayerNorm<$T>";
}
def LayerNormCuda : KernelFamily<"layer_norm", CUDA> {
  let kinds = [LayerNormPrimitive];
  let variants = EveryFloat.each;
  let kernel = "layerNorm<$T>";
}
def LayerNormBwdCuda : KernelFamily<"layer_norm", CUDA> {
  let kinds = [LayerNormBwdPrimitive];
  let variants = EveryFloat.each;
  let kernel = "layerNormBwd<$T>";
}

#endif // AICF_KERNELS_NORM_FAMILY_TD
