//===- AnnotateInplace.cpp - drop copies, share storage -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Three steps: (1) write updates straight into
// their arguments, (2) drop copies that protected an argument nobody overwrites
// too early, (3) let results take over operands' storage.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryPass.h"
#include "lib/Transforms/RT/SideCalls.h"
#include "lib/Transforms/RT/Storage.h"
#include "lib/Transforms/Remarks.h"

namespace aicf {
#define GEN_PASS_DEF_ANNOTATEINPLACE
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

namespace {
class Annotator {
public:
  Annotator(func::FuncOp func, const step::EntrySignature &signature,
            CallList &list, bool requireInplace, bool isConcurrent)
      : func(func), list(list), signature(signature),
        requireInplace(requireInplace), isConcurrent(isConcurrent) {
    for (auto [position, result] : llvm::enumerate(signature.results))
      updatesOf[result.target].push_back(unsigned(position));
  }

  LogicalResult run();

private:
  void dropUpdateCopy(OpOperand &returned);
  LogicalResult reportCopy(OpOperand &returned);
  Operation *findBlockingReader(BlockArgument arg, Value source) const;
  CallOp findBlockingReader(BlockArgument arg, OpResult written) const;
  void dropStagingCopy(OpOperand &returned);
  void annotateTemps();
  bool mayTakeOver(const AccessSet &accesses, Value operand,
                   OpResult result) const;
  void erase(CallOp copy) {
    list.drop(copy);
    copy->erase();
  }
  bool before(CallOp a, CallOp b) const {
    return list.getOrder().before(list.indexOf(a), list.indexOf(b));
  }

  func::FuncOp func;
  CallList &list;
  const step::EntrySignature &signature;
  bool requireInplace;
  bool isConcurrent; ///< several streams are to come
  /// By argument, the results that update it.
  llvm::DenseMap<int64_t, SmallVector<unsigned, 1>> updatesOf;
  std::optional<SideCalls> sides; ///< if isConcurrent
  int64_t numCopiesLeft = 0, numInplace = 0;
};
} // namespace

/// The copy if `value` is the result of a protective copy that orders nothing
/// and has no other use, else null.
static CallOp getProtectiveCopy(Value value) {
  CallOp copy = callOf(value);
  return copy && copy.getProtective() && copy.isOnly(OpKind::Copy) &&
                 copy->hasOneUse() && copy.getWaits().empty() &&
                 copy.getSignals().empty()
             ? copy
             : CallOp();
}

static void setInplace(CallOp op, unsigned result, int64_t operand) {
  SmallVector<int64_t> inplace(op->getNumResults(), -1);
  llvm::copy(op.getInplace(), inplace.begin());
  inplace[result] = operand;
  op.setInplace(inplace);
}

/// A call that reads `arg` when `written` would already have overwritten it: not
/// before the call that makes it, and not that call through a legal tie.
CallOp Annotator::findBlockingReader(BlockArgument arg,
                                     OpResult written) const {
  CallOp writer = makerOf(written), blocking;
  anyRead(arg, [&](CallOp reader, unsigned operand) {
    bool isOver =
        reader == writer
            ? writer->getOperand(operand) == arg && !joinOf(written) &&
                  writer.mayShareStorage(written.getResultNumber(), operand)
            : before(reader, writer);
    blocking = isOver ? CallOp() : reader;
    return !isOver;
  });
  return blocking;
}

/// The same of `source` and all of its parts.
Operation *Annotator::findBlockingReader(BlockArgument arg,
                                         Value source) const {
  Operation *blocking = nullptr;
  forEachPart(source, [&](Value part) {
    if (!blocking && callOf(part))
      blocking = findBlockingReader(arg, cast<OpResult>(part));
  });
  return !blocking && isReturned(arg) ? arg.getOwner()->getTerminator()
                                      : blocking;
}

/// `return copy(v)` as the update of an argument: returns v itself if v's
/// producer may write into the argument.
void Annotator::dropUpdateCopy(OpOperand &returned) {
  CallOp copy = getProtectiveCopy(returned.get());
  if (!copy)
    return;
  BlockArgument arg =
      func.getArgument(signature.results[returned.getOperandNumber()].target);
  auto source = dyn_cast<OpResult>(copy.getOperand(0));
  if (!source || getProtectiveCopy(source))
    return; // an argument that updates another: dropStagingCopy
  assert(baseOf(source) == source && "a protective copy of a view");
  if (isReturned(source))
    return; // it already is an update or an output itself
  if (findBlockingReader(arg, Value(source)))
    return;
  returned.set(source);
  if (CallOp writer = callOf(source))
    for (auto [i, operand] : llvm::enumerate(writer.getArgs()))
      if (operand == arg)
        setInplace(writer, source.getResultNumber(), int64_t(i));
  erase(copy);
}

/// A remark, and with require-inplace an error, for an update that is still
/// written by a copy.
LogicalResult Annotator::reportCopy(OpOperand &returned) {
  CallOp copy = getProtectiveCopy(returned.get());
  if (!copy)
    return success();
  const auto &update = signature.results[returned.getOperandNumber()];
  BlockArgument arg = func.getArgument(update.target);
  Value source = copy.getOperand(0);
  ++numCopiesLeft;
  auto result = dyn_cast<OpResult>(source);
  Operation *reader = result && !getProtectiveCopy(result)
                          ? findBlockingReader(arg, Value(result))
                          : nullptr;
  std::string why =
      "the update of \"" + update.updates.str() + "\" needs a copy: ";
  if (reader)
    why += nameOfCall(reader) + " still reads the old value when " +
           nameOfCall(result.getOwner()) + " would overwrite it";
  else
    why += nameOfCall(copy) +
           " reads a value that lives in another argument or is returned twice";
  remark::missed(source.getLoc(),
                 remarkOf("AnnotateInplace", func.getSymName()))
      << StringRef(why);
  if (!requireInplace)
    return success();
  InFlightDiagnostic diag = mlir::emitError(source.getLoc()) << why;
  if (reader)
    diag.attachNote(reader->getLoc()) << "read here";
  return diag;
}

/// `copy(copy(a))` for an argument a: reads a directly if a's own update is
/// written later, or never.
void Annotator::dropStagingCopy(OpOperand &returned) {
  CallOp copy = getProtectiveCopy(returned.get());
  CallOp staging = copy ? getProtectiveCopy(copy.getOperand(0)) : CallOp();
  if (!staging)
    return;
  auto arg = dyn_cast<BlockArgument>(staging.getOperand(0));
  if (!arg)
    return;
  for (unsigned position : updatesOf.lookup(arg.getArgNumber())) {
    Value value = returned.getOwner()->getOperand(position);
    bool isLater = true; // what is an argument has no maker
    forEachMaker(value,
                 [&](CallOp maker) { isLater &= before(copy, maker); });
    if (!isLater)
      return;
  }
  copy->setOperand(0, arg);
  erase(staging);
}

/// True if another result of the call is in place on that storage already.
static bool isTaken(CallOp call, Value base) {
  return llvm::any_of(call.getInplace(), [&](int64_t operand) {
    return operand >= 0 && baseOf(call.getArgs()[operand]) == base;
  });
}

/// Every access to the operand's storage is over, but for the call's own
/// through ties.
bool Annotator::mayTakeOver(const AccessSet &accesses, Value operand,
                            OpResult result) const {
  CallOp call = makerOf(result);
  // Whether there is a join takes a walk over all readers: of the last one
  // alone.
  if (operand.getType() != result.getType() || !isWhole(operand) ||
      !accesses.allBeforeCall(list.getOrder(), list.indexOf(call)) ||
      joinOf(result) || joinOf(baseOf(operand)))
    return false;
  // Overwriting what a side call reads would make the main stream wait for it.
  if (sides && !sides->contains(call) && sides->read(baseOf(operand)))
    return false;
  // Not over the operand's readers, which may be any number of calls; what the
  // call reads as another view comes in another order.
  for (auto [i, read] : llvm::enumerate(call.getArgs()))
    if (baseOf(read) == baseOf(operand) &&
        (read != operand ||
         !call.mayShareStorage(result.getResultNumber(), unsigned(i))))
      return false;
  return true;
}

void Annotator::annotateTemps() {
  // Without the copies that were erased; with them it was well-formed.
  list = CallList(func);
  if (isConcurrent)
    sides.emplace(list.getCalls());
  StoragePlan storages(func, signature, list);
  llvm::DenseSet<Value> returned(llvm::from_range,
                                 func.front().getTerminator()->getOperands());
  auto isUpdate = [&](OpResult result) {
    return anyReturn(result, [&](unsigned position) {
      return !signature.results[position].updates.empty();
    });
  };
  for (CallOp op : list.getCalls())
    for (OpResult result : op->getResults()) {
      if (isUpdate(result))
        continue;
      for (auto [i, operand] : llvm::enumerate(op.getArgs())) {
        Value base = baseOf(operand);
        if (isa<BlockArgument>(base) || returned.contains(base) ||
            isTaken(op, base) ||
            !mayTakeOver(storages.getStorage(operand).accesses, operand,
                         result))
          continue;
        setInplace(op, result.getResultNumber(), i);
        ++numInplace;
        storages.takeOver(result, operand);
        break;
      }
    }
}

LogicalResult Annotator::run() {
  Operation *terminator = func.front().getTerminator();
  auto updates = llvm::make_filter_range(
      terminator->getOpOperands(), [&](OpOperand &returned) {
        return !signature.results[returned.getOperandNumber()].updates.empty();
      });
  for (OpOperand &returned : updates)
    dropUpdateCopy(returned);
  for (OpOperand &returned : updates)
    dropStagingCopy(returned);
  for (OpOperand &returned : updates)
    if (failed(reportCopy(returned)))
      return failure();
  annotateTemps();
  remarkCounts(
      func, "AnnotateInplace",
      {{"update_copies_left", numCopiesLeft}, {"temps_in_place", numInplace}});
  return success();
}

namespace {
struct AnnotateInplace
    : EntryPass<aicf::impl::AnnotateInplaceBase<AnnotateInplace>> {
  using EntryPass::EntryPass;
  void runOnEntry(func::FuncOp func) override {
    CallList list(func); // changes while copies are dropped
    if (!list.isValid() ||
        failed(Annotator(func, getAnalysis<EntrySignature>(), list,
                         requireInplace, numStreams > 1)
                   .run()))
      return signalPassFailure();
  }
};
} // namespace
