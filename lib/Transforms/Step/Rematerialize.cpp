//===- Rematerialize.cpp - compute values again, to keep fewer ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// RecomputePlan decides. This file gives the readers of saves what was chosen.
// The choices come in the order of their first readers, so that what marked ops
// compute again stands in front of all that read it.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/RecomputePlan.h"
#include "lib/Dialect/AICF/Target.h"
#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Remarks.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace aicf {
#define GEN_PASS_DEF_REMATERIALIZE
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {
/// Rewrites the readers of saves in one entry.
class Rematerializer {
public:
  Rematerializer(func::FuncOp func, const RecomputeCosts &costs)
      : func(func), plan(func, costs), builder(func.getContext()) {}
  void run();

private:
  Value kept(Value value);
  void computeAgain(const Choice &choice);
  void readMask(const Choice &choice);
  void remarkChoice(const Choice &choice);

  func::FuncOp func;
  RecomputePlan plan;
  OpBuilder builder;
  llvm::DenseMap<Value, SaveOp> saves; ///< by what they save
  IRMapping marked;                    ///< what marked ops compute again
};
} // namespace

/// A kept value as the backward pass reads it.
Value Rematerializer::kept(Value value) {
  if (!value.getDefiningOp() || value.getDefiningOp<SaveOp>())
    return value;
  SaveOp &save = saves[value];
  if (!save) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    save = SaveOp::create(builder, value.getLoc(), value);
  }
  return save.getY();
}

void Rematerializer::computeAgain(const Choice &choice) {
  IRMapping ofValue;
  IRMapping &again = choice.isMarked ? marked : ofValue;
  SmallVector<Operation *> ops(choice.again.ops.begin(),
                               choice.again.ops.end());
  llvm::sort(ops, [](Operation *a, Operation *b) {
    return a->isBeforeInBlock(b);
  });
  builder.setInsertionPoint(choice.readers.front()->getOwner());
  for (Value source : choice.again.sources)
    if (!again.contains(source))
      again.map(source, kept(source));
  for (Operation *op : ops)
    builder.clone(*op, again)->removeDiscardableAttr(kRecomputeAttr);
  // What read a dense copy of a view does so still: a product of other strides
  // could be another kernel, of other bits.
  Value made = again.lookup(choice.value), dense = made;
  if (isView(choice.value.getDefiningOp()) &&
      llvm::any_of(choice.readers, [](OpOperand *reader) {
        return reader->get().getDefiningOp<SaveOp>();
      }))
    dense = SaveOp::create(builder, choice.value.getLoc(), made);
  for (OpOperand *reader : choice.readers)
    reader->set(reader->get().getDefiningOp<SaveOp>() ? dense : made);
}

/// Who reads a product decides its form, and so its bits: what is chosen here,
/// which saves go and which come, is not to change it.
static void keepForm(Value value) {
  if (auto product = value.getDefiningOp<MatmulOp>())
    product->setAttr(kReadTurnedAttr,
                     BoolAttr::get(value.getContext(), isReadTurned(value)));
}

void Rematerializer::readMask(const Choice &choice) {
  for (OpOperand *reader : choice.readers) {
    auto op = cast<ComparingOpInterface>(reader->getOwner());
    builder.setInsertionPointAfterValue(choice.value);
    Value mask = op.buildMask(builder, choice.value);
    Value save = SaveOp::create(builder, choice.value.getLoc(), mask);
    builder.setInsertionPoint(op);
    Value dy = op->getOperand(0);
    op->replaceAllUsesWith(
        MaskedFillOp::create(builder, op.getLoc(), dy, save,
                             llvm::APFloat(0.0), /*inverted=*/true));
    op->erase();
  }
}

void Rematerializer::remarkChoice(const Choice &choice) {
  if (auto remark = remark::passed(
          choice.value.getLoc(),
          remarkOf("Rematerialize", func.getSymName())))
    remark << (choice.isMask ? "the backward pass reads a mask"
               : choice.readers.empty()
                   ? "the backward pass reads another value"
                   : "the backward pass computes it again")
           << remark::metric("spared bytes", choice.sparedBytes)
           << remark::metric("moved bytes", choice.movedBytes);
}

void Rematerializer::run() {
  SmallVector<SaveOp> before(func.front().getOps<SaveOp>());
  for (SaveOp save : before)
    saves.try_emplace(save.getX(), save);
  for (const Choice &choice : plan.choices()) {
    keepForm(choice.value);
    llvm::for_each(choice.again.sources, keepForm);
    for (Operation *op : choice.again.ops)
      llvm::for_each(op->getResults(), keepForm);
  }
  int64_t numOps = 0, numMasks = 0, numSwitched = 0;
  for (const Choice &choice : plan.choices()) {
    remarkChoice(choice);
    for (auto &[reader, other] : choice.switched)
      reader->set(kept(other));
    numSwitched += int64_t(choice.switched.size());
    numOps += int64_t(choice.again.ops.size());
    if (choice.isMask) {
      numMasks += int64_t(choice.readers.size());
      readMask(choice);
    } else if (!choice.readers.empty()) {
      computeAgain(choice);
    }
  }
  for (SaveOp save : before)
    if (save.getY().use_empty())
      save.erase();
  remarkCounts(func, "Rematerialize",
               {{"again", numOps}, {"masks", numMasks},
                {"switched", numSwitched}});
}

namespace {
struct Rematerialize : aicf::impl::RematerializeBase<Rematerialize> {
  using RematerializeBase::RematerializeBase;
  LogicalResult initialize(MLIRContext *context) override {
    if (rate >= 0) // a NaN is not
      return success();
    return emitError(UnknownLoc::get(context))
           << "rate is " << rate << ", expected a number >= 0";
  }
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isEntry(func))
      return markAllAnalysesPreserved();
    if (failed(checkStepForm(func)))
      return signalPassFailure();
    for (Operation &op : func.front())
      if (op.hasAttr(kRecomputeAttr) && !isPure(&op)) {
        op.emitOpError() << "has 'aicf.recompute', but is not pure";
        return signalPassFailure();
      }
    RecomputeCosts costs;
    costs.rate = rate;
    costs.callBytes = targetOf(func).costs.callBytes;
    Rematerializer(func, costs).run();
    for (Operation &op : func.front())
      op.removeDiscardableAttr(kRecomputeAttr);
  }
};
} // namespace
