//===- Family.td - kernels of pointwise primitives, copies and casts ----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
include "kernels/KernelFamily.td"

def PointwiseCpu : KernelFamily<"pointwise", "CPU"> {
  let variants = EveryFloat.each;
  let kernel = "pointwise<functor::$Kind, $T>";
}
def PointwiseCuda : KernelFamily<"pointwise", "CUDA"> {
  let variants = Vectors.each;
  let kernel = "pointwise<functor::$Kind, $T, $V>";
}

def BiasAddCpu : KernelFamily<"pointwise", "CPU"> {
  let kinds = [AICFRT_BiasAddOp];
  let variants = EveryFloat.each;
  let kernel = "biasAdd<$T>";
}
def BiasAddCuda : KernelFamily<"pointwise", "CUDA"> {
  let kinds = [AICFRT_BiasAddOp];
  let variants = Vectors.each;
  let kernel = "biasAdd<$T, $V>";
}

def CopyCpu : KernelFamily<"pointwise", "CPU"> {
  let kinds = [AICFRT_CopyOp, AICFRT_CopySavedOp];
  let variants = EveryType.each;
  let kernel = "copy<$Args>";
}
def CopyCuda : KernelFamily<"pointwise", "CUDA"> {
  let kinds = [AICFRT_CopyOp, AICFRT_CopySavedOp];
  let variants = EveryType.each;
  let kernel = "copy<$Args>";
}

def CastCpu : KernelFamily<"pointwise", "CPU"> {
  let kinds = [AICFRT_CastOp];
  let variants = [From<"f32", "f64">, From<"f64", "f32">, From<"f32", "f16">,
                  From<"f16", "f32">, From<"f32", "bf16">, From<"bf16", "f32">];
  let kernel = "cast<$T, $U>";
}
def CastCuda : KernelFamily<"pointwise", "CUDA"> {
  let kinds = [AICFRT_CastOp];
  let variants = [From<"f32", "f16", 4>, From<"f32", "f16">,
                  From<"f32", "bf16", 4>, From<"f32", "bf16">,
                  From<"f16", "f32", 4>, From<"f16", "f32">,
                  From<"bf16", "f32", 4>, From<"bf16", "f32">,
                  From<"f32", "f64">, From<"f64", "f32">];
  let kernel = "cast<$T, $U, $V>";
}
