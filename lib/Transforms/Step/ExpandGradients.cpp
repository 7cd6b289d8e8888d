//===- ExpandGradients.cpp - gradients that a step computes with --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Each aicf.gradient becomes the backward sweep that it stands for, the first one
// first: a later one may go through it.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Step/Activity.h"
#include "lib/Transforms/Step/Cotangents.h"

#include "llvm/ADT/SetVector.h"

namespace aicf {
#define GEN_PASS_DEF_EXPANDGRADIENTS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {
/// Replaces gradients of one y, which stand one behind the other.
class Expander final : public Cotangents {
public:
  explicit Expander(ArrayRef<GradientOp> gradients)
      : Cotangents(OpBuilder(gradients.front())), first(gradients.front()),
        gradients(gradients) {
    askedAt = first.getLoc();
  }
  LogicalResult run();

  bool isNeeded(Value operand) const override {
    return varied.contains(operand);
  }
  /// The sweep is a part of the forward pass. What that of the loss reads of it,
  /// --aicf-autodiff saves.
  Value saved(Value value) override { return value; }

private:
  LogicalResult findVaried(GradientOp gradient);
  LogicalResult checkSlopes(StraightThroughOp op);
  LogicalResult sweep();

  GradientOp first;
  ArrayRef<GradientOp> gradients;
  SmallVector<Operation *> inFront; ///< the ops before the first gradient
  llvm::DenseSet<Value> varied;     ///< what depends on an x
};
} // namespace

/// The slope of aicf.custom_gradient is a constant for what goes through it, so a
/// second derivative would silently lack a part. What such a function is given is
/// itself read by a stop_gradient: what that is made of has no part in the slope.
LogicalResult Expander::checkSlopes(StraightThroughOp op) {
  llvm::SetVector<Value> way;
  way.insert(op.getWay());
  for (size_t i = 0; i < way.size(); ++i) {
    Operation *maker = way[i].getDefiningOp();
    if (isa_and_present<StopGradientOp>(maker))
      return (op.emitOpError()
              << "has a slope that is given, which aicf.gradient cannot "
                 "differentiate again: compute its value with ops that have "
                 "derivatives")
                 .attachNote(first.getLoc())
             << "the gradient is taken here";
    if (maker && llvm::none_of(way[i].getUsers(), llvm::IsaPred<StopGradientOp>))
      way.insert_range(maker->getOperands());
  }
  return success();
}

LogicalResult Expander::findVaried(GradientOp gradient) {
  llvm::DenseSet<Value> own{gradient.getX()};
  for (Operation *op : inFront)
    addDependents(op, own);
  if (!own.contains(gradient.getY()))
    return gradient.emitOpError()
           << "y does not depend on x: x must be the very tensor that y is "
              "computed from, and no copy, slice or cast of it";
  varied.insert_range(own);
  return success();
}

LogicalResult Expander::sweep() {
  for (Operation &op : *first->getBlock()) {
    if (&op == first)
      break;
    inFront.push_back(&op);
  }
  for (GradientOp gradient : gradients)
    if (failed(findVaried(gradient)))
      return failure();
  cotangents[first.getY()] = Value();
  for (Operation *op : llvm::reverse(inFront)) {
    if (!isAnyUsed(op) || !leadsBackTo(op, varied))
      continue;
    if (auto through = dyn_cast<StraightThroughOp>(op);
        through && failed(checkSlopes(through)))
      return failure();
    if (failed(differentiate(op, [](Operation *) {
          return std::string("an aicf.gradient goes through it");
        })))
      return failure();
  }
  return success();
}

LogicalResult Expander::run() {
  if (failed(sweep()))
    return failure();
  for (GradientOp gradient : gradients) {
    Value dx = cotangent(gradient.getX());
    if (!dx) // as relu's second derivative
      dx = FillLikeOp::create(backward, gradient.getLoc(), gradient.getX(),
                              llvm::APFloat(0.0));
    gradient.replaceAllUsesWith(dx);
  }
  for (GradientOp gradient : gradients)
    gradient.erase();
  return success();
}

/// The gradients of one y that stand one behind the other, from `first` on.
static SmallVector<GradientOp> groupOf(GradientOp first) {
  SmallVector<GradientOp> group{first};
  while (auto next = dyn_cast_or_null<GradientOp>(group.back()->getNextNode())) {
    if (next.getY() != first.getY())
      break;
    group.push_back(next);
  }
  return group;
}

namespace {
struct ExpandGradients : aicf::impl::ExpandGradientsBase<ExpandGradients> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    for (Block &block : getOperation().getBody()) {
      while (true) {
        auto found = llvm::find_if(block, llvm::IsaPred<GradientOp>);
        if (found == block.end())
          break;
        SmallVector<GradientOp> group = groupOf(cast<GradientOp>(*found));
        if (failed(Expander(group).run()))
          return signalPassFailure();
      }
    }
  }
};
} // namespace
