//===- SideCalls.cpp - calls beside forward and backward -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/SideCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

bool aicf::rt::isUpdate(PrimitiveOpInterface call) {
  return isUpdateHalf(infoOf(call.getOpKind()).phase);
}

bool aicf::rt::isSideCall(PrimitiveOpInterface call) {
  if (isUpdate(call))
    return true;
  bool feedsUpdate = false;
  for (Operation *user : call->getUsers()) {
    if (isa<func::ReturnOp>(user))
      continue;
    auto reader = cast<PrimitiveOpInterface>(user);
    if (!isUpdate(reader) && infoOf(reader.getOpKind()).phase != Phase::Guard)
      return false;
    feedsUpdate = true;
  }
  return feedsUpdate;
}
