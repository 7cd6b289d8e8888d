//===- CallList.cpp - the calls of an entry in order ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/CallList.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryForm.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

static CallOrder orderOf(CallOp call) {
  ArrayRef<int64_t> waits = call.getWaits(), signals = call.getSignals();
  return {static_cast<uint32_t>(call.getStream()),
          {waits.data(), waits.size()},
          {signals.data(), signals.size()}};
}

FailureOr<CallList> CallList::create(Operation *entry, Block &block) {
  CallList list;
  std::vector<CallOrder> orders;
  for (auto call : block.getOps<CallOp>()) {
    list.indices[call] = list.calls.size();
    list.calls.push_back(call);
    orders.push_back(orderOf(call));
  }
  auto order = HappensBefore::create(orders);
  if (!order.ok())
    return entry->emitError() << order.status().message();
  list.order = std::move(*order);
  return list;
}

FailureOr<CallList> CallList::create(func::FuncOp func) {
  if (failed(checkEntryForm(func)))
    return failure();
  return create(func, func.front());
}

FailureOr<CallList> CallList::create(EntryOp entry) {
  return create(entry, entry.getBody().front());
}

void CallList::forEachAccess(Value value,
                             function_ref<void(uint32_t)> access) const {
  if (CallOp maker = makerOf(value))
    access(indexOf(maker));
  anyRead(value, [&](CallOp reader, unsigned) {
    access(indexOf(reader));
    return false;
  });
}

AccessSet CallList::accessesOf(Value value) const {
  AccessSet accesses;
  forEachAccess(value, [&](uint32_t call) { accesses.add(order, call); });
  return accesses;
}
