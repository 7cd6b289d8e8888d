//===- AICFRTOps.td - the backend primitives ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// All records, by family. OpKind numbers are append-only: plans store them.
// After a change there run `cmake --build build --target update-abi`.
//===----------------------------------------------------------------------===//
#ifndef AICFRT_OPS_TD
#define AICFRT_OPS_TD

include "kernels/Families.td"

#endif // AICFRT_OPS_TD
