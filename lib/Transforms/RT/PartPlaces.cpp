//===- PartPlaces.cpp - where the parts of a concat lie -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/PartPlaces.h"
#include "lib/Ops/Fields.h"
#include "lib/Schedule/Region.h"
#include "lib/Transforms/RT/CallUses.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

ViewDesc aicf::rt::viewDescOf(Value value) {
  ViewOp view = viewOf(value);
  return {toTensorDesc(value.getType()), view ? view.getOffset() : 0};
}

ViewDesc aicf::rt::placeIn(CallOp call, unsigned i) {
  ViewDesc whole{toTensorDesc(call.getResult(0).getType())};
  if (call.isOnly(OpKind::Copy))
    return whole;
  auto axis = size_t(
      decodeAttrs<ConcatAttrs>(call.getCode().primitives.front().attrs).axis);
  std::vector<int64_t> begin(whole.desc.rank, 0), step(whole.desc.rank, 1);
  std::vector<int64_t> end(whole.desc.dims, whole.desc.dims + whole.desc.rank);
  auto sizeOf = [&](Value part) {
    return toTensorDesc(part.getType()).dims[axis];
  };
  for (Value part : call.getArgs().take_front(i))
    begin[axis] += sizeOf(part);
  end[axis] = begin[axis] + sizeOf(call.getArgs()[i]);
  return sliced(whole, begin, end, step);
}

bool aicf::rt::isKept(Value value, BlockArgument arg, const ViewDesc &place) {
  return arg && baseOf(value) == arg && viewDescOf(value) == place;
}

/// True if each call that reads what `concat` changes of `arg` stands before all
/// calls that may be made to write it: the copies, or those that make the parts.
static bool isOverBefore(CallOp concat, BlockArgument arg) {
  SmallVector<aicf::Region> written;
  Operation *first = concat;
  for (auto [i, operand] : llvm::enumerate(concat.getArgs())) {
    ViewDesc place = placeIn(concat, i);
    if (isKept(operand, arg, place))
      continue;
    written.emplace_back(uint64_t(place.offset) * sizeOf(place.desc.dtype),
                         place.desc);
    forEachMaker(operand, [&](CallOp maker) {
      if (maker->isBeforeInBlock(first))
        first = maker;
    });
  }
  return !anyRead(arg, [&](CallOp reader, unsigned operand) {
    Value read = reader->getOperand(operand);
    aicf::Region region(uint64_t(byteOffsetOf(read)), toTensorDesc(read.getType()));
    return reader != concat && !reader->isBeforeInBlock(first) &&
           llvm::any_of(written, [&](const aicf::Region &part) {
             return part.overlaps(region);
           });
  });
}

BlockArgument aicf::rt::findUpdated(func::FuncOp func,
                                    const step::EntrySignature &signature,
                                    CallOp concat) {
  BlockArgument arg;
  anyReturn(concat.getResult(0), [&](unsigned position) {
    const auto &result = signature.results[position];
    if (!result.updates.empty())
      arg = func.getArgument(result.target);
    return false;
  });
  if (!arg || !concat->hasOneUse() || isReturned(arg))
    return {};
  size_t numKept = 0;
  for (auto [i, operand] : llvm::enumerate(concat.getArgs()))
    numKept += isKept(operand, arg, placeIn(concat, i));
  bool hasOthers = numKept > 0 && numKept < concat.getArgs().size();
  return hasOthers && isOverBefore(concat, arg) ? arg : BlockArgument();
}
