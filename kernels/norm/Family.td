//===- Family.td - kernels of sums and layer norm -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
include "kernels/KernelFamily.td"

def ReduceSumCpu : KernelFamily<"norm", "CPU"> {
  let kinds = [AICFRT_ReduceSumOp];
  let variants = EveryFloat.each;
  let kernel = "reduceSum<$T>";
}
def LayerNormCpu : KernelFamily<"norm", "CPU"> {
  let kinds = [AICFRT_LayerNormOp];
  let variants = EveryFloat.each;
  let kernel = "layerNorm<$T>";
}
def LayerNormBwdCpu : KernelFamily<"norm", "CPU"> {
  let kinds = [AICFRT_LayerNormBwdOp];
  let variants = EveryFloat.each;
  let kernel = "layerNormBwd<$T>";
}

/// The workspace holds partial sums of chunks of rows.
class Sums<AICFRT_Primitive kind> : KernelFamily<"sums", "CUDA"> {
  let kinds = [kind];
  let variants = EveryFloat.each;
  let workspace = "columnSumsWorkspace";
  let workspaceCap = 33554432;
}
def ReduceSumCuda : Sums<AICFRT_ReduceSumOp> { let kernel = "reduceSum<$T>"; }
def ReluBwdReduceCuda : Sums<AICFRT_ReluBwdReduceOp> {
  let kernel = "reluBwdReduce<$T>";
}
def LayerNormCuda : KernelFamily<"layer_norm", "CUDA"> {
  let kinds = [AICFRT_LayerNormOp];
  let variants = EveryFloat.each;
  let kernel = "layerNorm<$T>";
}
def LayerNormBwdCuda : KernelFamily<"layer_norm", "CUDA"> {
  let kinds = [AICFRT_LayerNormBwdOp];
  let variants = EveryFloat.each;
  let kernel = "layerNormBwd<$T>";
}
