//===- VerifyPlan.cpp - what holds of a plan ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Offsets against segments, and temp buffers against each other: two that share
// bytes must not be live at the same time, which findConflict() answers from the
// calls that access each.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Schedule/Overlap.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallList.h"

namespace aicf {
#define GEN_PASS_DEF_VERIFYPLAN
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

static LogicalResult checkNoEntryIsLeft(ModuleOp module) {
  for (func::FuncOp func : getEntries(module))
    return func.emitError()
           << "entry @" << func.getName() << " is left after plan emission";
  return success();
}

/// A buffer that lies in its segment.
static LogicalResult checkPlace(Operation *op, int64_t offset, uint64_t bytes,
                                StringRef segment, int64_t segmentBytes) {
  if (offset >= 0 && segmentBytes >= 0 && offset % kTensorAlignment == 0 &&
      offset + bytes <= static_cast<uint64_t>(segmentBytes))
    return success();
  return op->emitOpError() << "of " << bytes << " bytes at offset " << offset
                           << " does not fit in " << segment << " segment of "
                           << segmentBytes << " bytes";
}

static LogicalResult checkPlaces(EntryOp entry) {
  CallList calls(entry);
  if (!calls.isValid())
    return failure();
  std::vector<PlacedRange> ranges;
  std::vector<AccessSet> accesses;
  SmallVector<AllocOp> temps;
  for (auto alloc : entry.getBody().front().getOps<AllocOp>()) {
    bool isTemp = segmentOf(alloc.getRole().getValue()) == Segment::Temp;
    if (failed(checkPlace(alloc, alloc.getOffset(), alloc.getBytes(),
                          isTemp ? "a temp" : "an io",
                          isTemp ? entry.getTempBytes() : entry.getIoBytes())))
      return failure();
    if (isTemp)
      temps.push_back(alloc);
  }
  for (AllocOp alloc : temps)
    accesses.push_back(calls.accessesOf(alloc.getBuffer()));
  for (auto [alloc, accesses] : llvm::zip_equal(temps, accesses))
    ranges.push_back({uint64_t(alloc.getOffset()),
                      uint64_t(alloc.getOffset()) + uint64_t(alloc.getBytes()),
                      &accesses});
  if (auto conflict = findConflict(ranges, calls.getOrder())) {
    InFlightDiagnostic diag = temps[conflict->first].emitOpError()
                              << "at offset " << ranges[conflict->first].begin
                              << " shares bytes with one at offset "
                              << ranges[conflict->second].begin
                              << " that is live at the same time";
    diag.attachNote(temps[conflict->second].getLoc()) << "the other one";
    return diag;
  }
  return success();
}

/// Buffers lie in their segments, and live temps do not overlap.
static LogicalResult checkMemory(ModuleOp module) {
  for (auto plan : module.getOps<PlanOp>()) {
    for (auto global : plan.getBody().front().getOps<GlobalOp>())
      if (failed(checkPlace(global, global.getOffset(),
                            bytesOf(global.getType()), "a persistent",
                            plan.getPersistentBytes())))
        return failure();
    for (auto entry : plan.getBody().front().getOps<EntryOp>())
      if (failed(checkPlaces(entry)))
        return failure();
  }
  return success();
}

namespace {
struct VerifyPlan : aicf::impl::VerifyPlanBase<VerifyPlan> {
  using VerifyPlanBase::VerifyPlanBase;
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(checkNoEntryIsLeft(getOperation())) ||
        (memory && failed(checkMemory(getOperation()))))
      signalPassFailure();
  }
};
} // namespace
