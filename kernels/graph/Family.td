//===- Family.td - graphs of elementwise primitives -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One launch for any number of elementwise primitives, and for sums of their results:
// the body in the plan is the program. The family adds no primitive.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_FAMILY_TD
#define AICF_KERNELS_GRAPH_FAMILY_TD

include "kernels/gemm/Family.td"
include "kernels/norm/Family.td"
include "kernels/softmax/Family.td"
include "lib/Ops/KernelFamily.td"

/// The limits bound what a kernel keeps for each element and what its launch hands over.
def PointwiseGraph
    : GraphPattern<"pointwise_graph", /*primitives=*/32, /*operands=*/16,
                   /*results=*/8>;
/// The sums have one shape and one element type, and the same elements go together.
def PointwiseSums
    : GraphPattern<"pointwise_sums", /*primitives=*/32, /*operands=*/16,
                   /*results=*/8, /*sums=*/2>;

def ReductionGraph
    : GraphPattern<"reduction_graph", /*primitives=*/32, /*operands=*/16,
                   /*results=*/8, /*sums=*/0, /*reductions=*/8>;

/// What a small product gives is in registers, where any graph may go on with it.
def ProductGraph
    : GraphPattern<"product_graph", /*primitives=*/32, /*operands=*/16,
                   /*results=*/8, /*sums=*/0, /*reductions=*/0,
                   /*product=*/[Node<"gemm", GemmPrimitive>]>;

/// Any types, and views anywhere: the code is made of the call.
class GraphKernel<Device on> : KernelFamily<"graph", on> {
  let variants = [OfAnyTypes];
  let stridesEverywhere = 1;
  let provider = Generated;
  let kernel = !if(!eq(on.cpp, "CPU"), "graph", "");
}
defvar OneShape = "haveOneShape(GraphView(call))";
defvar SumsOfOneShape = OneShape # " && sumsGoTogether(GraphView(call))";
defvar ProductOfOneShape = OneShape # " && productKeepsType(GraphView(call))";

/// Views of a primitive, which alone is a graph, too. Dense tensors have kernels of the
/// primitive's own, which need not be made of a call.
class PointwiseViews<Device on> : GraphKernel<on> {
  let everyPointwise = 1;
  let variantName = "graph";
  let preference = 2;
}
def PointwiseViewsCpu : PointwiseViews<CPU>;
def PointwiseViewsCuda : PointwiseViews<CUDA>;
class BiasAddViews<Device on> : GraphKernel<on> {
  let kinds = [BiasAddPrimitive];
  let variantName = "graph";
  let preference = 2;
}
def BiasAddViewsCpu : BiasAddViews<CPU>;
def BiasAddViewsCuda : BiasAddViews<CUDA>;

class PointwiseGraphKernel<Device on> : GraphKernel<on> {
  let patterns = [PointwiseGraph];
  let takes = OneShape;
}
def PointwiseGraphCpu : PointwiseGraphKernel<CPU>;
def PointwiseGraphCuda : PointwiseGraphKernel<CUDA>;
def PointwiseSumsCpu : GraphKernel<CPU> {
  let patterns = [PointwiseSums];
  let takes = SumsOfOneShape;
}
/// Some rows at a time, so each must be short enough for a cache.
def ReductionGraphCpu : GraphKernel<CPU> {
  let patterns = [ReductionGraph];
  let takes = "hasRows(GraphView(call))";
}
def ProductGraphCuda : GraphKernel<CUDA> {
  let patterns = [ProductGraph];
  let takes = ProductOfOneShape;
  let pays = "hasSmallProduct(GraphView(call), costs)";
  let strided = ProductOperands;
}
/// Patterns of a library's, whose kernels take no f32.
def ProductPatternsCuda : GraphKernel<CUDA> {
  let patterns = [GemmBiasGelu, GemmGeluBwd];
  let takes = ProductOfOneShape;
  let pays = "hasSmallProduct(GraphView(call), costs) && "
             "!rules::isHalf(GraphView(call).values()[0].dtype)";
  let variantName = "graph";
  let strided = ProductOperands;
  let preference = 4;
}
/// The workspace holds the sums of chunks.
class SumsKernel<BodyPattern pattern> : GraphKernel<CUDA> {
  let patterns = [pattern];
  let takes = SumsOfOneShape;
  let workspace = "sumsOfGraphWorkspace(GraphView(call))";
  let workspaceCap = "kGraphSums * kReductionWorkspaceCap";
}
def PointwiseSumsCuda : SumsKernel<PointwiseSums>;
/// The pattern has kernels of its own, which take no views.
def ReluBwdReduceViewsCuda : SumsKernel<ReluBwdReduce> {
  let variantName = "strided";
  let preference = 2;
}
/// A group of threads has all that is reduced together, row by row or a few columns at a
/// time. It pays with enough groups for a card.
def ReductionGraphCuda : GraphKernel<CUDA> {
  let patterns = [ReductionGraph];
  let takes = "hasGroups(GraphView(call))";
  let pays = "groupsPay(GraphView(call), costs)";
}
/// Primitives that are defined by rows, of large tensors: any shape and any strides.
class RowKernel<list<Primitive> of, list<BodyPattern> as = []> : GraphKernel<CUDA> {
  let kinds = of;
  let patterns = as;
  let takes = "hasGroups(GraphView(call))";
  let pays = "largeGroupsPay(GraphView(call), costs)";
  let variantName = "graph";
  let preference = 0;
}
def SoftmaxGraphCuda : RowKernel<[SoftmaxPrimitive]>;
def SoftmaxBwdGraphCuda : RowKernel<[SoftmaxBwdPrimitive]>;
def LogSoftmaxGraphCuda : RowKernel<[LogSoftmaxPrimitive]>;
def LogSoftmaxBwdGraphCuda : RowKernel<[LogSoftmaxBwdPrimitive]>;
def LayerNormGraphCuda : RowKernel<[LayerNormPrimitive]>;
def AddLayerNormGraphCuda : RowKernel<[], [AddLayerNorm]>;

#endif // AICF_KERNELS_GRAPH_FAMILY_TD
