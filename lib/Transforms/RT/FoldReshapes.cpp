//===- FoldReshapes.cpp - calls take the shape of what they read ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A view with another shape launches nothing, but calls of different shapes do
// not fuse. An elementwise call computes the same in any shape, and a sum does
// in each in which the same elements are neighbours. Goes through the calls in
// order, so a chain of them takes the shape of its first one.
// Does not touch what is returned or becomes a part of a concat: there the
// shape matters.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Ops/Graphs.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryPass.h"
#include "lib/Transforms/RT/Reshaping.h"
#include "lib/Transforms/Remarks.h"

namespace aicf {
#define GEN_PASS_DEF_FOLDRESHAPES
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

/// True for elementwise primitives, and sums that nothing inside reads.
static bool isOfAnyShape(CallOp call) {
  const Body &body = call.getCode();
  return call.getKid().empty() &&
         llvm::all_of(body.primitives,
                      [&](const Primitive &p) {
                        return mayBeInGraph(p.kind) || infoOf(p.kind).isSum();
                      }) &&
         !readsItsSums(body);
}
/// A copy may move tiles.
static bool isOnlyCopy(CallOp call) {
  const Body &body = call.getCode();
  return body.primitives.size() == 1 && isCopy(body.primitives.front().kind);
}

/// Gives the readers of `before` the result `after`, in the shape that they
/// know.
static void replaceResult(OpBuilder &builder, Value before, Value after) {
  if (before.getType() == after.getType())
    return before.replaceAllUsesWith(after);
  // A view of a view is one of its base.
  forEachView(before, [&](ViewOp view) {
    view.getBaseMutable().assign(after);
    if (view.getType() == after.getType() && view.getOffset() == 0)
      view.replaceAllUsesWith(after);
  });
  if (!before.use_empty())
    before.replaceAllUsesWith(ViewOp::create(
        builder, before.getLoc(), before.getType(), after, int64_t(0)));
}

namespace {
/// A shape that a call has, and the one that it should have.
struct Shapes {
  Shape before, after;
};
} // namespace

/// That of the call that makes one of the operands, which `call` reads in
/// another shape; or its own, in which a sum loses a dimension that it kept.
static std::optional<Shapes> shapeToTake(CallOp call) {
  const llvm::SmallBitVector repeated = repeatedOperands(call);
  for (auto [i, operand] : llvm::enumerate(call.getArgs())) {
    CallOp maker = makerOf(operand);
    if (!repeated[i] && viewOf(operand) && maker && isWhole(operand) &&
        isOfAnyShape(maker) && toTensorDesc(operand.getType()).isDense())
      if (Shape shape = shapeOf(baseOf(operand)); shape != shapeOf(operand))
        return Shapes{shapeOf(operand), shape};
  }
  // Whoever repeats what is left of a sum finds it in one form.
  const Primitive &first = call.getCode().primitives.front();
  if (call.getCode().primitives.size() > 1 || !infoOf(first.kind).isSum())
    return std::nullopt;
  Shape shape = shapeOf(call.getArgs()[0]);
  const bool keeps = shapeOf(call.getResult(0)).size() == shape.size();
  return keeps ? std::optional(Shapes{shape, shape}) : std::nullopt;
}

namespace {
struct FoldReshapes : EntryPass<aicf::impl::FoldReshapesBase<FoldReshapes>> {
  using EntryPass::EntryPass;

  void runOnEntry(func::FuncOp func) override {
    KernelChooser chooser(func);
    int64_t numFolded = 0;
    for (auto call : llvm::make_early_inc_range(func.getOps<CallOp>()))
      numFolded +=
          isOfAnyShape(call) && !isOnlyCopy(call) && fold(call, chooser);
    mergeEqualViews(func.front());
    eraseUnreadViews(func.front());
    remarkCounts(func, "FoldReshapes", {{"folded", numFolded}});
  }

private:
  static bool fold(CallOp call, const KernelChooser &chooser) {
    std::optional<Shapes> shapes = shapeToTake(call);
    if (!shapes)
      return false;
    Reshaping reshaping(call, shapes->before, shapes->after);
    if (!reshaping.plan(chooser))
      return false;
    OpBuilder builder(call);
    CallOp moved = reshaping.create(builder);
    for (auto [result, after] :
         llvm::zip_equal(call.getResults(), moved.getResults()))
      replaceResult(builder, result, after);
    call.erase();
    return true;
  }
};
} // namespace
