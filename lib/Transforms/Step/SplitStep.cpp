//===- SplitStep.cpp - gradients and update as two entries ---------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Both halves are clones of the whole; each keeps
// the results that belong to it, and dead ops fall away. What crosses from one
// to the other is a state, so that nothing is copied in between.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/DeadOps.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Step/EntryBuilder.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

namespace aicf {
#define GEN_PASS_DEF_SPLITSTEP
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {
/// A value that crosses from the gradients to the update.
struct Crossing {
  Value value; ///< in the whole
  std::string name;
};
} // namespace

/// Values that the update ops read and the others make, in order.
static SmallVector<Crossing>
findCrossings(func::FuncOp func, const llvm::DenseSet<Operation *> &update) {
  EntrySignature signature(func);
  // A value that an optimizer takes as a gradient has the name of that
  // gradient, whatever else reads it. Of two optimizers of one parameter the
  // first counts.
  llvm::DenseMap<Value, std::string> gradients;
  llvm::StringSet<> named;
  for (Operation &op : func.front().without_terminator()) {
    Training training = trainingOf(&op);
    auto param = training ? dyn_cast<BlockArgument>(training.param->get())
                          : BlockArgument();
    if (!param || gradients.contains(training.grad->get()))
      continue;
    std::string name =
        "grad:" + signature.arguments[param.getArgNumber()].name.str();
    if (named.insert(name).second)
      gradients[training.grad->get()] = name;
  }
  SmallVector<Crossing> crossings;
  llvm::DenseSet<Value> seen;
  for (Operation &op : func.front().without_terminator()) {
    if (!update.count(&op))
      continue;
    for (Value value : op.getOperands()) {
      Operation *maker = value.getDefiningOp();
      if (!maker || update.count(maker) || !seen.insert(value).second)
        continue;
      std::string name = gradients.lookup(value);
      if (name.empty())
        name = (func.getName() + ".cross:" + Twine(crossings.size())).str();
      crossings.push_back({value, name});
    }
  }
  return crossings;
}

/// Adds what only the update reads and hypers alone say: the host sets those
/// for the update, not for the gradients.
static void addFunctionsOfHypers(func::FuncOp func,
                                 llvm::DenseSet<Operation *> &update) {
  EntrySignature signature(func);
  llvm::DenseSet<Operation *> ofHypers;
  for (Operation &op : func.front().without_terminator()) {
    bool isOfHypers =
        op.getNumOperands() > 0 && isPure(&op) &&
        llvm::all_of(op.getOperands(), [&](Value v) {
          auto arg = dyn_cast<BlockArgument>(v);
          return arg ? signature.arguments[arg.getArgNumber()].role ==
                           Role::Hyper
                     : ofHypers.contains(v.getDefiningOp());
        });
    if (isOfHypers)
      ofHypers.insert(&op);
  }
  for (Operation &op : llvm::reverse(func.front().without_terminator()))
    if (ofHypers.contains(&op) && !op.use_empty() &&
        llvm::all_of(op.getUsers(),
                     [&](Operation *user) { return update.contains(user); }))
      update.insert(&op);
}

/// The gradients half updates its states before the update half runs, which
/// must not read their old values any more.
static LogicalResult
checkOverwrites(func::FuncOp func, const llvm::DenseSet<Operation *> &update) {
  EntrySignature signature(func);
  for (auto [value, result] : llvm::zip(
           func.front().getTerminator()->getOperands(), signature.results)) {
    int64_t target = result.target;
    if (target < 0 || update.count(value.getDefiningOp()) ||
        value == func.getArgument(target))
      continue;
    for (Operation *user : func.getArgument(target).getUsers())
      if (update.count(user))
        return func.emitError()
               << "cannot split @" << func.getName() << ": its update reads \""
               << result.updates << "\", which the gradients half would have "
               << "updated already";
  }
  return success();
}

/// The names of the halves and of what crosses are free.
static LogicalResult checkNames(func::FuncOp func,
                                ArrayRef<Crossing> crossings) {
  for (StringRef suffix : {".grads", ".update"})
    if (SymbolTable::lookupNearestSymbolFrom(
            func->getParentOp(),
            StringAttr::get(func.getContext(), func.getName() + suffix)))
      return func.emitError()
             << "cannot split @" << func.getName() << ": there is a @"
             << func.getName() << suffix << " already";
  EntrySignature signature(func);
  for (const Crossing &c : crossings)
    if (signature.findArgument(c.name) >= 0)
      return func.emitError()
             << "cannot split @" << func.getName() << ": argument "
             << signature.findArgument(c.name) << " is named \"" << c.name
             << "\", as the state that would carry a gradient";
  return success();
}

/// The names of inputs and outputs of all entries. No state of any entry may be
/// called so.
static llvm::StringSet<> namesOfIO(ArrayRef<func::FuncOp> entries) {
  llvm::StringSet<> names;
  for (func::FuncOp func : entries) {
    EntrySignature signature(func);
    for (const auto &arg : signature.arguments)
      if (segmentOf(arg.role) == Segment::IO)
        names.insert(arg.name);
    for (const auto &result : signature.results)
      names.insert(result.name);
  }
  return names;
}

/// Erases dead ops, then arguments that nothing reads or updates, but for those
/// that must stay.
static void shrink(func::FuncOp func,
                   llvm::function_ref<bool(StringRef)> mustStay) {
  eraseDeadOps(func.front());
  EntrySignature signature(func);
  llvm::StringSet<> needed;
  for (const auto &result : signature.results)
    needed.insert(result.updates);
  // A derived state keeps its source in the signature.
  for (const auto &arg : signature.arguments)
    needed.insert(arg.derivedFrom);
  llvm::BitVector unused(func.getNumArguments());
  for (auto [i, arg] : llvm::enumerate(signature.arguments))
    if (func.getArgument(i).use_empty() && !needed.contains(arg.name) &&
        !mustStay(arg.name))
      unused.set(i);
  (void)func.eraseArguments(unused);
}

static func::FuncOp cloneAs(func::FuncOp func, StringRef suffix,
                            IRMapping &mapping) {
  auto clone = cast<func::FuncOp>(func->clone(mapping));
  clone.setName((func.getName() + suffix).str());
  func->getBlock()->getOperations().insert(func->getIterator(), clone);
  return clone;
}

/// Entries share the state that carries a gradient, if it is of one type in
/// both; else the later one has its own. So has one whose name an input or
/// output has, such as a gradient that the step returns. `carriers`: the types
/// of those so far.
static void nameApart(func::FuncOp func, SmallVectorImpl<Crossing> &crossings,
                      const llvm::StringSet<> &namesOfIO,
                      llvm::StringMap<Type> &carriers) {
  for (Crossing &c : crossings)
    if (namesOfIO.contains(c.name) ||
        carriers.try_emplace(c.name, c.value.getType()).first->second !=
            c.value.getType())
      c.name = (func.getName() + "." + c.name).str();
}

/// @F becomes @F.grads and @F.update.
static LogicalResult split(func::FuncOp func,
                           const llvm::StringSet<> &namesOfIO,
                           llvm::StringMap<Type> &carriers, bool isInParts) {
  llvm::DenseSet<Operation *> update = findUpdateOps(func);
  if (llvm::none_of(func.getOps<StepOpInterface>(),
                    [](auto op) { return bool(op.getTraining()); }))
    return success(); // nothing to split: @predict
  if (llvm::all_of(func.front().without_terminator(),
                   [&](Operation &op) { return update.count(&op); }))
    return success(); // all of it is the update
  if (isInParts || func->hasAttr(kPartOfAttr))
    return func.emitError() << "cannot split @" << func.getName()
                            << ": it has parts, or is one";
  addFunctionsOfHypers(func, update);
  if (failed(checkOverwrites(func, update)))
    return failure();
  SmallVector<Crossing> crossings = findCrossings(func, update);
  nameApart(func, crossings, namesOfIO, carriers);
  if (failed(checkNames(func, crossings)))
    return failure();
  Operation *terminator = func.front().getTerminator();
  auto isUpdate = [&](unsigned i) {
    return update.count(terminator->getOperand(i).getDefiningOp());
  };

  func->removeAttr(kAccumulateAttr); // no half is the last batch of an update
  func->removeAttr(kOutputFormAttr); // nor does it return all outputs
  IRMapping toGrads;
  func::FuncOp grads = cloneAs(func, ".grads", toGrads);
  EntryBuilder first(grads);
  first.filterResults([&](unsigned i) { return !isUpdate(i); });
  for (const Crossing &c : crossings) {
    first.addState(c.value.getType(), c.name);
    first.addUpdate(toGrads.lookup(c.value), c.name);
  }
  first.finish();

  IRMapping toUpdate;
  func::FuncOp second = cloneAs(func, ".update", toUpdate);
  EntryBuilder entry(second);
  entry.filterResults(isUpdate);
  for (const Crossing &c : crossings)
    toUpdate.lookup(c.value).replaceAllUsesWith(
        entry.addState(c.value.getType(), c.name));
  entry.finish();
  shrink(second, [](StringRef) { return false; });
  // What no half uses stays with the first: both plans have the same tensors.
  EntrySignature kept(second);
  shrink(grads, [&](StringRef name) { return kept.findArgument(name) < 0; });
  func.erase();
  return success();
}

namespace {
struct SplitStep : aicf::impl::SplitStepBase<SplitStep> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> entries = getEntries(getOperation());
    llvm::StringSet<> inParts;
    for (func::FuncOp func : entries)
      if (auto root = func->getAttrOfType<StringAttr>(kPartOfAttr))
        inParts.insert(root.getValue());
    const llvm::StringSet<> names = namesOfIO(entries);
    llvm::StringMap<Type> carriers;
    for (func::FuncOp func : entries)
      if (failed(checkStepForm(func)) ||
          failed(split(func, names, carriers,
                       inParts.contains(func.getName()))))
        return signalPassFailure();
  }
};
} // namespace
