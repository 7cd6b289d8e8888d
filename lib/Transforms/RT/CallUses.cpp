//===- CallUses.cpp - who makes and who reads a value ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/CallUses.h"
#include "aicf/Dialect/AICF/AICF.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

static thread_local uint64_t usesWalked = 0;

uint64_t aicf::rt::numUsesWalked() { return usesWalked; }

/// Uses and users of a value, counted.
static auto usesOf(Value value) {
  return llvm::make_filter_range(value.getUses(), [](OpOperand &) {
    ++usesWalked;
    return true;
  });
}
static auto usersOf(Value value) {
  return llvm::map_range(usesOf(value),
                         [](OpOperand &use) { return use.getOwner(); });
}

ViewOp aicf::rt::viewOf(Value value) { return value.getDefiningOp<ViewOp>(); }

Value aicf::rt::baseOf(Value value) {
  ViewOp view = viewOf(value);
  return view ? view.getBase() : value;
}

bool aicf::rt::isView(Value value) { return baseOf(value) != value; }

bool aicf::rt::isWhole(Value value) {
  auto elements = [](Value tensor) {
    return toTensorDesc(tensor.getType()).elements();
  };
  return elements(value) == elements(baseOf(value));
}

std::optional<int64_t> aicf::rt::axisOfRepeat(Value value) {
  ViewOp view = viewOf(value);
  if (!view || view.getOffset() != 0)
    return std::nullopt;
  TensorDesc base = toTensorDesc(view.getBase().getType());
  TensorDesc seen = toTensorDesc(value.getType());
  if (!base.isDense() || base.rank + 1u != seen.rank)
    return std::nullopt;
  for (size_t axis = 0; axis < seen.rank; ++axis) {
    bool repeats = seen.dims[axis] > 1 && seen.stride(axis) == 0;
    for (size_t i = 0; i < base.rank; ++i) {
      size_t from = i < axis ? i : i + 1;
      repeats &= seen.dims[from] == base.dims[i] &&
                 (base.dims[i] == 1 || seen.stride(from) == base.stride(i));
    }
    if (repeats)
      return int64_t(axis);
  }
  return std::nullopt;
}

Value aicf::rt::copyOfView(OpBuilder &builder, Location loc, Value view) {
  SmallVector<int64_t, 1> label;
  if (int64_t vid = labelOf(view); vid >= 0)
    label.push_back(vid);
  auto dense =
      withLayout(cast<RankedTensorType>(view.getType()), aicf::Layout::Dense);
  return CallOp::create(builder, loc, OpKind::Copy, dense, view, label)
      .getResult(0);
}

CallOp aicf::rt::makerOf(Value value) {
  return baseOf(value).getDefiningOp<CallOp>();
}

void aicf::rt::forEachMaker(Value value, function_ref<void(CallOp)> visit) {
  forEachPart(baseOf(value), [&](Value part) {
    if (CallOp call = callOf(part))
      visit(call);
  });
}

Operation *aicf::rt::producerOf(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<CallOp, JoinOp>(op) ? op : nullptr;
}

/// Where `value` is a part of a join, or null.
static OpOperand *partUseOf(Value value) {
  if (!isa<OpResult>(value)) // a join is made in an argument, and not of it
    return nullptr;
  for (OpOperand &use : usesOf(value))
    if (isa<JoinOp>(use.getOwner()))
      return &use;
  return nullptr;
}

JoinOp aicf::rt::joinOf(Value value) {
  OpOperand *use = partUseOf(value);
  return use ? cast<JoinOp>(use->getOwner()) : JoinOp();
}

size_t aicf::rt::countJoinsOf(Value value) {
  return size_t(llvm::count_if(usesOf(value), [](OpOperand &use) {
    return isa<JoinOp>(use.getOwner());
  }));
}

Value aicf::rt::wholeOf(Value value) {
  JoinOp join = joinOf(value);
  return join ? wholeOf(join.getWhole()) : value;
}

void aicf::rt::forEachPart(Value value, function_ref<void(Value)> visit) {
  visit(value);
  if (auto join = value.getDefiningOp<JoinOp>())
    for (Value part : join.getParts())
      forEachPart(part, visit);
}

CallOp aicf::rt::callOf(Value value) { return value.getDefiningOp<CallOp>(); }

/// Elements from the start of the memory of `value`, which is not a view.
static int64_t placeOf(Value value) {
  int64_t place = 0;
  while (OpOperand *part = partUseOf(value)) {
    auto join = cast<JoinOp>(part->getOwner());
    place += join.getOffsets()[part->getOperandNumber()];
    value = join.getWhole();
  }
  return place;
}

/// Bytes from the start of the memory of `value`'s base to its own, and `place`
/// elements.
static int64_t byteOffsetFrom(int64_t place, Value value) {
  ViewOp view = viewOf(value);
  int64_t elements = (view ? view.getOffset() : int64_t(0)) + place;
  return elements * int64_t(sizeOf(toTensorDesc(value.getType()).dtype));
}

int64_t aicf::rt::byteOffsetOf(Value value) {
  return byteOffsetFrom(placeOf(baseOf(value)), value);
}

StorageOffsets::StorageOffsets(func::FuncOp func)
    : hasJoins(!func.getOps<JoinOp>().empty()) {}

StorageOffsets StorageOffsets::ofFixed(func::FuncOp func) {
  StorageOffsets offsets(func);
  offsets.isFixed = true;
  return offsets;
}

int64_t StorageOffsets::of(Value value) const {
  if (!hasJoins)
    return byteOffsetFrom(0, value);
  if (!isFixed)
    return byteOffsetOf(value);
  auto [it, isFresh] = known.try_emplace(value);
  if (isFresh)
    it->second = byteOffsetOf(value);
  return it->second;
}

void aicf::rt::forEachView(Value value, function_ref<void(ViewOp)> visit) {
  for (Operation *user : llvm::make_early_inc_range(value.getUsers()))
    if (auto view = dyn_cast<ViewOp>(user))
      visit(view);
}

void aicf::rt::mergeEqualViews(Block &block) {
  llvm::DenseMap<std::tuple<Value, int64_t, Type>, ViewOp> known;
  for (auto view : llvm::make_early_inc_range(block.getOps<ViewOp>())) {
    auto [it, isFresh] = known.try_emplace(
        {view.getBase(), view.getOffset(), view.getType()}, view);
    if (isFresh)
      continue;
    view.replaceAllUsesWith(it->second.getView());
    view.erase();
  }
}

void aicf::rt::eraseUnreadViews(Block &block) {
  for (auto view : llvm::make_early_inc_range(block.getOps<ViewOp>()))
    if (view.use_empty())
      view.erase();
}

bool aicf::rt::anyRead(
    Value value, function_ref<bool(CallOp reader, unsigned operand)> holds) {
  return llvm::any_of(usesOf(value), [&](OpOperand &use) {
    if (auto value = dyn_cast<ValueOp>(use.getOwner()))
      return anyRead(value.getValue(), holds);
    if (auto view = dyn_cast<ViewOp>(use.getOwner()))
      return anyRead(view.getView(), holds);
    auto reader = dyn_cast<CallOp>(use.getOwner());
    return reader && holds(reader, use.getOperandNumber());
  });
}

bool aicf::rt::anyReturn(Value value,
                         function_ref<bool(unsigned result)> holds) {
  return llvm::any_of(usesOf(value), [&](OpOperand &use) {
    return isa<func::ReturnOp>(use.getOwner()) && holds(use.getOperandNumber());
  });
}

bool aicf::rt::isReturned(Value value) {
  return anyReturn(value, [](unsigned) { return true; });
}

bool aicf::rt::isUsedAt(Value value, Operation *at, CallOp part) {
  return llvm::any_of(usersOf(value), [&](Operation *user) {
    if (auto view = dyn_cast<ViewOp>(user))
      return isUsedAt(view.getView(), at, part);
    if (auto join = dyn_cast<JoinOp>(user))
      return isReturned(wholeOf(join.getWhole()));
    return user != part.getOperation() && !user->isBeforeInBlock(at);
  });
}

Operation *aicf::rt::readerOutside(Value value, ArrayRef<CallOp> calls) {
  Operation *unread = nullptr;
  for (Operation *user : usersOf(value)) {
    if (auto view = dyn_cast<ViewOp>(user)) {
      if (Operation *reader = readerOutside(view.getView(), {}))
        return reader;
      unread = view;
    } else if (!llvm::is_contained(calls, CallOp(dyn_cast<CallOp>(user)))) {
      return user;
    }
  }
  return unread;
}

bool aicf::rt::isReadOnlyBy(Value value, CallOp reader,
                            function_ref<bool(ViewOp)> isSeen) {
  return !value.use_empty() &&
         llvm::all_of(usersOf(value), [&](Operation *user) {
           auto view = dyn_cast<ViewOp>(user);
           return user == reader || (view && isSeen(view) &&
                                     isReadOnlyBy(view.getView(), reader, isSeen));
         });
}

std::optional<SmallVector<CallOp>>
aicf::rt::onlyReadersOf(Value value, function_ref<bool(ViewOp)> isSeen) {
  llvm::SmallSetVector<CallOp, 4> readers;
  SmallVector<Operation *> users(value.getUsers());
  while (!users.empty()) {
    Operation *user = users.pop_back_val();
    auto view = dyn_cast<ViewOp>(user);
    if (view && isSeen(view))
      users.append(view->user_begin(), view->user_end());
    else if (auto call = dyn_cast<CallOp>(user))
      readers.insert(call);
    else
      return std::nullopt;
  }
  return SmallVector<CallOp>(readers.takeVector());
}

int64_t aicf::rt::labelOf(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto func = cast<func::FuncOp>(arg.getOwner()->getParentOp());
    auto vid =
        func.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), step::kVidAttr);
    return vid ? vid.getInt() : -1;
  }
  if (Value base = baseOf(value); base != value)
    return labelOf(base); // what it is called is where it lies
  if (auto join = value.getDefiningOp<JoinOp>())
    return join.getVid();
  CallOp maker = makerOf(value);
  return maker ? maker.getLabel(cast<OpResult>(value).getResultNumber()) : -1;
}

SmallVector<int64_t> aicf::rt::labelsOfEach(ArrayRef<Value> values) {
  return llvm::map_to_vector(values, labelOf);
}

std::string aicf::rt::nameOfCall(Operation *op) {
  auto call = dyn_cast<CallOp>(op);
  return "'" +
         (call ? call.getPrimitiveNames()
               : op->getName().getStringRef().str()) +
         "'";
}
