//===- AnnotateInplace.cpp - drop copies, share storage -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description. Three steps: (1) write updates straight into
// their arguments, (2) drop copies that protected an argument nobody overwrites
// too early, (3) let results take over operands' storage.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
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
  Annotator(func::FuncOp func, CallList &list, bool requireInplace,
            bool isConcurrent)
      : func(func), list(list), signature(list.signature),
        requireInplace(requireInplace), isConcurrent(isConcurrent) {}

  LogicalResult run();

private:
  void dropUpdateCopy(OpOperand &returned);
  LogicalResult reportCopy(OpOperand &returned);
  Operation *findBlockingReader(BlockArgument arg, OpResult source) const;
  void dropStagingCopy(OpOperand &returned);
  void annotateTemps();
  bool mayTakeOver(const AccessSet &accesses, Value operand,
                   OpResult result) const;
  void erase(Operation *copy) {
    // Its slot in the call list stays: nobody accesses anything there.
    list.indexOf.erase(copy);
    copy->erase();
  }
  uint32_t indexOf(Operation *op) const { return list.indexOf.at(op); }

  func::FuncOp func;
  CallList &list;
  const step::EntrySignature &signature;
  bool requireInplace;
  bool isConcurrent; ///< several streams are to come
  int64_t numCopiesLeft = 0, numInplace = 0;
};
} // namespace

/// The copy if `value` is the result of a protective copy that orders nothing
/// and has no other use, else null.
static CallOp getProtectiveCopy(Value value) {
  auto copy = value.getDefiningOp<CallOp>();
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

/// Somebody who reads `arg` when `source` would already have overwritten it:
/// not before source's op, and not source's op through a legal tie.
Operation *Annotator::findBlockingReader(BlockArgument arg,
                                         OpResult source) const {
  auto writer = cast<CallOp>(source.getOwner());
  for (OpOperand &use : arg.getUses()) {
    Operation *user = use.getOwner();
    if (user == writer) {
      if (!writer.mayShareStorage(source.getResultNumber(),
                                  use.getOperandNumber()))
        return user;
      continue;
    }
    if (!list.indexOf.count(user) ||
        !list.order.before(indexOf(user), indexOf(writer)))
      return user;
  }
  return nullptr;
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
  for (OpOperand &use : source.getUses())
    if (isa<func::ReturnOp>(use.getOwner()))
      return; // it already is an update or an output itself
  if (findBlockingReader(arg, source))
    return;
  returned.set(source);
  auto writer = cast<CallOp>(source.getOwner());
  for (OpOperand &use : arg.getUses())
    if (use.getOwner() == writer)
      setInplace(writer, source.getResultNumber(), use.getOperandNumber());
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
                          ? findBlockingReader(arg, result)
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
  StringRef name = signature.arguments[arg.getArgNumber()].name;
  for (auto [result, value] :
       llvm::zip(signature.results, returned.getOwner()->getOperands())) {
    if (result.updates != name || isa<BlockArgument>(value))
      continue;
    if (!list.order.before(indexOf(copy), indexOf(value.getDefiningOp())))
      return;
  }
  copy->setOperand(0, arg);
  erase(staging);
}

/// Every access to the operand's storage is over, but for the op's own through
/// ties.
bool Annotator::mayTakeOver(const AccessSet &accesses, Value operand,
                            OpResult result) const {
  auto op = cast<CallOp>(result.getOwner());
  if (operand.getType() != result.getType() ||
      !accesses.allBeforeCall(list.order, indexOf(op)))
    return false;
  // Overwriting what a side call reads would make the main stream wait for it.
  if (isConcurrent && !isSideCall(op))
    for (Operation *user : operand.getUsers())
      if (user != op && isSideCall(cast<CallOp>(user)))
        return false;
  // Not over the operand's uses, which may be any number of calls.
  for (OpOperand &use : op->getOpOperands())
    if (use.get() == operand &&
        !op.mayShareStorage(result.getResultNumber(), use.getOperandNumber()))
      return false;
  return true;
}

void Annotator::annotateTemps() {
  // Without the copies that were erased; with them it was well-formed.
  list = *CallList::create(func);
  StorageAnalysis storages(func, list);
  llvm::DenseSet<Value> isReturned;
  isReturned.insert_range(func.front().getTerminator()->getOperands());
  auto isUpdate = [&](OpResult result) {
    return llvm::any_of(result.getUses(), [&](OpOperand &use) {
      return isa<func::ReturnOp>(use.getOwner()) &&
             !signature.results[use.getOperandNumber()].updates.empty();
    });
  };
  for (CallOp op : list.calls)
    for (OpResult result : op->getResults()) {
      if (isUpdate(result))
        continue;
      for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
        if (isa<BlockArgument>(operand) || isReturned.contains(operand) ||
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
struct AnnotateInplace : aicf::impl::AnnotateInplaceBase<AnnotateInplace> {
  using AnnotateInplaceBase::AnnotateInplaceBase;
  void runOnOperation() override {
    for (func::FuncOp func : getEntries(getOperation())) {
      FailureOr<CallList> list = CallList::create(func);
      if (failed(list) ||
          failed(Annotator(func, *list, requireInplace, numStreams > 1).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
