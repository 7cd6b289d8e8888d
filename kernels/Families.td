//===- Families.td - every kernel family ----------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Made by CMake from the calls of aicf_family().
include "kernels/FamilyRecords.td"

/// Until calls had bodies, fused calls had kinds of their own: gemm_bias,
/// gemm_relu_bwd, gemm_reduce, relu_bwd_reduce, mse_loss_grad, adam_update,
/// sgd_update, momentum_update.
foreach number = !range(19, 27) in
  def : ReservedKind<number>;
