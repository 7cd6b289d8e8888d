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

SmallVector<ViewDesc> aicf::rt::placesIn(CallOp call) {
  ViewDesc whole{toTensorDesc(call.getResult(0).getType())};
  if (call.isOnly(OpKind::Copy))
    return {whole};
  auto axis = size_t(
      decodeAttrs<ConcatAttrs>(call.getCode().primitives.front().attrs).axis);
  std::vector<int64_t> begin(whole.desc.rank, 0), step(whole.desc.rank, 1);
  std::vector<int64_t> end(whole.desc.dims, whole.desc.dims + whole.desc.rank);
  return llvm::map_to_vector(call.getArgs(), [&](Value part) {
    end[axis] = begin[axis] + toTensorDesc(part.getType()).dims[axis];
    ViewDesc place = sliced(whole, begin, end, step);
    begin[axis] = end[axis];
    return place;
  });
}

bool aicf::rt::isKept(Value value, BlockArgument arg, const ViewDesc &place) {
  return arg && baseOf(value) == arg && viewDescOf(value) == place;
}

/// True if each call that reads what `concat` changes of `arg` stands before all
/// calls that may be made to write it: the copies, or those that make the parts.
static bool isOverBefore(CallOp concat, BlockArgument arg) {
  SmallVector<aicf::Region> written;
  Operation *first = concat;
  for (auto [operand, place] :
       llvm::zip_equal(concat.getArgs(), placesIn(concat))) {
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
  for (auto [operand, place] :
       llvm::zip_equal(concat.getArgs(), placesIn(concat)))
    numKept += isKept(operand, arg, place);
  bool hasOthers = numKept > 0 && numKept < concat.getArgs().size();
  return hasOthers && isOverBefore(concat, arg) ? arg : BlockArgument();
}
