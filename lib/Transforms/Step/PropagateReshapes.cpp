//===- PropagateReshapes.cpp - reshapes move past pointwise ops -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Where strides cannot say what a reshape of transposed dimensions asks for, it
// is lowered to a copy. A pointwise op does not care about shapes: it reads the
// transposed tensor where it lies, and the reshape is that of a dense result.
// Behind the op, or in front of it, whichever has the copy.
// Does not move the reshapes of other ops, nor reshapes that copy nothing. Ops
// of one operand stay: no kernel of theirs reads a view.
//===----------------------------------------------------------------------===//

#include "lib/Base/Views.h"
#include "lib/Dialect/AICF/Target.h"
#include "lib/Dialect/Entry.h"
#include "lib/Transforms/DeadOps.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Remarks.h"
#include "lib/Transforms/Scalar/ScalarBody.h"

#include "aicf/Dialect/AICFRT/AICFRT.h"

namespace aicf {
#define GEN_PASS_DEF_PROPAGATERESHAPES
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

static Span<const int64_t> span(ArrayRef<int64_t> numbers) {
  return {numbers.data(), numbers.size()};
}
static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// What the result of a view shows where its operand shows `seen`.
static ViewDesc seenThrough(Operation *view, const ViewDesc &seen) {
  if (auto op = dyn_cast<TransposeOp>(view))
    return transposed(seen, span(op.getPermutation()));
  if (auto op = dyn_cast<SliceOp>(view))
    return sliced(seen, span(op.getBegin()), span(op.getEnd()),
                  span(op.getSteps()));
  Value result = view->getResult(0);
  if (isa<BroadcastOp>(view))
    return broadcast(seen, span(shapeOf(result)));
  // A copy is dense again.
  return reshaped(seen, span(shapeOf(result)))
      .value_or(ViewDesc{rt::toTensorDesc(result.getType())});
}

/// What a value shows of the one below all of its views, which is dense.
static ViewDesc seenOf(Value value) {
  SmallVector<Operation *> views;
  Operation *op = value.getDefiningOp();
  while (op && op->hasTrait<ViewOfOperand>()) {
    views.push_back(op);
    value = op->getOperand(0);
    op = value.getDefiningOp();
  }
  ViewDesc seen{rt::toTensorDesc(value.getType())};
  for (Operation *view : llvm::reverse(views))
    seen = seenThrough(view, seen);
  return seen;
}

static bool isCopied(ReshapeOp reshape) {
  return !reshaped(seenOf(reshape.getX()), span(reshape.getShape()));
}
/// Shorter rows are read one element at a time, which a copy by tiles is not.
static bool hasRows(const ViewDesc &seen, const Costs &costs) {
  const TensorDesc &desc = seen.desc;
  return desc.width() * int64_t(sizeOf(desc.dtype)) >= costs.tiledRowBytes &&
         (desc.isDense() || desc.stride(desc.rank - 1u) <= 1);
}

/// A pointwise op of several operands, which have the shape of its one result,
/// that no entry returns.
static bool isMovable(Operation *op) {
  auto isTerminator = [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>();
  };
  if (!scalars::isPointwise(op) || op->getNumOperands() < 2 ||
      llvm::any_of(op->getUsers(), isTerminator))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return shapeOf(operand) == shapeOf(op->getResult(0));
  });
}

/// The same op on other operands, which have a common shape.
static Value withOperands(OpBuilder &builder, Operation *op,
                          ArrayRef<Value> operands) {
  Operation *moved = builder.clone(*op);
  moved->setOperands(operands);
  Value result = moved->getResult(0);
  result.setType(cast<RankedTensorType>(result.getType())
                     .clone(shapeOf(operands.front())));
  return result;
}

static bool isReadBy(Value value, Operation *op) {
  return llvm::all_of(value.getUsers(),
                      [&](Operation *user) { return user == op; });
}

/// op(reshape(x), ...) becomes reshape(op(x, ...)).
static bool moveBehind(Operation *op, const Costs &costs) {
  if (!isMovable(op))
    return false;
  auto copied = llvm::find_if(op->getOperands(), [&](Value operand) {
    auto reshape = operand.getDefiningOp<ReshapeOp>();
    return reshape && isReadBy(operand, op) && isCopied(reshape) &&
           hasRows(seenOf(reshape.getX()), costs);
  });
  if (copied == op->getOperands().end())
    return false;
  const ArrayRef<int64_t> shape =
      shapeOf((*copied).getDefiningOp<ReshapeOp>().getX());
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    auto reshape = operand.getDefiningOp<ReshapeOp>();
    if (reshape && shapeOf(reshape.getX()) == shape)
      operand = reshape.getX();
    auto seen = reshaped(seenOf(operand), span(shape));
    if (!seen || !hasRows(*seen, costs))
      return false; // another copy
    operands.push_back(operand);
  }
  OpBuilder builder(op);
  for (Value &operand : operands)
    if (shapeOf(operand) != shape)
      operand = ReshapeOp::create(builder, op->getLoc(), operand,
                                  builder.getDenseI64ArrayAttr(shape));
  Value moved = withOperands(builder, op, operands);
  op->getResult(0).replaceAllUsesWith(ReshapeOp::create(
      builder, op->getLoc(), moved,
      builder.getDenseI64ArrayAttr(shapeOf(op->getResult(0)))));
  return true;
}

/// The pointwise op whose result `transpose` shows, perhaps in another shape,
/// and which nobody else reads; or null.
static Operation *onlySourceOf(TransposeOp transpose) {
  Value source = transpose.getX();
  if (auto reshape = source.getDefiningOp<ReshapeOp>();
      reshape && source.hasOneUse())
    source = reshape.getX();
  Operation *op = source.getDefiningOp();
  return op && source.hasOneUse() && isMovable(op) ? op : nullptr;
}

/// transpose(op(x, ...)) becomes op(transpose(x), ...).
static bool moveInFront(TransposeOp transpose, Operation *op,
                        const Costs &costs) {
  const ArrayRef<int64_t> shape = shapeOf(transpose.getX());
  for (Value operand : op->getOperands()) {
    auto seen = reshaped(seenOf(operand), span(shape));
    if (!seen || !hasRows(transposed(*seen, span(transpose.getPermutation())),
                          costs))
      return false; // another copy
  }
  OpBuilder builder(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value same = ReshapeOp::create(builder, op->getLoc(), operand,
                                   builder.getDenseI64ArrayAttr(shape));
    operands.push_back(TransposeOp::create(builder, op->getLoc(), same,
                                           transpose.getPermutationAttr()));
  }
  transpose.replaceAllUsesWith(withOperands(builder, op, operands));
  return true;
}

/// reshape(transpose(op(x, ...))) becomes reshape(op(transpose(x), ...)).
static bool moveInFrontOfCopy(ReshapeOp reshape, const Costs &costs) {
  auto transpose = reshape.getX().getDefiningOp<TransposeOp>();
  if (!transpose || !transpose->hasOneUse() || !isCopied(reshape))
    return false;
  Operation *op = onlySourceOf(transpose);
  return op && moveInFront(transpose, op, costs);
}

/// True for an op of views alone, which only pointwise ops read through `view`:
/// in their shape it can be one call with them.
static bool isOfTheirShape(Operation *op, Operation *view) {
  return llvm::all_of(view->getUsers(), scalars::isPointwise) &&
         llvm::all_of(op->getOperands(), [](Value operand) {
           Operation *maker = operand.getDefiningOp();
           return maker && maker->hasTrait<ViewOfOperand>();
         });
}

static bool moveInFrontOfReaders(TransposeOp transpose, const Costs &costs) {
  Operation *op = onlySourceOf(transpose);
  return op && isOfTheirShape(op, transpose) && moveInFront(transpose, op, costs);
}

/// reshape(op(x, ...)) becomes op(reshape(x), ...).
static bool moveInFrontOfReaders(ReshapeOp reshape, const Costs &costs) {
  Operation *op = reshape.getX().getDefiningOp();
  if (!op || !reshape.getX().hasOneUse() || !isMovable(op) ||
      !isOfTheirShape(op, reshape))
    return false;
  for (Value operand : op->getOperands()) {
    auto seen = reshaped(seenOf(operand), span(reshape.getShape()));
    if (!seen || !hasRows(*seen, costs))
      return false; // a copy
  }
  OpBuilder builder(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(ReshapeOp::create(builder, op->getLoc(), operand,
                                         reshape.getShapeAttr()));
  reshape.replaceAllUsesWith(withOperands(builder, op, operands));
  return true;
}

namespace {
struct PropagateReshapes
    : aicf::impl::PropagateReshapesBase<PropagateReshapes> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isEntry(func))
      return;
    const Costs costs = targetOf(func).costs;
    int64_t numBehind = 0, numInFront = 0;
    for (Operation &op : llvm::make_early_inc_range(func.front()))
      numBehind += moveBehind(&op, costs);
    for (auto reshape : llvm::make_early_inc_range(func.getOps<ReshapeOp>()))
      numInFront += moveInFrontOfCopy(reshape, costs);
    if (numBehind + numInFront > 0)
      eraseDeadOps(func.front()); // which would be readers
    for (Operation &op : llvm::make_early_inc_range(func.front())) {
      if (auto transpose = dyn_cast<TransposeOp>(op))
        numInFront += moveInFrontOfReaders(transpose, costs);
      else if (auto reshape = dyn_cast<ReshapeOp>(op))
        numInFront += moveInFrontOfReaders(reshape, costs);
    }
    if (numBehind + numInFront > 0)
      eraseDeadOps(func.front());
    remarkCounts(func, "PropagateReshapes",
                 {{"behind", numBehind}, {"in_front", numInFront}});
  }
};
} // namespace
