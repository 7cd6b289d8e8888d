//===- MaterializeUpdates.cpp - updates as explicit copies ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/Storage.h"

namespace aicf {
#define GEN_PASS_DEF_MATERIALIZEUPDATES
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

static Value makeCopy(OpBuilder &builder, Location loc, Value value) {
  SmallVector<int64_t, 1> label;
  if (int64_t vid = labelOf(value); vid >= 0)
    label.push_back(vid);
  auto copy =
      CallOp::create(builder, loc, OpKind::Copy, value.getType(), value, label);
  copy.setProtective(true);
  return copy.getResult(0);
}

static void materialize(func::FuncOp func) {
  EntrySignature signature(func);
  Operation *terminator = func.front().getTerminator();
  OpBuilder builder(terminator);
  auto updatesOf = [&](OpOperand &returned) {
    return signature.results[returned.getOperandNumber()].updates;
  };
  auto isUnchanged = [&](OpOperand &returned) {
    auto arg = dyn_cast<BlockArgument>(returned.get());
    return arg &&
           updatesOf(returned) == signature.arguments[arg.getArgNumber()].name;
  };
  llvm::DenseSet<Value> updating;
  for (OpOperand &returned : terminator->getOpOperands())
    if (!updatesOf(returned).empty())
      updating.insert(returned.get());

  // Outputs first: a copy of an argument must read the old value.
  llvm::DenseSet<Value> returnedOnce;
  for (OpOperand &returned : terminator->getOpOperands()) {
    Value value = returned.get();
    if (!updatesOf(returned).empty())
      continue;
    if (isa<BlockArgument>(value) || updating.count(value) ||
        !returnedOnce.insert(value).second)
      returned.set(makeCopy(builder, terminator->getLoc(), value));
  }
  // Then every argument that updates another one, before any is overwritten.
  for (OpOperand &returned : terminator->getOpOperands())
    if (!updatesOf(returned).empty() && isa<BlockArgument>(returned.get()) &&
        !isUnchanged(returned))
      returned.set(makeCopy(builder, terminator->getLoc(), returned.get()));
  // Last the updates themselves: these copies live in the arguments.
  for (OpOperand &returned : terminator->getOpOperands())
    if (!updatesOf(returned).empty() && !isUnchanged(returned))
      returned.set(makeCopy(builder, terminator->getLoc(), returned.get()));
}

namespace {
struct MaterializeUpdates
    : aicf::impl::MaterializeUpdatesBase<MaterializeUpdates> {
  void runOnOperation() override {
    for (func::FuncOp func : getEntries(getOperation())) {
      if (failed(checkEntryForm(func)))
        return signalPassFailure();
      materialize(func);
    }
  }
};
} // namespace
