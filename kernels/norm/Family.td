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
include "kernels/math/Family.td"
include "kernels/pointwise/Family.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

def ReduceSumPrimitive : Primitive<"reduce_sum", 10, "RSUM"> {
  let reduction = SumReduction;
  let keepsZeros = ZerosKeptEverywhere;
  let summary = "y = x summed over dimension `axis`";
  let text = [{
    The shape of y says which dimensions are summed: `axis` alone, or all from 0 to
    `axis`. In the first case, y may keep dimension `axis` with size 1 or drop it.
    Inside a body, y drops `axis` alone.
  }];
  let operandList = [In<"x">];
  let resultList = [Checked<"y", FloatElement, /*infers=*/1>];
  let fields = [I64Field<"axis", AnyNumber, "0">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["`axis` is a dimension of x.",
                     "x and y have the same element type.",
                     "y has x's shape with dimension `axis` dropped or of size 1, or "
                     "with dimensions 0 to `axis` dropped."];
}

/// How reduce_sum, and the primitives with its shapes, say which elements go together.
defvar SummedShape = "with dimension `axis` dropped or of size 1, or with dimensions 0 "
                     "to `axis` dropped.";

def ReduceMeanPrimitive : Primitive<"reduce_mean", 63, "RMEA"> {
  let reduction = MeanReduction;
  let summary = "y = the mean of x over dimension `axis`";
  let text = [{
    As for reduce_sum, the shape of y says which dimensions are reduced. 16-bit values
    are summed and divided in f32 or wider.
  }];
  let operandList = [In<"x">];
  let resultList = [Checked<"y", FloatElement, /*infers=*/1>];
  let fields = [I64Field<"axis", AnyNumber, "0">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["`axis` is a dimension of x.",
                     "x and y have the same element type.",
                     !strconcat("y has x's shape ", SummedShape)];
}

class ExtremumPrimitive<string mnemonic, int number, string schema, string what>
    : Primitive<mnemonic, number, schema> {
  let summary = "y = the " # what # " element of x along dimension `axis`; index = its "
                "position";
  let text = [{
    As for reduce_sum, the shape of y says which dimensions are reduced. `index` is the
    position among the elements that are compared. Of equal elements, the first is
    taken. A NaN is taken before all other values, as in PyTorch.
  }];
  let operandList = [In<"x">];
  let resultList = [Checked<"y", FloatElement>, Checked<"index", I32Element>];
  let fields = [I64Field<"axis", AnyNumber, "0">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["`axis` is a dimension of x.",
                     "x and y have the same element type.",
                     !strconcat("y has x's shape ", SummedShape),
                     "index has y's shape. Each element of y is chosen among fewer "
                     "than 2^31 elements of x."];
}
def ReduceMaxPrimitive
    : ExtremumPrimitive<"reduce_max", 64, "RMAX", "largest">;
def ReduceMinPrimitive
    : ExtremumPrimitive<"reduce_min", 65, "RMIN", "smallest">;

def ExtremumBwdPrimitive : Primitive<"extremum_bwd", 66, "EXTB"> {
  let summary = "gradient of reduce_max and reduce_min";
  let text = [{
    dx is dy at the element that index names, and zero elsewhere. An index that is out of
    range names no element.
  }];
  let operandList = [In<"dy">, In<"index", IntElement>];
  let resultList = [Checked<"dx", FloatElement>];
  let fields = [I64Field<"axis", AnyNumber, "0">];
  let phase = BackwardPhase;
  let precision = Narrow;
  let constraints = ["`axis` is a dimension of dx.",
                     "dy and dx have the same element type.",
                     !strconcat("dy has dx's shape ", SummedShape),
                     "index has dy's shape."];
}

def ExpandPrimitive : Primitive<"expand", 54, "EXPD"> {
  let summary = "y = x repeated along dimension `axis`";
  let text = [{
    By itself, this primitive is for plans before version 4.1. Today, a broadcast is a
    view. If no kernel takes the view, the compiler copies it. Inside a body there are no
    views. There this primitive repeats what is left of a reduction, and y has the shape
    of what the body reduces along `axis` on the way to x. The shapes are those of
    reduce_sum, the other way round: x has dimension `axis` with size 1, or lacks it, or
    lacks all dimensions from 0 to `axis`. The shape of x says which.
  }];
  let operandList = [In<"x">];
  let resultList = [Checked<"y", FloatElement, /*infers=*/1>];
  let fields = [I64Field<"axis", AnyNumber, "0">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["`axis` is a dimension of y.",
                     "x and y have the same element type.",
                     "x has y's shape with dimension `axis` dropped or of size 1, or "
                     "with dimensions 0 to `axis` dropped."];
}

def LayerNormPrimitive : Primitive<"layer_norm", 11, "LNRM"> {
  let summary = "y = (x - mean) · rstd · gamma + beta over the last dimension";
  let text = [{
    rstd is 1/sqrt(var + eps), where var is the biased variance. mean and rstd have x's
    shape without the last dimension. The source is Ba, Kiros, Hinton 2016.
  }];
  let operandList = [In<"x">, In<"gamma">, In<"beta">];
  let resultList = [Like<"y", "x">, RowsOf<"mean", "x">, RowsOf<"rstd", "x">];
  let ties = [Tie<"y", "x">];
  let fields = [F64Field<"eps", NonNegative, "1e-5">];
  let phase = ForwardPhase;
  let precision = Narrow;
  let constraints = ["x has rank 1 or more.",
                     "gamma and beta have shape [last dimension of x].",
                     "x, gamma and beta have the same element type."];
  defvar average = (RowMean $x);
  defvar distance = (SubPrimitive $x, (EachRow average));
  defvar variance = (RowMean (MulPrimitive distance, distance));
  defvar inverse = (RsqrtPrimitive (AddScalarPrimitive variance, $eps));
  defvar normal = (MulPrimitive distance, (EachRow inverse));
  let rows = [(AddPrimitive (MulPrimitive normal, (OfEachRow $gamma)), (OfEachRow $beta)),
              average, inverse];
}

def LayerNormBwdPrimitive : Primitive<"layer_norm_bwd", 12> {
  let summary = "gradients of layer_norm";
  let text = [{
    Let h be (x - mean)·rstd, and let g be dy·gamma. For each row,
    dx = rstd·(g - mean(g) - h·mean(g·h)). Over all rows, dgamma = Σ dy·h and
    dbeta = Σ dy.
  }];
  let operandList = [In<"dy">, In<"x">, In<"gamma">, In<"mean">, In<"rstd">];
  let resultList = [Like<"dx", "x">, Like<"dgamma", "gamma">,
                    Like<"dbeta", "gamma">];
  let phase = BackwardPhase;
  let precision = Narrow;
  let constraints = ["dy and x have the same type, and their rank is 1 or more.",
                     "gamma has shape [last dimension of x].",
                     "mean and rstd have x's shape without the last dimension.",
                     "all operands have the same element type."];
}

//===----------------------------------------------------------------------===//
// The ops of a step
//===----------------------------------------------------------------------===//

def AICF_LayerNormOp : AICF_OpOf<LayerNormPrimitive> {
  let gradient = [{
    if (g.isUsed(getMean()) || g.isUsed(getRstd())) {
      return emitOpError() << "the loss depends on its mean or rstd, which have "
                              "no derivative: use stop_gradient if that is "
                              "intended";
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
/// Sums of views, by their strides. Where few sums have many elements, a copy and a
/// kernel that shares a sum among blocks take less time on a GPU.
class StridedSums<string unit, Device on, Primitive kind, string kernelName>
    : KernelFamily<unit, on> {
  let kinds = [kind];
  let variants = EveryFloat.each;
  let kernel = kernelName # "Strided<$T>";
  let variantName = "strided";
  let preference = 2;
  let strided = [Strided<kind, "x", AnyStrides>];
}
def ReduceSumStridedCpu : StridedSums<"norm", CPU, ReduceSumPrimitive, "reduceSum">;
def ReduceMeanStridedCpu : StridedSums<"norm", CPU, ReduceMeanPrimitive, "reduceMean">;
class StridedSumsOnCuda<Primitive kind, string kernelName>
    : StridedSums<"sums", CUDA, kind, kernelName> {
  let pays = "hasSumsForAllBlocks(c, costs)";
}
def ReduceSumStridedCuda : StridedSumsOnCuda<ReduceSumPrimitive, "reduceSum">;
def ReduceMeanStridedCuda : StridedSumsOnCuda<ReduceMeanPrimitive, "reduceMean">;

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
  let strided = [Strided<LayerNormBwdPrimitive, "dy", RowsAnywhere>];
  let variants = EveryFloat.each;
  let kernel = "layerNormBwd<$T>";
}

/// The workspace holds the states of chunks.
class Reductions<Primitive kind> : KernelFamily<"reductions", CUDA> {
  let kinds = [kind];
  let variants = EveryFloat.each;
  let workspaceCap = "kReductionWorkspaceCap";
}
/// Each version adds in another order than the ones before: it has chunks for
/// `perMultiprocessor` blocks of each multiprocessor.
class LargeSums<Primitive kind, string kernelName, string of, int perMultiprocessor>
    : Reductions<kind> {
  let kernel = kernelName # "<$T, " # perMultiprocessor # ">";
  let pays = of # "(c)";
  let workspace = "sumWorkspace(c, " # perMultiprocessor # ")";
}
class LongOrNarrowSums<Primitive kind, string kernelName>
    : LargeSums<kind, kernelName, "isLongOrNarrow", 8> {
  let version = 1;
  let preference = 0;
}
def LargeSumCuda : LongOrNarrowSums<ReduceSumPrimitive, "sumOf">;
def LargeMeanCuda : LongOrNarrowSums<ReduceMeanPrimitive, "meanOf">;
/// Fewer chunks than with version 1, which had twice as many blocks as fit side by side.
class LargeColumnSums<Primitive kind, string kernelName>
    : LargeSums<kind, kernelName, "areLargeColumns", 4> {
  let version = 2;
  let preference = -1;
}
def LargeColumnSumCuda : LargeColumnSums<ReduceSumPrimitive, "sumOf">;
def LargeColumnMeanCuda : LargeColumnSums<ReduceMeanPrimitive, "meanOf">;
class Extrema<Primitive kind, string isMax> : Reductions<kind> {
  let kernel = "extremumOf<$T, " # isMax # ", $Args>";
  let workspace = "extremumWorkspace(c)";
}
def ReduceMaxCuda : Extrema<ReduceMaxPrimitive, "true">;
def ReduceMinCuda : Extrema<ReduceMinPrimitive, "false">;

/// The workspace holds the partial sums of chunks of rows.
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
/// The gradients of a bias and of what it was added to, if a relu follows.
def ReluBwdReduce : BodyPattern<"relu_bwd_reduce", [
    Node<"bwd", ReluBwdPrimitive>, Node<"sum", ReduceSumPrimitive>]> {
  let bindings = ["sum.x = bwd.dx"];
  let keeps = ["bwd.dx"];
  let ties = ["bwd.dx = bwd.dy", "bwd.dx = bwd.saved"];
}
def ReluBwdReduceCuda : Sums {
  let patterns = [ReluBwdReduce];
  let takes = "sumsRows(c)";
  let kernel = "reluBwdReduce<$T, false>";
}
/// It adds in another order than version 0.
def ReluBwdReduceNarrowCuda : Sums {
  let patterns = [ReluBwdReduce];
  let takes = "sumsRows(c)";
  let pays = "hasManyNarrowRows(c)";
  let kernel = "reluBwdReduce<$T, true>";
  let version = 1;
  let preference = 0;
}
/// A residual connection and the norm that follows it.
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
class LayerNormBwdOnCuda<string unit> : KernelFamily<unit, CUDA> {
  let kinds = [LayerNormBwdPrimitive];
  let strided = [Strided<LayerNormBwdPrimitive, "dy", RowsAnywhere>];
  let variants = EveryFloat.each;
}
def LayerNormBwdCuda : LayerNormBwdOnCuda<"layer_norm"> {
  let kernel = "layerNormBwd<$T>";
}
/// It adds in another order than version 0. The workspace holds the sums of blocks.
def LayerNormBwdRowsCuda : LayerNormBwdOnCuda<"layer_norm_bwd"> {
  let kernel = "layerNormBwdOfRows<$T>";
  let takes = "hasShortRows(c)";
  let pays = "hasManyRows(c)";
  let workspace = "layerNormBwdWorkspace(c)";
  let workspaceCap = "kLayerNormWorkspaceCap";
  let version = 1;
  let preference = 0;
}

/// Where lanes have whole vectors. It adds in another order than version 1, and than
/// version 2, which is gone.
def LayerNormBwdVectorsCuda : LayerNormBwdOnCuda<"layer_norm_bwd_vectors"> {
  let variants = [On<"f32">, On<"f16">, On<"bf16">];
  let kernel = "layerNormBwdOfVectors<$T>";
  let takes = "hasRowsOfVectors(c)";
  let pays = "hasManyRows(c)";
  let alignment = 16;
  let workspace = "layerNormVectorsWorkspace(c)";
  let workspaceCap = "kLayerNormVectorsCap";
  let version = 3;
  let preference = -1;
}

/// What a layer norm adds to the gradient of a residual connection, and the sums of rows of
/// that: the gradient of a bias in front of it.
def LayerNormBwdAdd : BodyPattern<"layer_norm_bwd_add", [
    Node<"bwd", LayerNormBwdPrimitive>, Node<"add", AddPrimitive>,
    Maybe<"sum", ReduceSumPrimitive>]> {
  let bindings = ["add.b = bwd.dx", "sum.x = add.c"];
  let keeps = ["add.c"];
  let ties = ["add.c = add.a", "add.c = bwd.x"];
}
/// dx is rounded before it is added, as in calls of their own.
def LayerNormBwdAddCuda : KernelFamily<"layer_norm_bwd_vectors", CUDA> {
  let patterns = [LayerNormBwdAdd];
  let strided = [Strided<LayerNormBwdPrimitive, "dy", RowsAnywhere>];
  let variants = [On<"f32">, On<"f16">, On<"bf16">];
  let kernel = "layerNormBwdAddOfVectors<$T>";
  let takes = "hasRowsOfVectors(c.bwd()) && sumsAllRows(c)";
  let pays = "hasManyRows(c.bwd())";
  let alignment = 16;
  let workspace = "layerNormAddWorkspace(c)";
  let workspaceCap = "kLayerNormAddCap";
  let version = 1;
}

#endif // AICF_KERNELS_NORM_FAMILY_TD
