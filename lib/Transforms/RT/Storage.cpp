//===- Storage.cpp - which values share storage, and when it is used ------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/Storage.h"
#include "lib/Schedule/Region.h"
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

/// Finds those that the entry's results decide. An update lives in its argument;
/// that no value is returned twice, checkMaterialized() says.
void StoragePlan::findFixedStorages() {
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
  for (auto join : func.getOps<JoinOp>())
    if (auto arg = dyn_cast_if_present<BlockArgument>(join.getInto()))
      fixed[join.getWhole()] = arg.getArgNumber();

  // A chain of in-place results lives where its last value is fixed: walk
  // backwards, so that an operand learns its storage from its overwriter.
  for (CallOp call : llvm::reverse(list.getCalls()))
    for (OpResult result : call->getResults()) {
      int64_t operand = call.getInplaceOperand(result.getResultNumber());
      auto it = fixed.find(result);
      if (operand < 0 || it == fixed.end())
        continue;
      size_t storage = it->second; // inserting may move what `it` points at
      fixed.try_emplace(wholeOf(baseOf(call->getOperand(operand))), storage);
    }
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
    storages[storage].values.push_back(value);
    forEachPart(value, [&](Value part) {
      storageOf[part] = storage;
      list.addAccesses(part, storages[storage].accesses);
    });
  };
  for (BlockArgument arg : func.getArguments())
    place(arg, makeStorage(Storage::Kind::Argument, arg.getArgNumber(), arg));
  findFixedStorages();
  for (CallOp call : list.getCalls())
    for (OpResult result : call->getResults()) {
      int64_t operand = call.getInplaceOperand(result.getResultNumber());
      Value whole = wholeOf(result);
      if (storageOf.contains(whole))
        continue; // with another part of it
      if (auto it = fixed.find(whole); it != fixed.end())
        place(whole, it->second);
      else if (operand >= 0)
        place(whole, getStorageOf(call->getOperand(operand)));
      else
        place(whole, makeStorage(Storage::Kind::Temp, -1, whole));
    }
}

size_t StoragePlan::getStorageOf(Value value) const {
  return storageOf.at(baseOf(value));
}

void StoragePlan::takeOver(OpResult result, Value operand) {
  size_t to = getStorageOf(operand);
  Storage &from = storages[storageOf.at(result)];
  for (Value value : from.values) {
    forEachPart(value, [&](Value part) { storageOf[part] = to; });
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
  return producerOf(last)->emitOpError()
         << "overwrites argument " << storage.number << " (\""
         << signature.arguments[storage.number].name
         << "\"), but is not its update";
}

/// True if `read`, which is a view of `before` or all of it, and what a call
/// writes as `written` where `before` was, share no byte.
static bool isBeside(Value read, OpResult written) {
  auto regionOf = [](Value value) {
    return aicf::Region(uint64_t(byteOffsetOf(value)),
                        toTensorDesc(value.getType()));
  };
  return !regionOf(read).overlaps(regionOf(written));
}

/// `before` is dead, or at least those of its bytes, when a call writes `written`
/// in its place.
LogicalResult StoragePlan::verifyWriter(Value before, OpResult written) const {
  CallOp writer = makerOf(written);
  uint32_t call = list.indexOf(writer);
  unsigned result = written.getResultNumber();
  CallOp late;
  forEachPart(before, [&](Value part) {
    if (late)
      return;
    anyRead(part, [&](CallOp reader, unsigned operand) {
      Value read = reader->getOperand(operand);
      bool isTied = reader == writer &&
                    writer.mayShareStorage(result, operand) && isWhole(read) &&
                    read.getType() == written.getType() && !joinOf(written);
      bool isOver = isTied ||
                    (reader != writer &&
                     list.getOrder().before(list.indexOf(reader), call)) ||
                    isBeside(read, written);
      late = isOver ? CallOp() : reader;
      return !isOver;
    });
  });
  if (!late)
    return success();
  InFlightDiagnostic diag = writer->emitOpError()
                            << "result " << result
                            << " overwrites a value that " << nameOfCall(late)
                            << " still reads";
  diag.attachNote(late->getLoc()) << "read here";
  return diag;
}

/// Each value is dead when the next one is written.
LogicalResult StoragePlan::verifyChain(const Storage &storage) const {
  for (size_t i = 0; i + 1 < storage.values.size(); ++i) {
    Value before = storage.values[i], after = storage.values[i + 1];
    if (isReturned(before))
      return producerOf(after)->emitOpError()
             << "overwrites a value that the entry returns";
    LogicalResult isDead = success();
    forEachPart(after, [&](Value part) {
      if (succeeded(isDead) && callOf(part))
        isDead = verifyWriter(before, cast<OpResult>(part));
    });
    if (failed(isDead))
      return failure();
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
    for (Value operand : call.getArgs()) {
      CallOp late;
      forEachMaker(operand, [&](CallOp maker) {
        if (!list.getOrder().before(list.indexOf(maker), list.indexOf(call)))
          late = maker;
      });
      if (late)
        return call->emitOpError() << "reads a result of " << nameOfCall(late)
                                   << " that is not ordered before it";
    }
  }
  for (const Storage &storage : storages)
    if (failed(verifyChain(storage)) || failed(verifyArgument(storage)))
      return failure();
  return success();
}
