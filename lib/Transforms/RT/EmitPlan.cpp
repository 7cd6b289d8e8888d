//===- EmitPlan.cpp - entries to one aicf_rt.plan -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// PlanEmitter copies what the passes before decided; where buffers lie, --aicf-rt-plan-memory decides.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/AICF/Target.h"
#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/PlanEmitter.h"
#include "lib/Transforms/Step/EntryParts.h"

namespace aicf {
#define GEN_PASS_DEF_EMITPLAN
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

LogicalResult PlanEmitter::run() {
  if (failed(step::checkParts(entries)))
    return failure();
  func::FuncOp first = entries.front();
  const aicf::DeviceKind device = step::targetOf(first).device();
  for (func::FuncOp func : entries)
    if (step::targetOf(func).device() != device)
      return func.emitError()
             << "entry @" << func.getName() << " is for "
             << StringRef(nameOf(step::targetOf(func).device()))
             << ", and @" << first.getName() << " for "
             << StringRef(nameOf(device)) << ": a plan is for one device";
  auto plan =
      PlanOp::create(builder, first.getLoc(),
                     DeviceKindAttr::get(builder.getContext(), device));
  builder.createBlock(&plan.getBody());
  for (func::FuncOp func : entries)
    emitGlobals(func);
  llvm::StringMap<SmallVector<func::FuncOp>> parts; // by their entry
  for (func::FuncOp func : entries) {
    if (auto root = func->getAttrOfType<StringAttr>(step::kPartOfAttr)) {
      parts[root].push_back(func);
      continue;
    }
    SmallVector<func::FuncOp> own = std::move(parts[func.getName()]);
    own.push_back(func);
    if (failed(emitEntry(own)))
      return failure();
  }
  for (func::FuncOp func : entries)
    func.erase();
  return success();
}

namespace {
struct EmitPlan : aicf::impl::EmitPlanBase<EmitPlan> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> entries = getEntries(getOperation());
    if (!entries.empty() &&
        failed(
            PlanEmitter(getOperation(), entries, getAnalysisManager()).run()))
      signalPassFailure();
  }
};
} // namespace
