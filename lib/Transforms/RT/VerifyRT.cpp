//===- VerifyRT.cpp - what holds after each phase -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Each phase checks what it promises and what the phases before promised: the
// form of calls, storages of updates, storages in time, kernels, streams.
//===----------------------------------------------------------------------===//

#include "lib/Ops/KernelTable.h"
#include "lib/Ops/Patterns.h"
#include "lib/Dialect/AICF/Target.h"
#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/EntryForm.h"
#include "lib/Transforms/RT/Storage.h"

#include "llvm/ADT/StringExtras.h"

namespace aicf {
#define GEN_PASS_DEF_VERIFYRT
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

namespace {
enum Stage { Lowered, Updates, Inplace, Kernels, Streams };
constexpr StringLiteral kPhases[] = {"lowered", "updates", "inplace", "kernels",
                                     "streams"};
} // namespace

/// After `kernels`: KIDs fit.
static LogicalResult checkKernels(func::FuncOp func) {
  const DeviceKind device = targetOf(func).device();
  for (auto op : func.getOps<CallOp>()) {
    const KernelRow *row = findKernel(device, std::string_view(op.getKid()));
    if (!row || row->pattern != op.getFacts().pattern)
      return op->emitOpError() << "kid \"" << op.getKid()
                               << "\" is not a kernel of this call on target "
                               << StringRef(nameOf(device));
  }
  return success();
}

static LogicalResult checkEntry(func::FuncOp func, Stage stage,
                                AnalysisManager analyses) {
  // Not the analysis: what a pass says that it preserves is checked here.
  if (failed(checkEntryForm(func)))
    return failure();
  if (stage < Updates)
    return success();
  if (failed(checkMaterialized(func, analyses.getAnalysis<EntrySignature>())))
    return failure();
  if (stage < Inplace)
    return success();
  if (!analyses.getAnalysis<CallList>().isValid() ||
      failed(analyses.getAnalysis<StoragePlan>().verify()))
    return failure();
  return stage < Kernels ? success() : checkKernels(func);
}

namespace {
struct VerifyRT : aicf::impl::VerifyRTBase<VerifyRT> {
  using VerifyRTBase::VerifyRTBase;
  LogicalResult initialize(MLIRContext *context) override {
    if (llvm::is_contained(kPhases, StringRef(phase)))
      return success();
    return emitError(UnknownLoc::get(context))
           << "phase is \"" << phase << "\", expected "
           << llvm::join(std::begin(kPhases), std::end(kPhases), ", ");
  }
  void runOnOperation() override {
    markAllAnalysesPreserved();
    auto stage =
        static_cast<Stage>(llvm::find(kPhases, StringRef(phase)) - kPhases);
    if (isEntry(getOperation()) &&
        failed(checkEntry(getOperation(), stage, getAnalysisManager())))
      signalPassFailure();
  }
};
} // namespace
