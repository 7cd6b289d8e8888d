//===- Family.td - kernels of optimizers --------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
include "kernels/KernelFamily.td"

def AdamStepCpu : KernelFamily<"optimizer", "CPU"> {
  let kinds = [AICFRT_AdamStepOp];
  let variants = SingleAndDouble.each;
  let kernel = "adamStep<$T>";
}
def SgdStepCpu : KernelFamily<"optimizer", "CPU"> {
  let kinds = [AICFRT_SgdStepOp];
  let variants = EveryFloat.each;
  let kernel = "sgdStep<$T>";
}

def AdamStepCuda : KernelFamily<"optimizer", "CUDA"> {
  let kinds = [AICFRT_AdamStepOp];
  let variants = SingleAndDouble.each;
  let kernel = "adam<$T, $Args>";
}
def SgdStepCuda : KernelFamily<"optimizer", "CUDA"> {
  let kinds = [AICFRT_SgdStepOp];
  let variants = [On<"f32", 4>, On<"f32">, On<"f64">, On<"f16">, On<"bf16", 2>,
                  On<"bf16">];
  let kernel = "sgdStep<$T, $V>";
}
/// A name of the seeds.
def SgdStepHalf2 : KernelFamily<"optimizer", "CUDA"> {
  let kinds = [AICFRT_SgdStepOp];
  let variants = [On<"f16", 2>];
  let variantName = "half2";
  let kernel = "sgdStep<$T, $V>";
  let preference = 0;
}

/// At most kMaxUpdateGroups parameters; gradients of one type; copies, if any,
/// of one type, the gradients' if that is 16-bit.
class Updates<AICFRT_Primitive kind, string planner>
    : KernelFamily<"optimizer", "CUDA"> {
  let kinds = [kind];
  let variants = SingleAndDouble.each;
  let condition = "groupsFit";
  let kernel = planner;
}
def AdamUpdates : Updates<AICFRT_AdamUpdateOp, "adam<$T, $Args>">;
def SgdUpdates : Updates<AICFRT_SgdUpdateOp, "sgdUpdate<$T>">;
def MomentumUpdates : Updates<AICFRT_MomentumUpdateOp, "momentumUpdate<$T>">;
