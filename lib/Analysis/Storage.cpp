//===- Storage.cpp - which values share storage, and when it is used ------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Analysis/Storage.h"

using namespace mlir;
using namespace mlir::aicf_rt;

FailureOr<CallList> CallList::create(func::FuncOp func) {
  CallList list;
  std::vector<::aicf::CallOrder> orders;
  for (Operation &op : func.front().without_terminator()) {
    auto call = dyn_cast<PrimitiveOpInterface>(op);
    if (!call)
      return op.emitOpError() << "is not an aicf_rt primitive";
    list.indexOf[call] = list.calls.size();
    list.calls.push_back(call);
    ArrayRef<int64_t> waits = call.getWaits(), signals = call.getSignals();
    orders.push_back({static_cast<uint32_t>(call.getStream()),
                      {waits.data(), waits.size()},
                      {signals.data(), signals.size()}});
  }
  auto order = ::aicf::HappensBefore::create(orders);
  if (!order.ok())
    return func.emitError() << order.status().message();
  list.order = std::move(*order);
  return list;
}

::aicf::AccessSet mlir::aicf_rt::accessesOf(Value value, const CallList &list) {
  ::aicf::AccessSet accesses;
  if (Operation *producer = value.getDefiningOp())
    accesses.add(list.order, list.indexOf.at(producer));
  for (Operation *user : value.getUsers())
    if (auto it = list.indexOf.find(user); it != list.indexOf.end())
      accesses.add(list.order, it->second);
  return accesses;
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
  mlir::aicf::EntrySignature signature(func);
  auto place = [&](Value value, size_t storage) {
    storageOf[value] = storage;
    storages[storage].values.push_back(value);
    storages[storage].accesses.merge(accessesOf(value, list));
  };
  for (BlockArgument arg : func.getArguments())
    place(arg, makeStorage(Storage::Kind::Argument, arg.getArgNumber(), arg));

  // Storages fixed by the entry's results. An update lives in its argument.
  llvm::DenseMap<Value, size_t> fixed;
  Operation *terminator = func.front().getTerminator();
  for (OpOperand &returned : terminator->getOpOperands()) {
    Value value = returned.get();
    const auto &result = signature.results[returned.getOperandNumber()];
    if (isa<BlockArgument>(value) || fixed.count(value))
      continue; // unchanged, or refused by the verifier of this phase
    if (!result.updates.empty())
      fixed[value] = signature.findArgument(result.updates);
    else
      fixed[value] = makeStorage(Storage::Kind::Output,
                                 returned.getOperandNumber(), value);
  }

  // A chain of in-place results lives where its last value is fixed: walk
  // backwards, so that an operand learns its storage from its overwriter.
  for (PrimitiveOpInterface call : llvm::reverse(list.calls))
    for (OpResult result : call->getResults()) {
      int64_t operand = call.getInplaceOperand(result.getResultNumber());
      auto it = fixed.find(result);
      if (operand >= 0 && it != fixed.end())
        fixed.try_emplace(call->getOperand(operand), it->second);
    }
  for (PrimitiveOpInterface call : list.calls)
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

LogicalResult StorageAnalysis::verify() const {
  for (PrimitiveOpInterface call : list.calls)
    for (OpResult result : call->getResults()) {
      int64_t operand = call.getInplaceOperand(result.getResultNumber());
      if (operand >= 0 && storageOf.at(result) !=
                              storageOf.at(call->getOperand(operand)))
        return call->emitOpError()
               << "result " << result.getResultNumber()
               << " is in place on operand " << operand
               << ", but they live in different storages";
    }
  for (const Storage &storage : storages)
    for (size_t i = 0; i + 1 < storage.values.size(); ++i) {
      Value before = storage.values[i], after = storage.values[i + 1];
      auto writer = cast<PrimitiveOpInterface>(after.getDefiningOp());
      uint32_t call = list.indexOf.at(writer);
      unsigned result = cast<OpResult>(after).getResultNumber();
      for (OpOperand &use : before.getUses()) {
        Operation *user = use.getOwner();
        if (user == writer &&
            ::aicf::mayShareStorage(writer.getOpKind(), result,
                                    use.getOperandNumber()))
          continue;
        auto it = list.indexOf.find(user);
        if (it == list.indexOf.end()) {
          if (isa<BlockArgument>(before))
            continue; // returned unchanged into its own storage: see below
          return writer->emitOpError()
                 << "overwrites a value that the entry returns";
        }
        if (!list.order.before(it->second, call)) {
          InFlightDiagnostic diag =
              writer->emitOpError()
              << "result " << result << " overwrites a value that "
              << user->getName() << " still reads";
          diag.attachNote(user->getLoc()) << "read here";
          return diag;
        }
      }
      if (auto *producer = before.getDefiningOp())
        if (!list.order.before(list.indexOf.at(producer), call))
          return writer->emitOpError()
                 << "result " << result
                 << " overwrites a value before it is written";
    }
  return success();
}
