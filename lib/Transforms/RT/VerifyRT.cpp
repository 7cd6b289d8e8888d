//===- VerifyRT.cpp - what holds after each phase -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description. Each phase's check includes those before it.
//===----------------------------------------------------------------------===//

#include "kernels/KernelTable.h"
#include "kernels/Patterns.h"
#include "lib/Dialect/Entry.h"
#include "lib/Schedule/Overlap.h"
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
enum Stage { Lowered, Updates, Inplace, Kernels, Streams, Plan, Memory };
constexpr StringLiteral kPhases[] = {"lowered", "updates", "inplace", "kernels",
                                     "streams", "plan",    "memory"};
} // namespace

/// After `kernels`: KIDs fit.
static LogicalResult checkKernels(func::FuncOp func) {
  auto target = func->getAttrOfType<StringAttr>(kTargetAttr);
  if (!target)
    return func.emitError() << "has no '" << kTargetAttr << "'";
  auto device = parseEnum<DeviceKind>(target.getValue(), kNumDeviceKinds);
  if (!device)
    return func.emitError() << "'" << kTargetAttr << "' is " << target
                            << ", which is not a device";
  for (auto op : func.getOps<CallOp>()) {
    const KernelRow *row = findKernel(*device, std::string_view(op.getKid()));
    if (!row || row->pattern != op.getFacts().pattern)
      return op->emitOpError() << "kid \"" << op.getKid()
                               << "\" is not a kernel of this call on target "
                               << target.getValue();
  }
  return success();
}

/// After `plan`: no entry is left; the plan's own verifier has done the rest.
static LogicalResult checkPlan(ModuleOp module) {
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
  FailureOr<CallList> calls = CallList::create(entry);
  if (failed(calls))
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
    accesses.push_back(calls->accessesOf(alloc.getBuffer()));
  for (auto [alloc, accesses] : llvm::zip_equal(temps, accesses))
    ranges.push_back({uint64_t(alloc.getOffset()),
                      uint64_t(alloc.getOffset()) + uint64_t(alloc.getBytes()),
                      &accesses});
  if (auto conflict = findConflict(ranges, calls->getOrder())) {
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

/// After `memory`: buffers lie in their segments, and live temps do not
/// overlap.
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

static LogicalResult checkEntry(func::FuncOp func, Stage stage) {
  EntrySignature signature(func);
  if (stage < Inplace)
    return failure(
        failed(checkEntryForm(func)) ||
        (stage >= Updates && failed(checkMaterialized(func, signature))));
  FailureOr<CallList> list = CallList::create(func);
  if (failed(list) || failed(checkMaterialized(func, signature)))
    return failure();
  StoragePlan analysis(func, signature, *list);
  if (failed(analysis.verify()) ||
      (stage >= Kernels && failed(checkKernels(func))))
    return failure();
  return success();
}

namespace {
struct VerifyRT : aicf::impl::VerifyRTBase<VerifyRT> {
  using VerifyRTBase::VerifyRTBase;
  void runOnOperation() override {
    const auto *it = llvm::find(kPhases, StringRef(phase));
    if (it == std::end(kPhases)) {
      getOperation().emitError()
          << "phase is \"" << phase << "\", expected "
          << llvm::join(std::begin(kPhases), std::end(kPhases), ", ");
      return signalPassFailure();
    }
    auto which = static_cast<Stage>(it - kPhases);
    if (which >= Plan) {
      if (failed(checkPlan(getOperation())) ||
          (which == Memory && failed(checkMemory(getOperation()))))
        signalPassFailure();
      return;
    }
    for (func::FuncOp func : getEntries(getOperation()))
      if (failed(checkEntry(func, which)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
