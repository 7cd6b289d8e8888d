//===- EmitPlan.cpp - entries to one aicf_rt.plan -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// PlanEmitter copies what the passes before decided; where buffers lie, --aicf-rt-plan-memory decides.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/PlanEmitter.h"

namespace aicf {
#define GEN_PASS_DEF_EMITPLAN
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

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
