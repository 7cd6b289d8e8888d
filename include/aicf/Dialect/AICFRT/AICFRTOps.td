//===- AICFRTOps.td - the backend primitives ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// All records, by family. OpKind numbers are append-only: plans store them.
// After a change here run `cmake --build build --target update-abi`.
//===----------------------------------------------------------------------===//
#ifndef AICFRT_OPS_TD
#define AICFRT_OPS_TD

include "aicf/Dialect/Primitives/Counter.td"
include "aicf/Dialect/Primitives/Gemm.td"
include "aicf/Dialect/Primitives/Loss.td"
include "aicf/Dialect/Primitives/Norm.td"
include "aicf/Dialect/Primitives/Optimizer.td"
include "aicf/Dialect/Primitives/Pointwise.td"
include "aicf/Dialect/Primitives/Rows.td"

#endif // AICFRT_OPS_TD
