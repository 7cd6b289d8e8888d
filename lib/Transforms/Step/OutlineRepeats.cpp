//===- OutlineRepeats.cpp - loops as parts of an entry --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Cuts the ops of an entry into segments: what stands in front of the first
// repeat, its body, and so on. Each but the last becomes a function.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Step/EntryBuilder.h"
#include "lib/Transforms/Step/EntryParts.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace aicf {
#define GEN_PASS_DEF_OUTLINEREPEATS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {
/// Cuts one entry.
class Outliner {
public:
  explicit Outliner(func::FuncOp func) : func(func), signature(func) {}
  void run();

private:
  void numberSegments();
  /// The state of each result of `repeat`, or of its counter (-1).
  Carrier carrierOf(RepeatOp repeat, int64_t result);
  /// The entry's own argument, if the runs may update it themselves.
  BlockArgument findOwn(RepeatOp repeat, unsigned result);
  void findOwns();
  void findCrossings();
  bool isMadeAgain(Operation *op) const {
    return op->getNumOperands() == 0 && op->getNumRegions() == 0 && isPure(op);
  }

  /// An argument of the entry.
  Value argument(PartBuilder &part, unsigned number);
  /// The value as the part sees it.
  Value lookup(PartBuilder &part, Value value);
  void cloneInto(PartBuilder &part, Operation &op);
  void updateCrossings(PartBuilder &part, unsigned segment);
  void outlineStraight(unsigned segment, RepeatOp next);
  void outlineBody(unsigned segment, RepeatOp repeat);
  void finishEntry();

  func::FuncOp func;
  EntrySignature signature;
  SmallVector<RepeatOp> repeats;
  SmallVector<SmallVector<Operation *>> straight; ///< by repeats in front
  llvm::DenseMap<Operation *, unsigned> segmentOf;
  llvm::MapVector<Value, Carrier> crossings;
  llvm::DenseMap<Value, BlockArgument> owns; ///< by result of a repeat
};
} // namespace

void Outliner::numberSegments() {
  straight.emplace_back();
  for (Operation &op : func.front().without_terminator()) {
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      repeats.push_back(repeat);
      segmentOf[&op] = 2 * repeats.size() - 1;
      straight.emplace_back();
      continue;
    }
    segmentOf[&op] = 2 * repeats.size();
    straight.back().push_back(&op);
  }
  segmentOf[func.front().getTerminator()] = 2 * repeats.size();
}

BlockArgument Outliner::findOwn(RepeatOp repeat, unsigned result) {
  auto arg = dyn_cast<BlockArgument>(repeat.getInits()[result]);
  if (!arg || arg.getOwner() != &func.front())
    return {};
  const auto &own = signature.arguments[arg.getArgNumber()];
  if ((own.role != Role::Param && own.role != Role::State) ||
      llvm::any_of(signature.arguments, [&](const auto &other) {
        return other.derivedFrom == own.name; // they change together
      }))
    return {};
  unsigned reads = 0; // old values that would be new ones
  for (Operation *user : arg.getUsers()) {
    Operation *top = func.front().findAncestorOpInBlock(*user);
    reads += segmentOf.lookup(top) >= segmentOf.lookup(repeat);
  }
  auto terminator = func.front().getTerminator();
  for (auto [i, returned] : llvm::enumerate(signature.results))
    if (reads == 1 && returned.updates == own.name &&
        terminator->getOperand(i) == repeat.getResults()[result])
      return arg;
  return {};
}

void Outliner::findOwns() {
  for (RepeatOp repeat : repeats)
    for (OpResult result : repeat.getResults())
      if (BlockArgument own = findOwn(repeat, result.getResultNumber()))
        owns[result] = own;
}

Carrier Outliner::carrierOf(RepeatOp repeat, int64_t result) {
  auto number = llvm::find(repeats, repeat) - repeats.begin();
  std::string name =
      (func.getName() + ".repeat" + Twine(number) + "." +
       (result < 0 ? Twine("count") : Twine(result)))
          .str();
  if (result < 0)
    return {name, repeat.getBody().front().getArgument(0).getType(), {}};
  if (BlockArgument own = owns.lookup(repeat.getResults()[result]))
    return {signature.arguments[own.getArgNumber()].name.str(), own.getType(),
            func.getArgAttrDict(own.getArgNumber())};
  return {name, repeat.getResults()[result].getType(), {}};
}

void Outliner::findCrossings() {
  auto isReadElsewhere = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *top = func.front().findAncestorOpInBlock(*user);
      unsigned reader = segmentOf.lookup(top);
      if (user == top && isa<RepeatOp>(user)) // inits are read in front of it
        --reader;
      return reader != segmentOf.lookup(value.getDefiningOp());
    });
  };
  for (auto &ops : straight)
    for (Operation *op : ops)
      for (Value value : op->getResults())
        if (!isMadeAgain(op) && isReadElsewhere(value))
          crossings.insert({value,
                            {(func.getName() + ".cross" +
                              Twine(crossings.size())).str(),
                             value.getType()}});
}

Value Outliner::argument(PartBuilder &part, unsigned number) {
  const auto &own = signature.arguments[number];
  // What a derived state is a cast of stands in front of it.
  if (int64_t source = signature.findArgument(own.derivedFrom); source >= 0)
    (void)argument(part, unsigned(source));
  return part.argument({own.name.str(), func.getArgumentTypes()[number],
                        func.getArgAttrDict(number)});
}

Value Outliner::lookup(PartBuilder &part, Value value) {
  if (Value known = part.mapping.lookupOrNull(value))
    return known;
  Value found;
  Operation *maker = value.getDefiningOp();
  if (!maker) {
    found = argument(part, cast<BlockArgument>(value).getArgNumber());
  } else if (auto repeat = dyn_cast<RepeatOp>(maker)) {
    found = part.argument(
        carrierOf(repeat, cast<OpResult>(value).getResultNumber()));
  } else if (isMadeAgain(maker)) {
    OpBuilder builder = OpBuilder::atBlockBegin(&part.block());
    builder.clone(*maker, part.mapping);
    return part.mapping.lookup(value);
  } else {
    found = part.argument(crossings.lookup(value));
  }
  part.mapping.map(value, found);
  return found;
}

void Outliner::cloneInto(PartBuilder &part, Operation &op) {
  for (Value operand : op.getOperands())
    (void)lookup(part, operand);
  OpBuilder builder = OpBuilder::atBlockEnd(&part.block());
  builder.clone(op, part.mapping);
}

void Outliner::updateCrossings(PartBuilder &part, unsigned segment) {
  for (const auto &[value, carrier] : crossings)
    if (segmentOf.lookup(value.getDefiningOp()) == segment)
      part.update(part.mapping.lookup(value), carrier);
}

/// What stands in front of `next`, which starts `next` with its inits.
void Outliner::outlineStraight(unsigned segment, RepeatOp next) {
  PartBuilder part(func, segment, func.getLoc(), 1);
  for (Operation *op : straight[segment / 2])
    if (!isMadeAgain(op)) // those follow their readers
      cloneInto(part, *op);
  updateCrossings(part, segment);
  for (auto [i, init] : llvm::enumerate(next.getInits()))
    if (!owns.contains(next.getResults()[i]))
      part.update(lookup(part, init), carrierOf(next, i));
  BlockArgument counter = next.getBody().front().getArgument(0);
  if (!counter.use_empty()) {
    OpBuilder builder = OpBuilder::atBlockEnd(&part.block());
    auto zero = DenseElementsAttr::get(cast<ShapedType>(counter.getType()),
                                       builder.getI64IntegerAttr(0));
    part.update(ConstantOp::create(builder, next.getLoc(), zero),
                carrierOf(next, -1));
  }
  part.finish();
}

void Outliner::outlineBody(unsigned segment, RepeatOp repeat) {
  PartBuilder part(func, segment, repeat.getLoc(), repeat.getTimes());
  Block &body = repeat.getBody().front();
  for (BlockArgument arg : body.getArguments())
    if (int64_t number = arg.getArgNumber(); number > 0 || !arg.use_empty())
      part.mapping.map(arg, part.argument(carrierOf(repeat, number - 1)));
  for (Operation &op : body.without_terminator())
    cloneInto(part, op);
  for (auto [i, value] :
       llvm::enumerate(body.getTerminator()->getOperands()))
    part.update(lookup(part, value), carrierOf(repeat, i));
  if (BlockArgument counter = body.getArgument(0); !counter.use_empty()) {
    OpBuilder builder = OpBuilder::atBlockEnd(&part.block());
    Value next = StepIncOp::create(builder, repeat.getLoc(),
                                   part.mapping.lookup(counter), Value());
    part.update(next, carrierOf(repeat, -1));
  }
  part.finish();
}

/// What stands behind the last repeat.
void Outliner::finishEntry() {
  EntryBuilder entry(func);
  llvm::StringMap<Value> states;
  OpBuilder builder = OpBuilder::atBlockBegin(&func.front());
  IRMapping madeAgain;
  auto replaced = [&](Value value) -> Value {
    Operation *maker = value.getDefiningOp();
    if (!maker || segmentOf.lookup(maker) == 2 * repeats.size())
      return value;
    if (isMadeAgain(maker)) {
      if (!madeAgain.contains(value))
        builder.clone(*maker, madeAgain);
      return madeAgain.lookup(value);
    }
    Carrier carrier = crossings.lookup(value);
    if (auto repeat = dyn_cast<RepeatOp>(maker)) {
      if (BlockArgument own = owns.lookup(value))
        return own;
      carrier = carrierOf(repeat, cast<OpResult>(value).getResultNumber());
    }
    Value &state = states[carrier.name];
    if (!state)
      state = entry.addScratch(carrier.type, carrier.name);
    return state;
  };
  SmallVector<Value> returned = llvm::map_to_vector(
      func.front().getTerminator()->getOperands(), replaced);
  for (Operation *op : straight.back())
    for (OpOperand &operand : op->getOpOperands())
      operand.set(replaced(operand.get()));
  entry.filterResults([&](unsigned i) { // the runs update it already
    auto arg = dyn_cast<BlockArgument>(returned[i]);
    return !arg || signature.results[i].target != arg.getArgNumber();
  });
  entry.mapResults(replaced);
  entry.finish();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(func.front())))
    if (segmentOf.contains(&op) && segmentOf.lookup(&op) < 2 * repeats.size())
      op.erase();
}

void Outliner::run() {
  numberSegments();
  findOwns();
  findCrossings();
  for (auto [i, repeat] : llvm::enumerate(repeats)) {
    outlineStraight(2 * i, repeat);
    outlineBody(2 * i + 1, repeat);
  }
  finishEntry();
}

namespace {
struct OutlineRepeats : aicf::impl::OutlineRepeatsBase<OutlineRepeats> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> entries = getEntries(getOperation());
    for (func::FuncOp func : entries)
      if (hasRepeat(func)) {
        if (failed(checkRepeats(func, entries)))
          return signalPassFailure();
        Outliner(func).run();
      }
    if (failed(checkParts(getEntries(getOperation()))))
      signalPassFailure();
  }
};
} // namespace
