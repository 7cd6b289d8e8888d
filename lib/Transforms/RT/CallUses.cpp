//===- CallUses.cpp - who makes and who reads a value ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/CallUses.h"
#include "aicf/Dialect/AICF/AICF.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

CallOp aicf::rt::makerOf(Value value) { return value.getDefiningOp<CallOp>(); }

bool aicf::rt::anyRead(
    Value value, function_ref<bool(CallOp reader, unsigned operand)> holds) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    if (auto value = dyn_cast<ValueOp>(use.getOwner()))
      return anyRead(value.getValue(), holds);
    auto reader = dyn_cast<CallOp>(use.getOwner());
    return reader && holds(reader, use.getOperandNumber());
  });
}

bool aicf::rt::anyReturn(Value value,
                         function_ref<bool(unsigned result)> holds) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    return isa<func::ReturnOp>(use.getOwner()) && holds(use.getOperandNumber());
  });
}

bool aicf::rt::isReturned(Value value) {
  return anyReturn(value, [](unsigned) { return true; });
}

Operation *aicf::rt::readerOutside(Value value, ArrayRef<CallOp> calls) {
  for (Operation *user : value.getUsers())
    if (!llvm::is_contained(calls, CallOp(dyn_cast<CallOp>(user))))
      return user;
  return nullptr;
}

int64_t aicf::rt::labelOf(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto func = cast<func::FuncOp>(arg.getOwner()->getParentOp());
    auto vid =
        func.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), step::kVidAttr);
    return vid ? vid.getInt() : -1;
  }
  CallOp maker = makerOf(value);
  return maker ? maker.getLabel(cast<OpResult>(value).getResultNumber()) : -1;
}

SmallVector<int64_t> aicf::rt::labelsOfEach(ArrayRef<Value> values) {
  return llvm::map_to_vector(values, labelOf);
}

std::string aicf::rt::nameOfCall(Operation *op) {
  auto call = dyn_cast<CallOp>(op);
  return "'" +
         (call ? call.getPrimitiveNames()
               : op->getName().getStringRef().str()) +
         "'";
}
