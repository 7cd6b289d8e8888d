//===- EntryForm.cpp - what aicf_rt passes rely on ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/EntryForm.h"
#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Transforms/RT/CallUses.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

static LogicalResult checkUpdateTargets(func::FuncOp func,
                                        const step::EntrySignature &signature) {
  llvm::BitVector updated(signature.arguments.size());
  for (auto [i, result] : llvm::enumerate(signature.results)) {
    if (result.updates.empty())
      continue;
    int64_t target = result.target;
    if (target < 0 || updated.test(target) ||
        func.getArgumentTypes()[target] != func.getResultTypes()[i] ||
        (signature.arguments[target].role != Role::Param &&
         signature.arguments[target].role != Role::State))
      return func.emitError()
             << "result " << i << " updates \"" << result.updates
             << "\", which is not a param or state of its type, or is updated "
                "twice";
    updated.set(target);
  }
  return success();
}

LogicalResult
aicf::rt::checkMaterialized(func::FuncOp func,
                            const step::EntrySignature &signature) {
  llvm::DenseMap<Value, unsigned> returnedBy;
  returnedBy.reserve(func.getNumResults());
  for (OpOperand &returned : func.front().getTerminator()->getOpOperands()) {
    unsigned number = returned.getOperandNumber();
    const auto &result = signature.results[number];
    auto [it, fresh] = returnedBy.try_emplace(returned.get(), number);
    if (!fresh)
      return func.emitError() << "results " << it->second << " and " << number
                              << " return the same value: run "
                                 "--aicf-rt-materialize-updates first";
    auto arg = dyn_cast<BlockArgument>(returned.get());
    // An argument without a name is nothing that an output updates.
    if (arg && (result.updates.empty() ||
                signature.arguments[arg.getArgNumber()].name != result.updates))
      return func.emitError() << "result " << number << " returns argument "
                              << arg.getArgNumber()
                              << " without a copy: run "
                                 "--aicf-rt-materialize-updates first";
  }
  return success();
}

/// The parts lie in no other whole, and have no storage of their own; nor has
/// the whole, if it is made in an argument: it is the argument's update.
static LogicalResult checkJoin(JoinOp join) {
  for (Value part : join.getParts()) {
    if (countJoinsOf(part) > 1)
      return join.emitOpError() << "has a part that is joined twice";
    if (isReturned(part))
      return join.emitOpError()
             << "has a part that the entry returns: an output or update has "
                "storage of its own";
    if (CallOp call = callOf(part))
      if (call.getInplaceOperand(cast<OpResult>(part).getResultNumber()) >= 0)
        return join.emitOpError() << "has a part that " << nameOfCall(call)
                                  << " makes in place of an operand";
  }
  if (!join.getInto())
    return success();
  if (!isa<BlockArgument>(join.getInto()))
    return join.emitOpError() << "is made in a value that the entry does not get";
  if (joinOf(join.getWhole()))
    return join.emitOpError()
           << "is made in an argument, and a part of another join";
  return success();
}

static LogicalResult checkOps(func::FuncOp func) {
  if (failed(step::checkOneBlock(func)))
    return failure();
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    bool isPadded = tensor && layoutOf(tensor) == Layout::Padded;
    if (failed(step::checkTensorType(
            func, "argument " + Twine(i),
            isPadded ? withLayout(tensor, Layout::Dense) : type)))
      return failure();
  }
  for (Operation &op : func.front().without_terminator()) {
    if (!isa<CallOp, ViewOp, JoinOp>(op))
      return op.emitOpError() << "is not an aicf_rt.call: run "
                                 "--aicf-lower-to-rt first";
    if (auto join = dyn_cast<JoinOp>(op); join && failed(checkJoin(join)))
      return failure();
  }
  for (OpOperand &returned : func.front().getTerminator()->getOpOperands())
    if (baseOf(returned.get()) != returned.get())
      return returned.getOwner()->emitOpError()
             << "returns a view as result " << returned.getOperandNumber()
             << ": an output or update has storage of its own";
  return success();
}

LogicalResult aicf::rt::checkEntryForm(func::FuncOp func) {
  return failure(failed(checkOps(func)) ||
                 failed(checkUpdateTargets(func, step::EntrySignature(func))));
}
