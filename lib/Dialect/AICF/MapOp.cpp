//===- MapOp.cpp - functions that nobody has named -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICF/AICF.h"
#include "lib/Dialect/AICF/Inference.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

LogicalResult MapOp::verify() {
  if (getOperands().empty())
    return emitOpError() << "C1: has no operand, expected one or more";
  ArrayRef<int64_t> shape = typeOf(getOperands()[0]).getShape();
  for (auto [i, operand] : llvm::enumerate(getOperands()))
    if (typeOf(operand).getShape() != shape)
      return emitOpError() << "C1: operand " << i << " is " << operand.getType()
                           << ", expected the shape of operand 0, "
                           << getOperands()[0].getType();
  Block &block = getBody().front();
  if (block.getNumArguments() != getOperands().size())
    return emitOpError() << "C2: the body has " << block.getNumArguments()
                         << " arguments, expected " << getOperands().size()
                         << ", one for each operand";
  for (auto [argument, operand] :
       llvm::zip_equal(block.getArguments(), getOperands()))
    if (Type element = typeOf(operand).getElementType();
        argument.getType() != element)
      return emitOpError() << "C2: argument " << argument.getArgNumber()
                           << " of the body is " << argument.getType()
                           << ", expected " << element;
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return emitOpError() << "C3: the body ends in '"
                         << block.getTerminator()->getName()
                         << "', expected 'aicf.yield'";
  Type expected =
      typeOf(getOperands()[0]).clone(yield.getValue().getType());
  if (getY().getType() != expected)
    return emitOpError() << "C3: y is " << getY().getType() << ", expected "
                         << expected;
  return success();
}
