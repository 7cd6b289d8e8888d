//===- CheckCaptureSafety.cpp - optimizers must not be frozen -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Follows the step operand of each counter op back to its step_inc, and that
// one's state to its update; follows moments to the results that update them.
// Whatever else a step reads lies on the device.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"

namespace aicf {
#define GEN_PASS_DEF_CHECKCAPTURESAFETY
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {
/// The state arguments and results of one entry.
struct Checker {
  func::FuncOp func;
  EntrySignature signature;

  explicit Checker(func::FuncOp func) : func(func), signature(func) {}

  /// The name of the state that `value` is, or an empty string.
  StringRef stateName(Value value) const {
    auto arg = dyn_cast<BlockArgument>(value);
    if (!arg || signature.arguments[arg.getArgNumber()].role != Role::State)
      return {};
    return signature.arguments[arg.getArgNumber()].name;
  }

  /// True when the entry returns `value` as the update of `name`.
  bool updates(Value value, StringRef name) const {
    for (OpOperand &use : value.getUses())
      if (isa<func::ReturnOp>(use.getOwner()) &&
          signature.results[use.getOperandNumber()].updates == name)
        return true;
    return false;
  }

  LogicalResult checkPrimitive(Operation *op, Value step) const;
  LogicalResult checkOldStep(Operation *op, Value step) const;
  LogicalResult checkMoments(StepOpInterface op) const;
};
} // namespace

/// `step` is read before the update half: by the count as it was, which goes on
/// there.
LogicalResult Checker::checkOldStep(Operation *op, Value step) const {
  if (step.getDefiningOp<StepIncOp>())
    return op->emitOpError() << "capture safety: its step is the result of an "
                                "aicf.step_inc, which the update half runs "
                                "later: give it the state that is counted";
  auto arg = dyn_cast<BlockArgument>(step);
  if (arg && signature.arguments[arg.getArgNumber()].role == Role::Input)
    return success(); // another one in every step, if the host says so
  for (Operation *user : step.getUsers())
    if (auto inc = dyn_cast<StepIncOp>(user))
      return checkPrimitive(op, inc.getStepOut());
  return op->emitOpError() << "capture safety: its step is not counted by an "
                              "aicf.step_inc, so a captured graph would draw "
                              "the same numbers in every step";
}

/// `step` is the result of a bias correction or of the step_inc itself.
LogicalResult Checker::checkPrimitive(Operation *op, Value step) const {
  Operation *bc = step.getDefiningOp();
  if (isa_and_nonnull<BiasCorrOp, GroupBiasCorrOp>(bc)) {
    op = bc;
    step = bc->getOperand(0);
  }
  auto inc = step.getDefiningOp<StepIncOp>();
  if (!inc)
    return op->emitOpError() << "capture safety: its step does not come "
                                "through aicf.step_inc, so "
                                "a captured graph would train on a frozen step";
  StringRef state = stateName(inc.getStep());
  if (state.empty())
    return inc.emitOpError()
           << "capture safety: counts a value that is not an argument of role "
              "state, so the count would not persist";
  if (!updates(inc.getStepOut(), state))
    return inc.emitOpError() << "capture safety: its result does not update \""
                             << state << "\", so the step would never advance";
  return success();
}

LogicalResult Checker::checkMoments(StepOpInterface op) const {
  for (const Moment &moment : op.getTraining().moments) {
    StringRef state = stateName(moment.state);
    if (state.empty())
      return op->emitOpError() << "capture safety: moment " << moment.name
                               << " is not an argument of role state";
    if (!updates(moment.next, state))
      return op->emitOpError()
             << "capture safety: result " << moment.nextName
             << " does not update \"" << state << "\", which operand "
             << moment.name << " reads";
  }
  return success();
}

namespace {
struct CheckCaptureSafety
    : aicf::impl::CheckCaptureSafetyBase<CheckCaptureSafety> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    func::FuncOp func = getOperation();
    if (!isEntry(func))
      return;
    Checker checker(func);
    for (auto op : func.getOps<StepOpInterface>()) {
      OpOperand *step = op.getCounterOperand();
      bool isUpdate = isUpdateHalf(op.getPhase());
      if (step && failed(isUpdate ? checker.checkPrimitive(op, step->get())
                                  : checker.checkOldStep(op, step->get())))
        return signalPassFailure();
      if (failed(checker.checkMoments(op)))
        return signalPassFailure();
    }
  }
};
} // namespace
