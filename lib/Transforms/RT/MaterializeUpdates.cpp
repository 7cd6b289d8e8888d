//===- MaterializeUpdates.cpp - updates as explicit copies ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Goes through the entry's results in order. What an update or output returns
// becomes a value of its own: copies of arguments are made at the beginning,
// before any update, and copies into updated arguments at the end.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryPass.h"
#include "lib/Transforms/Remarks.h"

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

namespace {
/// Puts copies in front of the return of an entry.
class Materializer {
public:
  Materializer(func::FuncOp func, const EntrySignature &signature)
      : func(func), signature(signature),
        terminator(func.front().getTerminator()), builder(terminator) {}
  void run();

private:
  StringRef updatesOf(OpOperand &returned) const {
    return signature.results[returned.getOperandNumber()].updates;
  }
  bool isUnchanged(OpOperand &returned) const;
  void copyOutputs();
  /// Returns a copy instead. `why`: what a remark says, where that can be
  /// nothing that a later pass drops.
  void returnCopy(OpOperand &returned, StringRef why = {});

  func::FuncOp func;
  const EntrySignature &signature;
  Operation *terminator;
  OpBuilder builder;
  int64_t numUpdates = 0, numOthers = 0;
};
} // namespace

bool Materializer::isUnchanged(OpOperand &returned) const {
  auto join = dyn_cast_or_null<JoinOp>(producerOf(returned.get()));
  auto arg = dyn_cast_if_present<BlockArgument>(join ? join.getInto()
                                                     : returned.get());
  return arg &&
         updatesOf(returned) == signature.arguments[arg.getArgNumber()].name;
}

void Materializer::returnCopy(OpOperand &returned, StringRef why) {
  Location loc = terminator->getLoc();
  returned.set(makeCopy(builder, loc, returned.get()));
  ++(why.empty() ? numUpdates : numOthers);
  if (why.empty())
    return;
  if (auto remark = remark::missed(
          loc, remarkOf("MaterializeUpdates", func.getSymName()))) {
    const EntrySignature::Result &result =
        signature.results[returned.getOperandNumber()];
    remark
        << ("output \"" + result.name + "\" needs a copy: it is " + why).str();
  }
}

void Materializer::copyOutputs() {
  llvm::DenseSet<Value> updating, returnedOnce;
  for (OpOperand &returned : terminator->getOpOperands())
    if (!updatesOf(returned).empty())
      updating.insert(returned.get());
  for (OpOperand &returned : terminator->getOpOperands()) {
    Value value = returned.get();
    if (!updatesOf(returned).empty())
      continue;
    if (isa<BlockArgument>(value))
      returnCopy(returned, "an argument, and an output has storage of its own");
    else if (updating.count(value))
      returnCopy(returned, "an update too");
    else if (!returnedOnce.insert(value).second)
      returnCopy(returned, "another output too");
  }
}

void Materializer::run() {
  copyOutputs(); // first: a copy of an argument must read the old value
  // Then every argument that updates another one, before any is overwritten. No
  // output is an argument any more.
  for (OpOperand &returned : terminator->getOpOperands())
    if (isa<BlockArgument>(returned.get()) && !isUnchanged(returned))
      returnCopy(returned);
  // Last the updates themselves: these copies live in the arguments.
  for (OpOperand &returned : terminator->getOpOperands())
    if (!updatesOf(returned).empty() && !isUnchanged(returned))
      returnCopy(returned);
  remarkCounts(
      func, "MaterializeUpdates",
      {{"copies_for_updates", numUpdates}, {"copies_for_outputs", numOthers}});
}

namespace {
struct MaterializeUpdates
    : EntryPass<aicf::impl::MaterializeUpdatesBase<MaterializeUpdates>> {
  void runOnEntry(func::FuncOp func) override {
    Materializer(func, getAnalysis<EntrySignature>()).run();
  }
};
} // namespace
