//===- CallList.cpp - the calls of an entry in order ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/CallList.h"
#include "lib/Transforms/RT/CallUses.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

static CallOrder orderOf(CallOp call) {
  ArrayRef<int64_t> waits = call.getWaits(), signals = call.getSignals();
  return {static_cast<uint32_t>(call.getStream()),
          {waits.data(), waits.size()},
          {signals.data(), signals.size()}};
}

CallList::CallList(Operation *entry) {
  std::vector<CallOrder> orders;
  uint32_t part = 0;
  auto add = [&](Block &block) {
    for (auto call : block.getOps<CallOp>()) {
      indices[call] = calls.size();
      calls.push_back(call);
      orders.push_back(orderOf(call));
      orders.back().part = part;
    }
  };
  Block &block = entry->getRegion(0).front();
  add(block);
  for (auto repeat : block.getOps<RepeatOp>()) {
    add(repeat.getBody().front());
    ++part;
  }
  auto made = HappensBefore::create(orders);
  isOrdered = made.ok();
  if (isOrdered)
    order = std::move(*made);
  else
    entry->emitError() << made.status().message();
}

void CallList::forEachAccess(Value value,
                             function_ref<void(uint32_t)> access) const {
  anyRead(value, [&](CallOp reader, unsigned) {
    access(indexOf(reader));
    return false;
  });
}

void CallList::addAccesses(Value value, AccessSet &accesses) const {
  forEachAccess(value, [&](uint32_t call) { accesses.add(order, call); });
}

AccessSet CallList::accessesOf(Value value) const {
  AccessSet accesses;
  addAccesses(value, accesses);
  return accesses;
}
