//===- EliminateSaves.cpp - read what was saved where it lies ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Replaces every use of a copy_saved's result by its operand, and erases the
// copy. Nothing else needs to be known: the passes behind decide about storage.
// A save of a view stays where it is returned, for results have storage of
// their own, and where it has views itself while its elements are in another
// order.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryPass.h"
#include "lib/Transforms/Remarks.h"

namespace aicf {
#define GEN_PASS_DEF_ELIMINATESAVES
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

namespace {
/// Lets views of what `save` made be views of what it saved; false where it has
/// to stay.
bool moveViews(CallOp save) {
  Value saved = save.getOperand(0), made = save.getResult(0);
  ViewOp inner = viewOf(saved);
  if (inner && isReturned(made))
    return false;
  SmallVector<ViewOp> views;
  forEachView(made, [&](ViewOp view) { views.push_back(view); });
  if (!views.empty() && !toTensorDesc(saved.getType()).isDense())
    return false;
  for (ViewOp view : views) {
    view.getBaseMutable().assign(baseOf(saved));
    view.setOffset(view.getOffset() + (inner ? inner.getOffset() : 0));
  }
  return true;
}

struct EliminateSaves
    : EntryPass<aicf::impl::EliminateSavesBase<EliminateSaves>> {
  void runOnEntry(func::FuncOp func) override {
    int64_t numSaves = 0;
    for (auto save : llvm::make_early_inc_range(func.getOps<CallOp>())) {
      if (!save.isOnly(OpKind::CopySaved) || !moveViews(save))
        continue;
      save.getResult(0).replaceAllUsesWith(save.getOperand(0));
      save.erase();
      ++numSaves;
    }
    remarkCounts(func, "EliminateSaves", {{"eliminated", numSaves}});
  }
};
} // namespace
