//===- PlanBuffers.cpp - the buffers of a plan's entry --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/PlanBuffers.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

FailureOr<EntryCalls> EntryCalls::create(EntryOp entry) {
  EntryCalls calls;
  std::vector<CallOrder> orders;
  for (auto call : entry.getBody().front().getOps<CallOp>()) {
    calls.indexOf[call] = orders.size();
    ArrayRef<int64_t> waits = call.getWaits(), signals = call.getSignals();
    orders.push_back({static_cast<uint32_t>(call.getStream()),
                      {waits.data(), waits.size()},
                      {signals.data(), signals.size()}});
  }
  auto order = HappensBefore::create(orders);
  if (!order.ok())
    return entry.emitError() << order.status().message();
  calls.order = std::move(*order);
  return calls;
}

AccessSet EntryCalls::accessesOf(Value buffer) const {
  AccessSet accesses;
  for (Operation *user : buffer.getUsers())
    accesses.add(order, indexOf.at(user));
  return accesses;
}
