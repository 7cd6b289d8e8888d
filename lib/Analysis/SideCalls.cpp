//===- SideCalls.cpp - calls beside forward and backward -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Analysis/SideCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::aicf_rt;

using ::aicf::OpKind;

bool mlir::aicf_rt::isUpdateKind(OpKind kind) {
  switch (kind) {
  case OpKind::StepInc:
  case OpKind::BiasCorr:
  case OpKind::AdamStep:
  case OpKind::SgdStep:
  case OpKind::AdamUpdate:
  case OpKind::SgdUpdate:
  case OpKind::MomentumUpdate:
  case OpKind::LossScaleUpdate:
    return true;
  default:
    return false;
  }
}

bool mlir::aicf_rt::isSideCall(PrimitiveOpInterface call) {
  if (isUpdateKind(call.getOpKind()))
    return true;
  bool feedsUpdate = false;
  for (Operation *user : call->getUsers()) {
    if (isa<func::ReturnOp>(user))
      continue;
    OpKind kind = cast<PrimitiveOpInterface>(user).getOpKind();
    if (!isUpdateKind(kind) && kind != OpKind::AllFinite)
      return false;
    feedsUpdate = true;
  }
  return feedsUpdate;
}
