//===- BuildMap.cpp - maps from ops on 0-d tensors ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Compiler.h"
#include "lib/Transforms/Scalar/ScalarBody.h"

#include "aicf/Dialect/AICF/AICF.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

/// `body` as the scalar ops of a map's.
static LogicalResult fill(Block &map, Block &body, Value element) {
  IRMapping scalars;
  for (BlockArgument argument : body.getArguments())
    scalars.map(argument, map.addArgument(getElementTypeOrSelf(argument),
                                          argument.getLoc()));
  OpBuilder builder = OpBuilder::atBlockEnd(&map);
  for (Operation &op : body) {
    SmallVector<Value> operands = llvm::map_to_vector(
        op.getOperands(), [&](Value v) { return scalars.lookup(v); });
    Value made = scalars::define(builder, &op, operands);
    if (!made)
      return op.emitOpError() << "is not computed element by element, as "
                                 "every op in a map must be";
    scalars.map(op.getResult(0), made);
  }
  YieldOp::create(builder, element.getLoc(), scalars.lookup(element));
  return success();
}

FailureOr<Value> aicf::step::buildMap(OpBuilder &builder, Location loc,
                                      ValueRange operands, Block &body,
                                      Value element) {
  auto type = cast<RankedTensorType>(operands.front().getType())
                  .clone(getElementTypeOrSelf(element));
  auto map = MapOp::create(builder, loc, type, operands);
  if (failed(fill(map.getBody().emplaceBlock(), body, element)) ||
      failed(verify(map))) {
    map.erase();
    return failure();
  }
  return map.getY();
}
