//===- ExpandHistory.cpp - keep a result of every step -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For each output with a history: adds a state of K rows and one counter per
// entry, records the value at the counter's row, and increments the counter.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Step/EntryBuilder.h"

namespace aicf {
#define GEN_PASS_DEF_EXPANDHISTORY
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

static int64_t historyOf(func::FuncOp func, unsigned result) {
  auto steps = func.getResultAttrOfType<IntegerAttr>(result, kHistoryAttr);
  return steps ? steps.getInt() : 0;
}

/// Histories are states, which entries share by name.
static LogicalResult checkNames(func::FuncOp func,
                                llvm::StringMap<func::FuncOp> &owners) {
  EntrySignature signature(func);
  for (auto [i, result] : llvm::enumerate(signature.results)) {
    if (historyOf(func, i) == 0)
      continue;
    auto [it, fresh] = owners.try_emplace(result.name, func);
    if (!fresh)
      return func.emitError()
             << "output \"" << result.name << "\" has a history in @"
             << it->second.getName() << " too: give one of them another name";
  }
  return success();
}

/// One counter serves all histories of an entry.
static LogicalResult expand(func::FuncOp func) {
  EntrySignature signature(func);
  EntryBuilder entry(func);
  OpBuilder builder(func.front().getTerminator());
  SmallVector<Value> returned(func.front().getTerminator()->getOperands());
  std::string counterName = (func.getName() + ".history_step").str();
  BlockArgument counter;
  for (auto [i, value] : llvm::enumerate(returned)) {
    int64_t steps = historyOf(func, i);
    if (steps == 0)
      continue;
    const auto &result = signature.results[i];
    if (result.name.empty())
      return func.emitError() << "result " << i << " has 'aicf.history' but "
                              << "updates \"" << result.updates
                              << "\"; only an output has a history";
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape = {steps};
    llvm::append_range(shape, type.getShape());
    Location loc = value.getLoc();
    if (!counter) {
      counter = entry.addState(RankedTensorType::get({}, builder.getI64Type()),
                               counterName);
    }
    std::string name = (result.name + ".history").str();
    BlockArgument history = entry.addState(type.clone(shape), name);
    Value recorded = RecordOp::create(builder, loc, history, value, counter);
    entry.addUpdate(recorded, name);
  }
  if (!counter)
    return success();
  // Behind the last reader of the old count: it is updated in place.
  Value next = StepIncOp::create(builder, func.getLoc(), counter, Value());
  entry.addUpdate(next, counterName);
  entry.dropAttr(kHistoryAttr);
  entry.finish();
  return success();
}

namespace {
struct ExpandHistory : aicf::impl::ExpandHistoryBase<ExpandHistory> {
  void runOnOperation() override {
    llvm::StringMap<func::FuncOp> owners;
    for (func::FuncOp func : getEntries(getOperation()))
      if (failed(checkStepForm(func)) || failed(checkNames(func, owners)) ||
          failed(expand(func)))
        return signalPassFailure();
  }
};
} // namespace
