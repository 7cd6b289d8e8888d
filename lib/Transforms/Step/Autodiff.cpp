//===- Autodiff.cpp - the backward pass of a loss -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One sweep forward marks what depends on a trained
// parameter, one backward over the ops builds gradients: each op is asked once,
// when the cotangents of its results are complete.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Step/Activity.h"
#include "lib/Transforms/Step/Cotangents.h"
#include "lib/Transforms/Step/EntryBuilder.h"
#include "lib/Transforms/Step/GradientPlaces.h"
#include "lib/Transforms/Step/Gradients.h"

#include "mlir/IR/IRMapping.h"

namespace aicf {
#define GEN_PASS_DEF_AUTODIFF
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {
/// Differentiates one entry.
class Differentiator final : public Cotangents {
public:
  Differentiator(func::FuncOp func, const Activity &activity)
      : Cotangents(OpBuilder(func.front().getTerminator())), func(func),
        activity(activity), entry(func) {}
  LogicalResult run();

  bool isNeeded(Value operand) const override {
    return activity.isVaried(operand);
  }
  Value saved(Value value) override;

private:
  LogicalResult findLoss();
  LogicalResult seed();
  Value unscaled(Value gradient);
  LogicalResult addGradients();
  void sinkCounters(ArrayRef<Operation *> forward);
  void removeMarks(ArrayRef<Operation *> forward);

  func::FuncOp func;
  const Activity &activity;
  EntryBuilder entry;
  Value loss, scale; ///< the factor of its gradients, or null
  llvm::DenseMap<Value, Value> saves; ///< of values, or the same view of a save
};
} // namespace

/// What an op that says only where gradients go stands for; null for other ops.
static Value behindMark(Operation *op) {
  if (auto stop = dyn_cast<StopGradientOp>(op))
    return stop.getX();
  if (auto through = dyn_cast<StraightThroughOp>(op))
    return through.getValue();
  return {};
}

Value Differentiator::saved(Value value) {
  Operation *maker = value.getDefiningOp();
  if (!maker || isa<SaveOp>(maker))
    return value;
  if (Value behind = behindMark(maker))
    return saved(behind);
  if (Value known = saves.lookup(value))
    return known;
  if (!maker->hasTrait<ViewOfOperand>()) {
    OpBuilder forward = OpBuilder::atBlockBegin(value.getParentBlock());
    forward.setInsertionPointAfter(maker);
    return saves[value] = SaveOp::create(forward, value.getLoc(), value);
  }
  IRMapping operands;
  for (Value operand : maker->getOperands())
    operands.map(operand, saved(operand));
  Operation *again = backward.clone(*maker, operands);
  again->removeAttr(kRecomputeAttr);
  return saves[value] = again->getResult(0);
}

//===----------------------------------------------------------------------===//
// The loss
//===----------------------------------------------------------------------===//

LogicalResult Differentiator::findLoss() {
  std::optional<unsigned> found;
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    if (!func.getResultAttr(i, kMinimizeAttr))
      continue;
    if (found)
      return func.emitError()
             << "results " << *found << " and " << i
             << " both have 'aicf.minimize': return their sum (aicf.add) and "
                "mark that";
    found = i;
  }
  loss = func.front().getTerminator()->getOperand(*found);
  auto type = dyn_cast<RankedTensorType>(loss.getType());
  if (!type || type.getRank() != 0 || !isa<FloatType>(type.getElementType()))
    return func.emitError()
           << "result " << *found << " has 'aicf.minimize' and is "
           << loss.getType()
           << ": a loss is a 0-d float tensor; aicf.mean makes one of many";
  return success();
}

//===----------------------------------------------------------------------===//
// The sweep
//===----------------------------------------------------------------------===//

/// The gradient without the loss scale.
Value Differentiator::unscaled(Value gradient) {
  if (!scale)
    return gradient;
  Location loc = gradient.getLoc();
  auto type = cast<RankedTensorType>(gradient.getType());
  Value factor = BroadcastOp::create(
      backward, loc, castTo(backward, scale, type.getElementType()), type.getShape());
  return DivOp::create(backward, loc, gradient, factor);
}

/// The gradient of each parameter: of itself, and of copies of it.
LogicalResult Differentiator::addGradients() {
  SmallVector<std::pair<BlockArgument, Value>> places;
  for (const Trained &t : activity.trained()) {
    Value grad = cotangent(t.param);
    for (BlockArgument copy : t.copies) {
      Value other = cotangent(copy);
      if (!other)
        continue;
      if (grad) // both are read: they are added as the parameter is stored
        grad = AddOp::create(
            backward, other.getLoc(), grad,
            CastOp::create(
                backward, other.getLoc(), other,
                TypeAttr::get(
                    cast<RankedTensorType>(grad.getType()).getElementType())));
      else
        grad = other;
    }
    if (!grad)
      return activity.reportUnreached(t, loss,
                                      [&](Value v) { return isUsed(v); });
    if (t.place) // what reads it was written for the parameter's type
      places.push_back({t.place, unscaled(castTo(backward, grad,
                                                 getElementTypeOrSelf(t.place)))});
    // An optimizer reads it, and so does whoever asked for no place.
    if (!t.place || func->hasAttr(kOptimizerAttr))
      if (EntrySignature(func).arguments[t.param.getArgNumber()].role ==
          Role::Param)
        entry.addGradient(grad, t.name);
  }
  fillGradientPlaces(func, entry, places);
  return success();
}

/// A count goes on behind its last reader, which now may be backward: in place.
void Differentiator::sinkCounters(ArrayRef<Operation *> forward) {
  Operation *terminator = func.front().getTerminator();
  for (Operation *op : forward) {
    auto step = dyn_cast<StepOpInterface>(op);
    if (step && step.getPhase() == Phase::Counter &&
        llvm::all_of(op->getUsers(),
                     [&](Operation *user) { return user == terminator; }))
      op->moveBefore(terminator);
  }
}

void Differentiator::removeMarks(ArrayRef<Operation *> forward) {
  llvm::DenseMap<Value, Value> marked;
  for (Operation *op : forward) {
    if (Value behind = behindMark(op)) {
      op->getResult(0).replaceAllUsesWith(behind);
      marked[op->getResult(0)] = behind;
    }
  }
  entry.mapResults([&](Value v) {
    while (Value behind = marked.lookup(v))
      v = behind;
    return v;
  });
  for (auto [y, x] : marked)
    y.getDefiningOp()->erase();
  entry.dropAttr(kMinimizeAttr);
}

/// The loss's own cotangent: one, or the loss scale.
LogicalResult Differentiator::seed() {
  if (auto name = func->getAttrOfType<StringAttr>(kLossScaleAttr)) {
    int64_t i = EntrySignature(func).findArgument(name.getValue());
    if (i < 0 || func.getArgument(i).getType() != loss.getType())
      return func.emitError()
             << "'aicf.loss_scale' is " << name << ", expected the name of an "
             << "argument of the loss's type " << loss.getType();
    scale = func.getArgument(i);
  }
  if (isNeeded(loss))
    cotangents[loss] = scale;
  return success();
}

LogicalResult Differentiator::run() {
  SmallVector<Operation *> forward;
  for (Operation &op : func.front().without_terminator())
    forward.push_back(&op);
  if (failed(findLoss()) || failed(seed()))
    return failure();
  auto advise = [&](Operation *op) {
    return ("it cuts the loss off from parameter \"" + activity.paramBehind(op) +
            "\": mark that aicf.frozen, or, if it is trained elsewhere, put "
            "aicf.stop_gradient on the operand")
        .str();
  };
  for (Operation *op : llvm::reverse(forward))
    if (isAnyUsed(op) && failed(differentiate(op, advise)))
      return failure();
  if (failed(addGradients()))
    return failure();
  sinkCounters(forward);
  removeMarks(forward);
  entry.finish();
  return success();
}

namespace {
struct Autodiff : aicf::impl::AutodiffBase<Autodiff> {
  void runOnOperation() override {
    for (func::FuncOp func : getEntries(getOperation())) {
      if (failed(checkStepForm(func)))
        return signalPassFailure();
      if (!hasLoss(func)) {
        if (failed(checkNoGradientPlace(func)))
          return signalPassFailure();
        continue;
      }
      FailureOr<Activity> activity = Activity::of(func);
      if (failed(activity) || failed(Differentiator(func, *activity).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
