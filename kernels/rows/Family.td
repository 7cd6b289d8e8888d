//===- Family.td - kernels of movers of rows ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
include "kernels/KernelFamily.td"

def GatherRowsCpu : KernelFamily<"rows", "CPU"> {
  let kinds = [AICFRT_GatherRowsOp];
  let variants = EveryType.each;
  let kernel = "gatherRows";
}
def GatherRowsCuda : KernelFamily<"rows", "CUDA"> {
  let kinds = [AICFRT_GatherRowsOp];
  let variants = EveryType.each;
  let kernel = "gatherRows<$T>";
}
def RecordCpu : KernelFamily<"rows", "CPU"> {
  let kinds = [AICFRT_RecordOp];
  let variants = EveryType.each;
  let kernel = "record";
}
def RecordCuda : KernelFamily<"rows", "CUDA"> {
  let kinds = [AICFRT_RecordOp];
  let variants = EveryType.each;
  let kernel = "record<$T>";
}
def ShuffleCpu : KernelFamily<"rows", "CPU"> {
  let kinds = [AICFRT_ShuffleOp];
  let variants = EveryIndex.each;
  let kidTypes = "Both";
  let kernel = "shuffle";
}
def ShuffleCuda : KernelFamily<"rows", "CUDA"> {
  let kinds = [AICFRT_ShuffleOp];
  let variants = EveryIndex.each;
  let kidTypes = "Both";
  let kernel = "shuffle<$T, $U>";
}
