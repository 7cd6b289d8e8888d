//===- RepeatOp.cpp - loops ------------------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICF/AICF.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

LogicalResult RepeatOp::verifyRegions() {
  if (int64_t(getTimes()) < 1 || int64_t(getTimes()) > INT32_MAX)
    return emitOpError() << "C1: `times` is " << int64_t(getTimes())
                         << ", expected a number in [1, 2^31)";
  if (getInits().empty())
    return emitOpError() << "C1: there is no init, so that nothing comes of it";
  Block &block = getBody().front();
  auto counter = RankedTensorType::get({}, IntegerType::get(getContext(), 64));
  SmallVector<Type> expected{counter};
  llvm::append_range(expected, getInits().getTypes());
  if (block.getArgumentTypes() != TypeRange(expected))
    return emitOpError() << "C2: the body takes (" << block.getArgumentTypes()
                         << "), expected (" << expected << ")";
  auto next = dyn_cast<NextOp>(block.getTerminator());
  if (!next)
    return emitOpError() << "C3: the body ends in '"
                         << block.getTerminator()->getName()
                         << "', expected 'aicf.next'";
  if (next.getValues().getTypes() != getInits().getTypes() ||
      getResultTypes() != getInits().getTypes())
    return emitOpError() << "C3: the body gives (" << next.getValues().getTypes()
                         << ") and the results are (" << getResultTypes()
                         << "), expected the inits' types, ("
                         << getInits().getTypes() << ")";
  return success();
}
