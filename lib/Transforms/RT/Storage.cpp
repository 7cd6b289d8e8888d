//===- Storage.cpp - which values share storage, and when it is used ------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/Storage.h"
#include "aicf/Dialect/AICF/AICF.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

int64_t aicf::rt::labelOf(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto func = cast<func::FuncOp>(arg.getOwner()->getParentOp());
    auto vid =
        func.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), step::kVidAttr);
    return vid ? vid.getInt() : -1;
  }
  return value.getDefiningOp<CallOp>().getLabel(
      cast<OpResult>(value).getResultNumber());
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
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    if (failed(step::checkTensorType(func, "argument " + Twine(i), type,
                                     /*mayBePadded=*/true)))
      return failure();
  for (Operation &op : func.front().without_terminator())
    if (!isa<CallOp>(op))
      return op.emitOpError() << "is not an aicf_rt.call: run "
                                 "--aicf-lower-to-rt first";
  return success();
}

LogicalResult aicf::rt::checkEntryForm(func::FuncOp func) {
  return failure(failed(checkOps(func)) ||
                 failed(checkUpdateTargets(func, step::EntrySignature(func))));
}

FailureOr<CallList> CallList::create(func::FuncOp func) {
  CallList list(func);
  if (failed(checkOps(func)) ||
      failed(checkUpdateTargets(func, list.signature)))
    return failure();
  std::vector<CallOrder> orders;
  for (Operation &op : func.front().without_terminator()) {
    auto call = cast<CallOp>(op);
    list.indexOf[call] = list.calls.size();
    list.calls.push_back(call);
    ArrayRef<int64_t> waits = call.getWaits(), signals = call.getSignals();
    orders.push_back({static_cast<uint32_t>(call.getStream()),
                      {waits.data(), waits.size()},
                      {signals.data(), signals.size()}});
  }
  auto order = HappensBefore::create(orders);
  if (!order.ok())
    return func.emitError() << order.status().message();
  list.order = std::move(*order);
  return list;
}

void CallList::addAccesses(Value value, AccessSet &accesses) const {
  if (Operation *producer = value.getDefiningOp())
    accesses.add(order, indexOf.at(producer));
  for (Operation *user : value.getUsers())
    if (auto it = indexOf.find(user); it != indexOf.end())
      accesses.add(order, it->second);
}

size_t StorageAnalysis::makeStorage(Storage::Kind kind, int64_t number,
                                    Value value) {
  storages.emplace_back();
  storages.back().kind = kind;
  storages.back().number = number;
  storages.back().type = cast<RankedTensorType>(value.getType());
  return storages.size() - 1;
}

StorageAnalysis::StorageAnalysis(func::FuncOp func, const CallList &list)
    : func(func), list(list) {
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
    const auto &result = list.signature.results[returned.getOperandNumber()];
    if (!result.updates.empty())
      fixed[value] = result.target;
    else
      fixed[value] = makeStorage(Storage::Kind::Output,
                                 returned.getOperandNumber(), value);
  }

  // A chain of in-place results lives where its last value is fixed: walk
  // backwards, so that an operand learns its storage from its overwriter.
  for (CallOp call : llvm::reverse(list.calls))
    for (OpResult result : call->getResults()) {
      int64_t operand = call.getInplaceOperand(result.getResultNumber());
      auto it = fixed.find(result);
      if (operand < 0 || it == fixed.end())
        continue;
      size_t storage = it->second; // inserting may move what `it` points at
      fixed.try_emplace(call->getOperand(operand), storage);
    }
  for (CallOp call : list.calls)
    for (OpResult result : call->getResults()) {
      int64_t operand = call.getInplaceOperand(result.getResultNumber());
      if (auto it = fixed.find(result); it != fixed.end())
        place(result, it->second);
      else if (operand >= 0)
        place(result, storageOf.at(call->getOperand(operand)));
      else
        place(result, makeStorage(Storage::Kind::Temp, -1, result));
    }
}

void StorageAnalysis::takeOver(OpResult result, Value operand) {
  size_t to = storageOf.at(operand);
  Storage &from = storages[storageOf.at(result)];
  for (Value value : from.values) {
    storageOf[value] = to;
    storages[to].values.push_back(value);
  }
  storages[to].accesses.merge(from.accesses);
  from.values.clear();
}

/// An argument is overwritten only by the value that updates it.
LogicalResult StorageAnalysis::verifyArgument(const Storage &storage) const {
  if (storage.kind != Storage::Kind::Argument || storage.values.size() < 2)
    return success();
  // A value that is returned as something else lives elsewhere.
  Value last = storage.values.back();
  for (Operation *user : last.getUsers())
    if (isa<func::ReturnOp>(user))
      return success();
  return last.getDefiningOp()->emitOpError()
         << "overwrites argument " << storage.number << " (\""
         << list.signature.arguments[storage.number].name
         << "\"), but is not its update";
}

/// Each value is dead when the next one is written.
LogicalResult StorageAnalysis::verifyChain(const Storage &storage) const {
  for (size_t i = 0; i + 1 < storage.values.size(); ++i) {
    Value before = storage.values[i], after = storage.values[i + 1];
    auto writer = cast<CallOp>(after.getDefiningOp());
    uint32_t call = list.indexOf.at(writer);
    unsigned result = cast<OpResult>(after).getResultNumber();
    for (OpOperand &use : before.getUses()) {
      Operation *user = use.getOwner();
      if (user == writer &&
          writer.mayShareStorage(result, use.getOperandNumber()))
        continue;
      auto it = list.indexOf.find(user);
      if (it == list.indexOf.end())
        return writer->emitOpError()
               << "overwrites a value that the entry returns";
      if (!list.order.before(it->second, call)) {
        InFlightDiagnostic diag = writer->emitOpError()
                                  << "result " << result
                                  << " overwrites a value that "
                                  << nameOfCall(user) << " still reads";
        diag.attachNote(user->getLoc()) << "read here";
        return diag;
      }
    }
  }
  return success();
}

LogicalResult StorageAnalysis::verify() const {
  for (CallOp call : list.calls) {
    for (OpResult result : call->getResults()) {
      int64_t operand = call.getInplaceOperand(result.getResultNumber());
      if (operand >= 0 &&
          storageOf.at(result) != storageOf.at(call->getOperand(operand)))
        return call->emitOpError() << "result " << result.getResultNumber()
                                   << " is in place on operand " << operand
                                   << ", but they live in different storages";
    }
    for (Value operand : call->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        if (!list.order.before(list.indexOf.at(producer),
                               list.indexOf.at(call)))
          return call->emitOpError()
                 << "reads a result of " << nameOfCall(producer)
                 << " that is not ordered before it";
  }
  for (const Storage &storage : storages)
    if (failed(verifyChain(storage)) || failed(verifyArgument(storage)))
      return failure();
  return success();
}
