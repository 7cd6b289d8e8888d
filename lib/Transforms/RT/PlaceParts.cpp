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

namespace aicf {
#define GEN_PASS_DEF_PLACEPARTS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {
/// Places the parts of one entry.
class PartPlacer {
public:
  PartPlacer(func::FuncOp func, const step::EntrySignature &signature,
             bool keepCopies)
      : func(func), signature(signature),
        chooser(func, StorageOffsets::ofChanging()),
        keepCopies(keepCopies) {}
  void run();

private:
  void place(CallOp call);
  JoinOp joinCopies(CallOp call, BlockArgument into);
  Decision dropCopy(JoinOp join, unsigned part);
  Decision moveValue(JoinOp join, unsigned part, Value value,
                     const ViewDesc &placed);
  const KernelRow *kernelOf(CallOp call) const;
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

/// The copies of what `call` reads to where it belongs, and their join, in front
/// of `call`.
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

const KernelRow *PartPlacer::kernelOf(CallOp call) const {
  StatusOr<TypedBody> typed = typedBodyOf(call);
  return typed.ok() ? chooser.choose(call, *typed) : nullptr;
}

/// Makes `value` part number `part` of the join, where `placed` says; everything
/// that reads it as a view goes along. Or says no, with all as it was.
Decision PartPlacer::moveValue(JoinOp join, unsigned part, Value value,
                               const ViewDesc &placed) {
  MLIRContext *context = func.getContext();
  const TensorDesc dense = toTensorDesc(value.getType());
  SmallVector<std::pair<ViewOp, std::pair<Type, int64_t>>> moved;
  bool follow = true;
  forEachView(value, [&](ViewOp view) {
    auto seen = followed(viewDescOf(view), dense, placed.desc);
    follow &= seen.has_value();
    if (seen)
      moved.push_back({view, {toTensorType(context, seen->desc), seen->offset}});
  });
  if (!follow)
    return Decision::no("a view of it would have no strides there");
  SmallVector<std::pair<CallOp, const KernelRow *>> readers;
  auto copy = makerOf(join.getParts()[part]);
  anyRead(value, [&](CallOp reader, unsigned) {
    if (reader != copy && reader != replaced)
      readers.push_back({reader, kernelOf(reader)});
    return false;
  });
  // A call of several primitives is passed nothing twice.
  if (llvm::any_of(readers, [&](auto &read) {
        return read.first.getCode().primitives.size() > 1 &&
               anyRead(join.getWhole(), [&](CallOp reader, unsigned) {
                 return reader == read.first;
               });
      }))
    return Decision::no("a call reads both, the part and the whole");
  Type before = value.getType();
  auto swapViews = [&] {
    for (auto &[view, other] : moved) {
      std::pair<Type, int64_t> mine{view.getView().getType(), view.getOffset()};
      view.getView().setType(cast<RankedTensorType>(other.first));
      view.setOffset(other.second);
      other = mine;
    }
  };
  swapViews();
  value.setType(cast<RankedTensorType>(toTensorType(context, placed.desc)));
  join.getPartsMutable()[part].set(value);
  CallOp maker = callOf(value);
  // A concat becomes a join itself, when its turn comes.
  bool fits = (maker.isOnly(OpKind::Concat) || kernelOf(maker)) &&
              llvm::all_of(readers, [&](auto &read) {
                return kernelOf(read.first) == read.second;
              });
  if (fits)
    return {};
  join.getPartsMutable()[part].set(copy.getResult(0));
  value.setType(cast<RankedTensorType>(before));
  swapViews();
  return Decision::no([maker] {
    return nameOfCall(maker) +
           " has no kernel that writes there, or what reads its result needs "
           "another one";
  });
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
  std::optional<ViewDesc> placed = placedThrough(
      viewDescOf(read), toTensorDesc(value.getType()), place);
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
                  (isJoined ? ", is copied: " : ", is left where it is made: ") +
                  placed.why();
  }
}

/// `call`: a concat, or a copy of a view.
void PartPlacer::place(CallOp call) {
  Value result = call.getResult(0);
  bool mustBePlaced = !toTensorDesc(result.getType()).isDense();
  if (layoutOf(cast<RankedTensorType>(result.getType())) == Layout::Padded ||
      (mustBePlaced && call.isOnly(OpKind::Copy)))
    return; // a copy writes anywhere itself
  BlockArgument into =
      call.isOnly(OpKind::Copy) ? BlockArgument()
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
  remarkCounts(
      func, "PlaceParts",
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
