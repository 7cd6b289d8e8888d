//===- Family.td - kernels of counters, loss scale and guards -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
include "kernels/KernelFamily.td"

def StepIncCpu : KernelFamily<"counter", "CPU"> {
  let kinds = [AICFRT_StepIncOp];
  let variants = [On<"i32">, On<"i64">];
  let kernel = "stepInc<$T>";
}
def StepIncCuda : KernelFamily<"counter", "CUDA"> {
  let kinds = [AICFRT_StepIncOp];
  let variants = [On<"i32">, On<"i64">];
  let kernel = "stepInc<$T>";
}
def BiasCorrCpu : KernelFamily<"counter", "CPU"> {
  let kinds = [AICFRT_BiasCorrOp];
  let variants = [From<"i32", "f32">, From<"i32", "f64">, From<"i64", "f32">,
                  From<"i64", "f64">];
  let kernel = "biasCorr<$T, $U>";
}
def BiasCorrCuda : KernelFamily<"counter", "CUDA"> {
  let kinds = [AICFRT_BiasCorrOp];
  let variants = [From<"i32", "f32">, From<"i32", "f64">, From<"i64", "f32">,
                  From<"i64", "f64">];
  let kernel = "biasCorr<$T, $U>";
}
def LossScaleCpu : KernelFamily<"counter", "CPU"> {
  let kinds = [AICFRT_LossScaleUpdateOp];
  let variants = SingleAndDouble.each;
  let version = 1;
  let kernel = "lossScaleUpdate<$T>";
}
def LossScaleCuda : KernelFamily<"counter", "CUDA"> {
  let kinds = [AICFRT_LossScaleUpdateOp];
  let variants = SingleAndDouble.each;
  let version = 1;
  let kernel = "lossScaleUpdate<$T>";
}

class AllFinite<string device> : KernelFamily<"counter", device> {
  let kinds = [AICFRT_AllFiniteOp];
  let variants = [From<"f32", "i32">, From<"f64", "i32">, From<"f16", "i32">,
                  From<"bf16", "i32">];
  let kidTypes = "First";
  let kernel = "allFinite<$T>";
}
def AllFiniteCpu : AllFinite<"CPU">;
/// The workspace holds a verdict a block.
def AllFiniteCuda : AllFinite<"CUDA"> {
  let workspace = "verdictsWorkspace";
  let workspaceCap = 1048576;
}
