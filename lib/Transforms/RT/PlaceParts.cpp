//===- PlaceParts.cpp - results where they belong -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// First copies: a concat becomes one copy for each part, into its place, and a
// join of them; the copy of a view becomes a join of one part. That is always
// right. Then the copies go whose operand may be computed in that place. A join
// that no copy went from is taken back.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/Decision.h"
#include "lib/Transforms/RT/EntryPass.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/RT/PartPlaces.h"
#include "lib/Transforms/Remarks.h"

#include "llvm/ADT/DenseMap.h"

namespace aicf {
#define GEN_PASS_DEF_PLACEPARTS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {
/// A type that a value would have, and where it would begin: elements behind
/// its base, if it is a view, and bytes behind its storage.
struct Place {
  RankedTensorType type;
  int64_t inBase, inStorage;
};
using Places = llvm::DenseMap<Value, Place>;

/// Places the parts of one entry.
class PartPlacer {
public:
  PartPlacer(func::FuncOp func, const step::EntrySignature &signature,
             bool keepCopies)
      : func(func), signature(signature),
        chooser(func, StorageOffsets::ofChanging()), keepCopies(keepCopies) {}
  void run();

private:
  void place(CallOp call);
  void placeRead(CallOp copy);
  JoinOp joinCopies(CallOp call, BlockArgument into);
  Decision dropCopy(JoinOp join, unsigned part);
  Decision moveValue(JoinOp join, unsigned part, Value value,
                     const ViewDesc &placed);
  Decided<Places> placesAs(Value copied, Value value,
                           const ViewDesc &placed) const;
  const KernelRow *kernelOf(CallOp call, const Places &moved) const;
  void remarkPart(CallOp call, Value part, const Decision &placed,
                  bool isJoined);

  func::FuncOp func;
  const step::EntrySignature &signature;
  KernelChooser chooser;
  bool keepCopies;
  CallOp replaced; ///< the call whose parts are being placed: a join is in its
                   ///< stead
  int64_t numPlaced = 0, numCopied = 0;
};
} // namespace

/// The copies of what `call` reads to where it belongs, and their join, in
/// front of `call`.
JoinOp PartPlacer::joinCopies(CallOp call, BlockArgument into) {
  OpBuilder builder(call);
  SmallVector<Value> parts;
  SmallVector<int64_t> offsets;
  for (auto [operand, place] :
       llvm::zip_equal(call.getArgs(), placesIn(call))) {
    if (isKept(operand, into, place))
      continue;
    SmallVector<int64_t, 1> label;
    if (int64_t vid = labelOf(operand); vid >= 0)
      label.push_back(vid);
    Type type = toTensorType(func.getContext(), place.desc);
    auto copy = CallOp::create(builder, call.getLoc(), OpKind::Copy, type,
                               operand, label);
    parts.push_back(copy.getResult(0));
    offsets.push_back(place.offset);
  }
  return JoinOp::create(builder, call.getLoc(), call.getResult(0).getType(),
                        parts, offsets, into, labelOf(call.getResult(0)));
}

/// The kernel of a call if some values lie elsewhere, or null.
const KernelRow *PartPlacer::kernelOf(CallOp call, const Places &moved) const {
  SmallVector<uintptr_t> places;
  auto typesOf = [&](ValueRange values) {
    SmallVector<Type> types;
    for (Value value : values) {
      auto it = moved.find(value);
      const bool stays = it == moved.end();
      types.push_back(stays ? value.getType() : Type(it->second.type));
      places.push_back(
          uintptr_t(stays ? chooser.offsetOf(value) : it->second.inStorage));
    }
    return types;
  };
  const SmallVector<Type> ins = typesOf(call.getArgs());
  StatusOr<TypedBody> typed =
      typedBodyOf(call.getBody(), ins, typesOf(call.getResults()));
  return typed.ok() ? chooser.choose(call, *typed, places) : nullptr;
}

/// Where `value` and its views would lie as the part that `copied` is, which
/// lies there; or says no.
Decided<Places> PartPlacer::placesAs(Value copied, Value value,
                                     const ViewDesc &placed) const {
  const TensorDesc dense = toTensorDesc(value.getType());
  const auto size = int64_t(sizeOf(dense.dtype));
  const int64_t start = chooser.offsetOf(copied);
  auto typeOf = [&](const TensorDesc &desc) {
    return cast<RankedTensorType>(toTensorType(value.getContext(), desc));
  };
  Places places;
  places[value] = {typeOf(placed.desc), 0, start};
  bool follow = true;
  forEachView(value, [&](ViewOp view) {
    auto seen = followed(viewDescOf(view), dense, placed.desc);
    follow &= seen.has_value();
    if (seen)
      places[view.getView()] = {typeOf(seen->desc), seen->offset,
                                start + seen->offset * size};
  });
  if (!follow)
    return Decision::no("a view of it would have no strides there");
  return places;
}

/// Makes `value` part number `part` of the join, where `placed` says;
/// everything that reads it as a view goes along. Or says no.
Decision PartPlacer::moveValue(JoinOp join, unsigned part, Value value,
                               const ViewDesc &placed) {
  CallOp copy = makerOf(join.getParts()[part]), maker = callOf(value);
  Decided<Places> places = placesAs(copy.getResult(0), value, placed);
  if (!places)
    return places.asDecision();
  SmallVector<CallOp> readers;
  anyRead(value, [&](CallOp reader, unsigned) {
    if (reader != copy && reader != replaced)
      readers.push_back(reader);
    return false;
  });
  // A call of several primitives is passed nothing twice.
  if (llvm::any_of(readers, [&](CallOp read) {
        return read.getCode().primitives.size() > 1 &&
               anyRead(join.getWhole(),
                       [&](CallOp reader, unsigned) { return reader == read; });
      }))
    return Decision::no("a call reads both, the part and the whole");
  // A concat becomes a join itself, when its turn comes.
  if (!(maker.isOnly(OpKind::Concat) || kernelOf(maker, *places)) ||
      !llvm::all_of(readers, [&](CallOp reader) {
        return kernelOf(reader, *places) == kernelOf(reader, Places());
      }))
    return Decision::no([maker] {
      return nameOfCall(maker) +
             " has no kernel that writes there, or what reads its result needs "
             "another one";
    });
  for (auto &[moved, place] : *places) {
    cast<TypedValue<RankedTensorType>>(moved).setType(place.type);
    if (ViewOp view = viewOf(moved))
      view.setOffset(place.inBase);
  }
  join.getPartsMutable()[part].set(value);
  return {};
}

/// Computes what the copy that makes a part reads in the part's place, or says
/// why not.
Decision PartPlacer::dropCopy(JoinOp join, unsigned part) {
  Value copied = join.getParts()[part], read = makerOf(copied).getOperand(0);
  Value value = baseOf(read);
  ViewDesc place{toTensorDesc(copied.getType()), join.getOffsets()[part]};
  if (!callOf(value) || callOf(value).isOnly(OpKind::CopySaved))
    return Decision::no("no call makes it");
  if (isReturned(value) || joinOf(value))
    return Decision::no("it has a place of its own");
  if (!toTensorDesc(value.getType()).isDense())
    return Decision::no("it is padded");
  std::optional<ViewDesc> placed =
      placedThrough(viewDescOf(read), toTensorDesc(value.getType()), place);
  if (!placed)
    return Decision::no("it is a view that has not each element once, or no "
                        "strides say where they would lie");
  return moveValue(join, part, value, *placed);
}

void PartPlacer::remarkPart(CallOp call, Value part, const Decision &placed,
                            bool isJoined) {
  remark::RemarkOpts about = remarkOf("PlaceParts", func.getSymName());
  std::string what = "a part of " + nameOfCall(call) + ", " +
                     toTensorDesc(part.getType()).toString();
  if (placed) {
    if (auto remark = remark::passed(part.getLoc(), about))
      remark << what + ", is computed where it belongs: no copy";
  } else if (auto remark = remark::missed(part.getLoc(), about)) {
    remark << what +
                  (isJoined ? ", is copied: "
                            : ", is left where it is made: ") +
                  placed.why();
  }
}

/// A copy that is placed itself: what it reads may be made there.
void PartPlacer::placeRead(CallOp copy) {
  Value copied = copy.getResult(0), read = copy.getOperand(0);
  forEachView(copied, [](ViewOp view) { // what the concat read
    if (view.use_empty())
      view.erase();
  });
  JoinOp join = copied.hasOneUse() && !keepCopies ? joinOf(copied) : JoinOp();
  if (!join)
    return;
  replaced = copy;
  Decision isPlaced = dropCopy(join, copied.use_begin()->getOperandNumber());
  remarkPart(copy, read, isPlaced, /*isJoined=*/true);
  numPlaced += bool(isPlaced);
  if (isPlaced)
    copy.erase();
}

/// `call`: a concat, or a copy of a view.
void PartPlacer::place(CallOp call) {
  Value result = call.getResult(0);
  bool mustBePlaced = !toTensorDesc(result.getType()).isDense();
  if (layoutOf(cast<RankedTensorType>(result.getType())) == Layout::Padded)
    return;
  if (mustBePlaced && call.isOnly(OpKind::Copy))
    return placeRead(call); // a copy writes anywhere itself
  BlockArgument into = call.isOnly(OpKind::Copy)
                           ? BlockArgument()
                           : findUpdated(func, signature, call);
  JoinOp join = joinCopies(call, into);
  result.replaceAllUsesWith(join.getWhole());
  replaced = call;
  int64_t dropped = 0;
  SmallVector<std::pair<Value, Decision>> outcome;
  SmallVector<CallOp> copies;
  for (unsigned i = 0; i < join.getParts().size(); ++i) {
    CallOp copy = makerOf(join.getParts()[i]);
    Value part = copy.getOperand(0);
    Decision isPlaced = keepCopies ? Decision::no("no copy is to be dropped")
                                   : dropCopy(join, i);
    if (isPlaced) {
      ++dropped;
      copy.erase();
    } else {
      copies.push_back(copy);
    }
    outcome.push_back({part, std::move(isPlaced)});
  }
  bool stays = dropped > 0 || mustBePlaced || into || keepCopies;
  for (auto &[part, isPlaced] : outcome)
    remarkPart(call, part, isPlaced, stays);
  if (stays) {
    numPlaced += dropped;
    numCopied += int64_t(copies.size());
    call.erase();
    return;
  }
  join.getWhole().replaceAllUsesWith(result);
  join.erase();
  for (CallOp copy : copies)
    copy.erase();
}

void PartPlacer::run() {
  // From the end: a concat may be a part of a later one.
  SmallVector<CallOp> calls(func.getOps<CallOp>());
  for (CallOp call : llvm::reverse(calls))
    if (call.isOnly(OpKind::Concat) ||
        (call.isOnly(OpKind::Copy) && isView(call.getOperand(0))))
      place(call);
  eraseUnreadViews(func.front());
  remarkCounts(func, "PlaceParts",
               {{"parts_in_place", numPlaced}, {"parts_copied", numCopied}});
}

namespace {
struct PlaceParts : EntryPass<aicf::impl::PlacePartsBase<PlaceParts>> {
  using EntryPass::EntryPass;
  void runOnEntry(func::FuncOp func) override {
    PartPlacer(func, getAnalysis<step::EntrySignature>(), keepCopies).run();
  }
};
} // namespace
