//===- Family.td - kernels of losses ------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
include "kernels/KernelFamily.td"

def MseLossCpu : KernelFamily<"loss", "CPU"> {
  let kinds = [AICFRT_MseLossOp];
  let variants = EveryFloat.each # HalfToSingle.each;
  let kernel = "mseLoss<$T, $U>";
}
def MseGradCpu : KernelFamily<"loss", "CPU"> {
  let kinds = [AICFRT_MseGradOp];
  let variants = EveryFloat.each;
  let version = 1;
  let kernel = "mseGrad<$T>";
}

def MseGradCuda : KernelFamily<"loss", "CUDA"> {
  let kinds = [AICFRT_MseGradOp];
  let variants = Vectors.each;
  let version = 1;
  let kernel = "mseGrad<$T, $V>";
}
/// The workspace holds a partial sum a block.
def MseLossCuda : KernelFamily<"loss", "CUDA"> {
  let kinds = [AICFRT_MseLossOp];
  let variants = EveryFloat.each # HalfToSingle.each;
  let workspace = "mseWorkspace";
  let workspaceCap = 1048576;
  let kernel = "mseLoss<$T>";
}
/// Result 0 is the loss, of target's type.
def MseLossGradCuda : KernelFamily<"loss", "CUDA"> {
  let kinds = [AICFRT_MseLossGradOp];
  let variants = EveryFloat.each # HalfToSingle.each;
  let version = 1;
  let workspace = "mseWorkspace";
  let workspaceCap = 1048576;
  let kernel = "mseLossGrad<$T>";
}
