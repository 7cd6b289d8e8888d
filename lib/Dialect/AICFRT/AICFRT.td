//===- AICFRT.td - everything of the aicf_rt dialect, for tblgen ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// OpKind numbers are append-only: plans store them.
include "kernels/Families.td"
include "aicf/Dialect/AICFRT/AICFRTPlanOps.td"
