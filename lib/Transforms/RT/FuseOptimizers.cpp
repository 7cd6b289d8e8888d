//===- FuseOptimizers.cpp - all parameter updates in one call ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/RT/Storage.h"

#include <map>
#include <vector>

namespace aicf {
#define GEN_PASS_DEF_FUSEOPTIMIZERS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {
/// One optimizer call taken apart.
struct Update {
  PrimitiveOpInterface op;
  SmallVector<Value> group;   ///< p, g, states
  SmallVector<Value> scalars; ///< bc (Adam), lr, inv_scale or null, ok or null
  CastOp copy = nullptr;      ///< of p' to 16 bits, or null
};

/// What updates of one call have in common: kind, attributes, scalars, types.
struct Key {
  OpKind kind;
  size_t groupSize;
  SmallVector<uint8_t> attrs;
  SmallVector<const void *> parts;
  bool operator<(const Key &o) const {
    return std::tie(kind, groupSize, attrs, parts) <
           std::tie(o.kind, o.groupSize, o.attrs, o.parts);
  }
};
} // namespace

/// The cast of p' if it is the only one and p' has no further reader but the
/// entry's return.
static CastOp findCopy(Value newParam) {
  CastOp copy;
  for (Operation *user : newParam.getUsers()) {
    if (isa<func::ReturnOp>(user))
      continue;
    auto cast = dyn_cast<CastOp>(user);
    if (!cast || copy)
      return {};
    copy = cast;
  }
  if (!copy)
    return {};
  Type element = cast<RankedTensorType>(copy.getY().getType()).getElementType();
  return element.isF16() || element.isBF16() ? copy : CastOp();
}

static std::optional<Update> takeApart(PrimitiveOpInterface op) {
  Update update;
  update.op = op;
  if (auto adam = dyn_cast<AdamStepOp>(*op)) {
    update.group = {adam.getP(), adam.getG(), adam.getM(), adam.getV()};
    update.scalars = {adam.getBc(), adam.getLr(), adam.getInvScale(),
                      adam.getOk()};
    update.copy = findCopy(adam.getPOut());
    return update;
  }
  auto sgd = dyn_cast<SgdStepOp>(*op);
  if (!sgd)
    return std::nullopt;
  update.group = {sgd.getP(), sgd.getG()};
  if (sgd.getM())
    update.group.push_back(sgd.getM());
  update.scalars = {sgd.getLr(), sgd.getInvScale(), sgd.getOk()};
  update.copy = findCopy(sgd.getPOut());
  return update;
}

static Key keyOf(Update &update) {
  Key key{
      update.op.getOpKind(), update.group.size(), update.op.getAttrBlob(), {}};
  for (Value scalar : update.scalars)
    key.parts.push_back(scalar.getAsOpaquePointer());
  auto element = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  };
  key.parts.push_back(element(update.group[0]).getAsOpaquePointer());
  key.parts.push_back(element(update.group[1]).getAsOpaquePointer());
  key.parts.push_back(
      update.copy ? element(update.copy.getY()).getAsOpaquePointer() : nullptr);
  return key;
}

static OpKind fusedKind(const Update &update) {
  if (isa<AdamStepOp>(update.op))
    return OpKind::AdamUpdate;
  return update.group.size() == 3 ? OpKind::MomentumUpdate : OpKind::SgdUpdate;
}

/// True when every reader of an update's results may come after `last`, where
/// the fused call will stand.
static bool mayMoveTo(const Update &update, Operation *last) {
  for (Value result : update.op->getResults())
    for (Operation *user : result.getUsers())
      if (user != update.copy && !isa<func::ReturnOp>(user) &&
          (user == last || user->isBeforeInBlock(last)))
        return false;
  if (update.copy)
    for (Operation *user : update.copy->getUsers())
      if (!isa<func::ReturnOp>(user) &&
          (user == last || user->isBeforeInBlock(last)))
        return false;
  return true;
}

static Operation *create(OpBuilder &builder, Location loc, Update &first,
                         TypeRange types, ValueRange ins,
                         ArrayRef<int64_t> vids) {
  Operation *op = first.op;
  if (auto adam = dyn_cast<AdamStepOp>(op)) {
    auto fused = AdamUpdateOp::create(builder, loc, types, ins, vids);
    fused.setBeta1Attr(adam.getBeta1Attr());
    fused.setBeta2Attr(adam.getBeta2Attr());
    fused.setEpsAttr(adam.getEpsAttr());
    fused.setWeightDecayAttr(adam.getWeightDecayAttr());
    return fused;
  }
  auto sgd = cast<SgdStepOp>(op);
  if (first.group.size() == 2) {
    auto fused = SgdUpdateOp::create(builder, loc, types, ins, vids);
    fused.setWeightDecayAttr(sgd.getWeightDecayAttr());
    return fused;
  }
  auto fused = MomentumUpdateOp::create(builder, loc, types, ins, vids);
  fused.setMomentumAttr(sgd.getMomentumAttr());
  fused.setWeightDecayAttr(sgd.getWeightDecayAttr());
  fused.setNesterovAttr(sgd.getNesterovAttr());
  return fused;
}

/// One call for `updates`, at the place of the last of them.
static void fuse(ArrayRef<PrimitiveOpInterface> ops,
                 const KernelChooser &chooser) {
  // Taken apart again: a group before may have replaced operands of these.
  std::vector<Update> updates;
  for (PrimitiveOpInterface op : ops)
    if (std::optional<Update> update = takeApart(op))
      updates.push_back(std::move(*update));
  if (updates.size() < 2 && !updates.front().copy)
    return;
  Operation *last = updates.back().op;
  SmallVector<Value> ins, results;
  for (Update &update : updates) {
    if (!mayMoveTo(update, last))
      return;
    llvm::append_range(ins, update.group);
    llvm::append_range(results, update.op->getResults());
  }
  llvm::append_range(ins, updates.front().scalars);
  for (Update &update : updates)
    if (update.copy)
      results.push_back(update.copy.getY());
  if (!chooser.choose(fusedKind(updates.front()), ins,
                      ValueRange(results).getTypes()))
    return;
  OpBuilder builder(last);
  Operation *fused =
      create(builder, last->getLoc(), updates.front(),
             ValueRange(results).getTypes(), ins, labelsOf(results));
  for (auto [before, after] : llvm::zip(results, fused->getResults()))
    before.replaceAllUsesWith(after);
  for (Update &update : updates) {
    if (update.copy)
      update.copy->erase();
    update.op->erase();
  }
}

static void fuseEntry(func::FuncOp func, DeviceKind device, int64_t maxGroups) {
  KernelChooser chooser(func, device);
  // In order of the first update of each, so that plans do not depend on
  // addresses.
  std::map<Key, size_t> numberOf;
  SmallVector<SmallVector<PrimitiveOpInterface>> calls;
  for (auto op : func.getOps<PrimitiveOpInterface>()) {
    std::optional<Update> update = takeApart(op);
    if (!update)
      continue;
    auto [it, fresh] = numberOf.try_emplace(keyOf(*update), calls.size());
    if (fresh || static_cast<int64_t>(calls[it->second].size()) >= maxGroups) {
      it->second = calls.size();
      calls.emplace_back();
    }
    calls[it->second].push_back(op);
  }
  for (ArrayRef<PrimitiveOpInterface> ops : calls)
    fuse(ops, chooser);
}

namespace {
struct FuseOptimizers : aicf::impl::FuseOptimizersBase<FuseOptimizers> {
  using FuseOptimizersBase::FuseOptimizersBase;
  LogicalResult initialize(MLIRContext *context) override {
    int64_t limit = kMaxUpdateGroups;
    if (maxGroups >= 1 && maxGroups <= limit)
      return success();
    return emitError(UnknownLoc::get(context))
           << "max-groups is " << int64_t(maxGroups) << ", expected 1 to "
           << limit;
  }
  void runOnOperation() override {
    for (func::FuncOp func : step::getEntries(getOperation())) {
      if (failed(checkEntryForm(func)))
        return signalPassFailure();
      fuseEntry(func, target, maxGroups);
    }
  }
};
} // namespace
