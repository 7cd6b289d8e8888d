//===- Family.td - graphs of elementwise primitives -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One launch for any number of elementwise primitives: the body in the plan is the
// program. The family adds no primitive.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_FAMILY_TD
#define AICF_KERNELS_GRAPH_FAMILY_TD

include "lib/Ops/KernelFamily.td"

/// The limits bound what a kernel keeps for each element and what its launch hands over.
def PointwiseGraph
    : GraphPattern<"pointwise_graph", /*primitives=*/32, /*operands=*/16,
                   /*results=*/8>;

class PointwiseGraphKernel<Device on> : KernelFamily<"graph", on> {
  let patterns = [PointwiseGraph];
  let variants = [OfAnyTypes];
  let condition = "haveOneShape(c)";
  let stridesEverywhere = 1;
}
def PointwiseGraphCpu : PointwiseGraphKernel<CPU> {
  let kernel = "pointwiseGraph";
}
def PointwiseGraphCuda : PointwiseGraphKernel<CUDA> {
  let provider = Generated;
}

#endif // AICF_KERNELS_GRAPH_FAMILY_TD
