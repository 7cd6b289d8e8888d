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
    if (arg && signature.arguments[arg.getArgNumber()].name != result.updates)
      return func.emitError() << "result " << number << " returns argument "
                              << arg.getArgNumber()
                              << " without a copy: run "
                                 "--aicf-rt-materialize-updates first";
  }
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
  for (Operation &op : func.front().without_terminator())
    if (!isa<CallOp, ViewOp>(op))
      return op.emitOpError() << "is not an aicf_rt.call: run "
                                 "--aicf-lower-to-rt first";
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
