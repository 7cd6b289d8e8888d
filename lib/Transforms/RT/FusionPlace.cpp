//===- FusionPlace.cpp - where the call for two calls stands --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/FusionPlace.h"
#include "lib/Dialect/Entry.h"
#include "lib/Ops/Graphs.h"
#include "lib/Transforms/RT/CallUses.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

/// True for few calls between both.
static bool areNear(CallOp maker, CallOp reader, const Costs &costs) {
  int64_t distance = 0;
  for (Operation *op = maker->getNextNode(); op != reader.getOperation();
       op = op->getNextNode())
    if (isa<CallOp>(op) && ++distance > costs.nearCalls)
      return false;
  return true;
}

uint64_t aicf::rt::bytesKeptAlive(ValueRange operands, CallOp maker,
                                  CallOp reader) {
  uint64_t bytes = 0;
  llvm::SmallDenseSet<Value> seen;
  for (Value operand : operands)
    if (seen.insert(baseOf(operand)).second &&
        !isa<BlockArgument>(baseOf(operand)) &&
        !isUsedAt(baseOf(operand), reader, maker))
      bytes += bytesOf(baseOf(operand).getType());
  return bytes;
}

/// True if it takes more memory for long to compute what `maker` does at the
/// place of `reader`: its operands stay alive until there, its results begin.
/// The backward pass is far behind the forward pass, and which of both is kept
/// has been decided.
static bool keepsMoreAlive(CallOp maker, CallOp reader, const Costs &costs) {
  if (areNear(maker, reader, costs))
    return false;
  uint64_t shorter = 0;
  for (Value result : maker.getResults())
    shorter += bytesOf(result.getType());
  return bytesKeptAlive(maker.getArgs(), maker, reader) > shorter;
}

/// True for sums of what `maker` gives. They are small, so that nothing is lost
/// where they are there early.
static bool areSumsOf(CallOp reader, CallOp maker) {
  auto isSum = [](const Primitive &primitive) {
    return infoOf(primitive.kind).isSum();
  };
  return llvm::all_of(reader.getCode().primitives, isSum) &&
         llvm::all_of(reader.getArgs(),
                      [&](Value operand) { return callOf(operand) == maker; });
}

Updaters::Updaters(func::FuncOp func)
    : terminator(func.front().getTerminator()),
      results(func.getNumArguments(), -1) {
  step::EntrySignature signature(func);
  for (auto [i, result] : llvm::enumerate(signature.results))
    if (result.target >= 0)
      results[result.target] = int64_t(i);
}

CallOp Updaters::of(BlockArgument arg) const {
  int64_t result = results[arg.getArgNumber()];
  return result < 0 ? CallOp() : makerOf(terminator->getOperand(result));
}

bool aicf::rt::readsWhatIsUpdatedBetween(ValueRange operands, CallOp maker,
                                         CallOp reader,
                                         const Updaters &updaters) {
  return llvm::any_of(operands, [&](Value operand) {
    auto arg = dyn_cast<BlockArgument>(baseOf(operand));
    CallOp updater = arg ? updaters.of(arg) : CallOp();
    return updater && maker->isBeforeInBlock(updater) &&
           updater->isBeforeInBlock(reader);
  });
}

/// True if `reader` updates what a product of the call multiplies. Where both
/// are one call, it may not write there.
static bool updatesFactor(const MergedCall &merged, CallOp reader,
                          const Updaters &updaters) {
  const Body &body = merged.body.getBody();
  auto product = positionOfProduct(body);
  return product &&
         llvm::any_of(body.primitives[*product].operands, [&](int32_t factor) {
           auto arg = dyn_cast<BlockArgument>(baseOf(merged.operands[factor]));
           return arg && updaters.of(arg) == reader;
         });
}

/// Whether the call of both may stand at `reader`.
static Decision mayStandAtReader(const MergedCall &merged, CallOp maker,
                                 CallOp reader, const Updaters &updaters) {
  CallOp parts[] = {maker, reader};
  if (!mayStandAt(merged, parts, reader))
    return Decision::no("something between them reads a result of the first");
  if (readsWhatIsUpdatedBetween(maker.getArgs(), maker, reader, updaters))
    return Decision::no("something between them updates what the first reads");
  return {};
}

Decided<CallOp> aicf::rt::placeFor(const MergedCall &merged, CallOp maker,
                                   CallOp reader, const Updaters &updaters,
                                   const Costs &costs) {
  if (areSumsOf(reader, maker))
    return maker;
  CallOp parts[] = {maker, reader};
  if (Decision decision = mayStandAtReader(merged, maker, reader, updaters);
      !decision) {
    if (areNear(maker, reader, costs) && mayStandAt(merged, parts, maker))
      return maker;
    return decision;
  }
  if (updatesFactor(merged, reader, updaters))
    return Decision::no("the second one updates what the first one multiplies");
  if (keepsMoreAlive(maker, reader, costs))
    return Decision::no(
        "the operands of the first would stay in memory for longer");
  return reader;
}
