//===- RecomputePlan.cpp - what the backward pass computes again ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Marked ops come first. Then each saved value, the largest first, is looked at
// once: PyTorch's partitioner finds a minimum cut instead, which spares more in
// chains of cheap ops, but whose chains are computed again at the beginning of
// the backward pass, where memory is fullest. Cones of a few ops that read kept
// values alone have no such chains.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/RecomputePlan.h"
#include "aicf/Dialect/Tensors.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

/// The most ops, views aside, that compute one value again.
static constexpr size_t kMaxOps = 16;

/// Returns the bytes of a tensor; an i1 is a byte.
static int64_t tensorBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !toDType(type.getElementType()))
    return 0; // of another dialect
  return int64_t(toDenseDesc(type).spanBytes());
}

RecomputePlan::RecomputePlan(func::FuncOp func, const RecomputeCosts &costs)
    : kept(func), costs(costs) {
  chooseMarked();
  SmallVector<Value> bySize;
  for (auto &[value, readers] : kept.values())
    if (!dropped.contains(value))
      bySize.push_back(value);
  llvm::stable_sort(bySize,
                    [](Value a, Value b) { return tensorBytes(a) > tensorBytes(b); });
  for (Value value : bySize)
    choose(value);
  sortByReaders(taken);
}

//===----------------------------------------------------------------------===//
// Marked ops
//===----------------------------------------------------------------------===//

/// What is not among the ops `before` already.
Cone RecomputePlan::coneOfMarked(Value value,
                                 llvm::DenseSet<Operation *> &before) const {
  Cone cone;
  auto add = [&](Value made) {
    if (before.insert(made.getDefiningOp()).second)
      cone.ops.insert(made.getDefiningOp());
  };
  add(value);
  for (size_t i = 0; i < cone.ops.size(); ++i) // grows
    for (Value operand : cone.ops[i]->getOperands())
      if (kept.isMarked(operand) || isView(operand.getDefiningOp()))
        add(operand);
      else
        cone.sources.insert(operand);
  return cone;
}

void RecomputePlan::chooseMarked() {
  std::vector<Choice> marked;
  for (auto &[value, readers] : kept.values()) {
    if (!kept.isMarked(value))
      continue;
    Choice choice;
    choice.value = value;
    choice.readers = readers;
    choice.isMarked = true;
    choice.sparedBytes = tensorBytes(value);
    marked.push_back(std::move(choice));
  }
  sortByReaders(marked); // who comes first has the ops that all share
  llvm::DenseSet<Operation *> before;
  for (Choice &choice : marked) {
    choice.again = coneOfMarked(choice.value, before);
    for (Operation *op : choice.again.ops)
      choice.movedBytes += movedBy(op);
    take(std::move(choice));
  }
}

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

bool RecomputePlan::isKept(Value value) const {
  return isAtHand(value) || sources.contains(value) ||
         (kept.isRead(value) && !dropped.contains(value)) ||
         kept.isReturned(value);
}

/// A kept value that compares as `value` for `reader`; null if there is none.
Value RecomputePlan::otherSide(Value value, OpOperand &reader) const {
  auto op = dyn_cast<ComparingOpInterface>(reader.getOwner());
  if (!op || &op.getComparedOperand() != &reader)
    return {};
  Operation *maker = value.getDefiningOp();
  if (op.comparesAlike(maker) && isKept(maker->getOperand(0)))
    return maker->getOperand(0);
  for (Operation *user : value.getUsers())
    // One behind the reader is a reader as well, which reads the value itself.
    if (op.comparesAlike(user) && isKept(user->getResult(0)))
      return user->getResult(0);
  return {};
}

int64_t RecomputePlan::movedBy(Operation *op) const {
  if (isView(op))
    return 0;
  int64_t bytes = costs.callBytes;
  for (Value operand : op->getOperands())
    bytes += tensorBytes(operand);
  for (Value result : op->getResults())
    bytes += tensorBytes(result);
  return bytes;
}

bool RecomputePlan::isCheap(Operation *op) const {
  return isa_and_nonnull<AICFDialect>(op->getDialect()) &&
         !op->hasAttr(kRecomputeAttr) && !op->hasTrait<Product>() && isPure(op);
}

/// Returns nothing if the value needs a product, or more ops than are cheap.
std::optional<Cone> RecomputePlan::coneOf(Value value) const {
  Cone cone;
  size_t numOps = 0;
  SmallVector<Operation *> open = {value.getDefiningOp()};
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!cone.ops.insert(op))
      continue;
    if (!isCheap(op) || (!isView(op) && ++numOps > kMaxOps))
      return std::nullopt;
    for (Value operand : op->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      bool isDropped = dropped.contains(operand);
      if (isKept(operand))
        cone.sources.insert(operand);
      else if (isView(maker) || isDropped ||
               (isCheap(maker) &&
                movedBy(maker) <= costs.rate * double(tensorBytes(operand))))
        open.push_back(maker);
      else
        cone.sources.insert(operand); // kept from now on
    }
  }
  return cone;
}

/// The readers that can read another kept value do so.
std::optional<Choice> RecomputePlan::switched(Value value) const {
  Choice choice;
  choice.value = value;
  choice.sparedBytes = tensorBytes(value);
  for (OpOperand *reader : kept.readersOf(value))
    if (Value other = otherSide(value, *reader))
      choice.switched.push_back({reader, other});
    else
      choice.readers.push_back(reader);
  if (choice.readers.empty())
    return choice;
  return std::nullopt;
}

std::optional<Choice> RecomputePlan::masked(const Choice &base) const {
  Choice choice = base;
  choice.isMask = true;
  Block scratch;
  OpBuilder builder(base.value.getContext());
  builder.setInsertionPointToEnd(&scratch);
  for (OpOperand *reader : choice.readers) {
    auto op = dyn_cast<ComparingOpInterface>(reader->getOwner());
    if (!op || &op.getComparedOperand() != reader)
      return std::nullopt;
    Value mask = op.buildMask(builder, choice.value);
    if (!mask)
      return std::nullopt;
    choice.sparedBytes -= tensorBytes(mask);
    choice.movedBytes -= tensorBytes(choice.value) - tensorBytes(mask); // not read
  }
  for (Operation &op : scratch)
    choice.movedBytes += movedBy(&op);
  return choice;
}

std::optional<Choice> RecomputePlan::again(const Choice &base) const {
  std::optional<Cone> cone = coneOf(base.value);
  if (!cone)
    return std::nullopt;
  Choice choice = base;
  choice.again = std::move(*cone);
  for (Value source : choice.again.sources)
    if (!isKept(source))
      choice.sparedBytes -= tensorBytes(source);
  for (Operation *op : choice.again.ops)
    choice.movedBytes += movedBy(op);
  return choice;
}

void RecomputePlan::choose(Value value) {
  if (sources.contains(value) || kept.isReturned(value))
    return;
  Choice base;
  base.value = value;
  base.sparedBytes = tensorBytes(value);
  base.readers = SmallVector<OpOperand *>(kept.readersOf(value));
  std::optional<Choice> best;
  for (std::optional<Choice> choice :
       {switched(value), masked(base), again(base)})
    if (choice && choice->sparedBytes > 0 &&
        choice->movedBytes <= costs.rate * choice->sparedBytes &&
        (!best || std::pair(-choice->sparedBytes, choice->movedBytes) <
                      std::pair(-best->sparedBytes, best->movedBytes)))
      best = std::move(choice);
  if (best)
    take(std::move(*best));
}

void RecomputePlan::take(Choice choice) {
  dropped.insert(choice.value);
  for (Value source : choice.again.sources)
    sources.insert(source);
  for (auto &[reader, other] : choice.switched)
    sources.insert(other);
  taken.push_back(std::move(choice));
}

void RecomputePlan::sortByReaders(std::vector<Choice> &choices) const {
  auto first = [&](const Choice &choice) {
    return choice.readers.empty()
               ? 0
               : kept.placeOf(choice.readers.front()->getOwner());
  };
  llvm::stable_sort(choices, [&](const Choice &a, const Choice &b) {
    return first(a) < first(b);
  });
}
