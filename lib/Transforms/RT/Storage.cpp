//===- Storage.cpp - which values share storage, and when it is used ------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/Storage.h"
#include "lib/Transforms/RT/CallUses.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

size_t StoragePlan::makeStorage(Storage::Kind kind, int64_t number,
                                Value value) {
  storages.emplace_back();
  storages.back().kind = kind;
  storages.back().number = number;
  storages.back().type = cast<RankedTensorType>(value.getType());
  return storages.size() - 1;
}

StoragePlan::StoragePlan(func::FuncOp func,
                         const step::EntrySignature &signature,
                         const CallList &list)
    : func(func), signature(signature), list(list) {
  size_t numValues = func.getNumArguments() + func.getNumResults();
  for (CallOp call : list.getCalls())
    numValues += call->getNumResults();
  storages.reserve(numValues);
  storageOf.reserve(numValues);
  auto place = [&](Value value, size_t storage) {
    storageOf[value] = storage;
    storages[storage].values.push_back(value);
    list.addAccesses(value, storages[storage].accesses);
  };
  for (BlockArgument arg : func.getArguments())
    place(arg, makeStorage(Storage::Kind::Argument, arg.getArgNumber(), arg));

  // Storages fixed by the entry's results. An update lives in its argument;
  // that no value is returned twice, checkMaterialized() says.
  llvm::DenseMap<Value, size_t> fixed;
  Operation *terminator = func.front().getTerminator();
  for (OpOperand &returned : terminator->getOpOperands()) {
    Value value = returned.get();
    const auto &result = signature.results[returned.getOperandNumber()];
    if (!result.updates.empty())
      fixed[value] = result.target;
    else
      fixed[value] = makeStorage(Storage::Kind::Output,
                                 returned.getOperandNumber(), value);
  }

  // A chain of in-place results lives where its last value is fixed: walk
  // backwards, so that an operand learns its storage from its overwriter.
  for (CallOp call : llvm::reverse(list.getCalls()))
    for (OpResult result : call->getResults()) {
      int64_t operand = call.getInplaceOperand(result.getResultNumber());
      auto it = fixed.find(result);
      if (operand < 0 || it == fixed.end())
        continue;
      size_t storage = it->second; // inserting may move what `it` points at
      fixed.try_emplace(baseOf(call->getOperand(operand)), storage);
    }
  for (CallOp call : list.getCalls())
    for (OpResult result : call->getResults()) {
      int64_t operand = call.getInplaceOperand(result.getResultNumber());
      if (auto it = fixed.find(result); it != fixed.end())
        place(result, it->second);
      else if (operand >= 0)
        place(result, getStorageOf(call->getOperand(operand)));
      else
        place(result, makeStorage(Storage::Kind::Temp, -1, result));
    }
}

size_t StoragePlan::getStorageOf(Value value) const {
  return storageOf.at(baseOf(value));
}

void StoragePlan::takeOver(OpResult result, Value operand) {
  size_t to = getStorageOf(operand);
  Storage &from = storages[storageOf.at(result)];
  for (Value value : from.values) {
    storageOf[value] = to;
    storages[to].values.push_back(value);
  }
  storages[to].accesses.merge(from.accesses);
  from.values.clear();
}

/// An argument is overwritten only by the value that updates it.
LogicalResult StoragePlan::verifyArgument(const Storage &storage) const {
  if (storage.kind != Storage::Kind::Argument || storage.values.size() < 2)
    return success();
  // A value that is returned as something else lives elsewhere.
  Value last = storage.values.back();
  if (isReturned(last))
    return success();
  return makerOf(last)->emitOpError()
         << "overwrites argument " << storage.number << " (\""
         << signature.arguments[storage.number].name
         << "\"), but is not its update";
}

/// Each value is dead when the next one is written.
LogicalResult StoragePlan::verifyChain(const Storage &storage) const {
  for (size_t i = 0; i + 1 < storage.values.size(); ++i) {
    Value before = storage.values[i], after = storage.values[i + 1];
    CallOp writer = makerOf(after);
    uint32_t call = list.indexOf(writer);
    unsigned result = cast<OpResult>(after).getResultNumber();
    if (isReturned(before))
      return writer->emitOpError()
             << "overwrites a value that the entry returns";
    CallOp late;
    anyRead(before, [&](CallOp reader, unsigned operand) {
      Value read = reader->getOperand(operand);
      bool isOver = reader == writer
                        ? writer.mayShareStorage(result, operand) &&
                              isWhole(read) && read.getType() == after.getType()
                        : list.getOrder().before(list.indexOf(reader), call);
      late = isOver ? CallOp() : reader;
      return !isOver;
    });
    if (late) {
      InFlightDiagnostic diag = writer->emitOpError()
                                << "result " << result
                                << " overwrites a value that "
                                << nameOfCall(late) << " still reads";
      diag.attachNote(late->getLoc()) << "read here";
      return diag;
    }
  }
  return success();
}

LogicalResult StoragePlan::verify() const {
  for (CallOp call : list.getCalls()) {
    for (OpResult result : call->getResults()) {
      int64_t operand = call.getInplaceOperand(result.getResultNumber());
      if (operand >= 0 &&
          storageOf.at(result) != getStorageOf(call->getOperand(operand)))
        return call->emitOpError() << "result " << result.getResultNumber()
                                   << " is in place on operand " << operand
                                   << ", but they live in different storages";
    }
    for (Value operand : call.getArgs())
      if (CallOp maker = makerOf(operand))
        if (!list.getOrder().before(list.indexOf(maker), list.indexOf(call)))
          return call->emitOpError()
                 << "reads a result of " << nameOfCall(maker)
                 << " that is not ordered before it";
  }
  for (const Storage &storage : storages)
    if (failed(verifyChain(storage)) || failed(verifyArgument(storage)))
      return failure();
  return success();
}
