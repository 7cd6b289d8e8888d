//===- VerifyRT.cpp - what holds after each phase -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description. Each phase's check includes those before it.
//===----------------------------------------------------------------------===//

#include "kernels/KernelTable.h"
#include "lib/Dialect/Entry.h"
#include "lib/Schedule/Overlap.h"
#include "lib/Transforms/Passes.h"
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
enum Stage { Lowered, Updates, Inplace, Kernels, Streams, Memory, Plan };
constexpr StringLiteral kPhases[] = {"lowered", "updates", "inplace", "kernels",
                                     "streams", "memory",  "plan"};
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
  for (auto op : func.getOps<PrimitiveOpInterface>()) {
    const KernelRow *row =
        findKernel(*device, std::string_view(op.getKidOrEmpty()));
    if (!row || row->kind != op.getOpKind())
      return op->emitOpError()
             << "kid \"" << op.getKidOrEmpty()
             << "\" is not a kernel of this op on target " << target.getValue();
  }
  return success();
}

/// After `memory`: live temps do not overlap.
static LogicalResult checkMemory(func::FuncOp func, const CallList &list,
                                 const StorageAnalysis &analysis) {
  auto tempBytes = func->getAttrOfType<IntegerAttr>(kTempBytesAttr);
  if (!tempBytes)
    return func.emitError() << "has no '" << kTempBytesAttr << "'";
  std::vector<PlacedRange> ranges;
  SmallVector<Value> owners;
  for (const Storage &storage : analysis.getStorages()) {
    if (storage.kind != Storage::Kind::Temp)
      continue;
    auto result = cast<OpResult>(storage.values.front());
    ArrayRef<int64_t> slots =
        cast<PrimitiveOpInterface>(result.getOwner()).getSlots();
    if (slots.empty())
      return result.getOwner()->emitOpError() << "has no slots";
    int64_t offset = slots[result.getResultNumber()];
    uint64_t bytes = toTensorDesc(storage.type).numBytes();
    if (offset < 0 || offset % kTensorAlignment != 0 ||
        offset + bytes > static_cast<uint64_t>(tempBytes.getInt()))
      return result.getOwner()->emitOpError()
             << "result " << result.getResultNumber() << " of " << bytes
             << " bytes at offset " << offset
             << " does not fit in a temp segment of " << tempBytes.getInt();
    ranges.push_back(
        {static_cast<uint64_t>(offset), offset + bytes, &storage.accesses});
    owners.push_back(result);
  }
  if (auto conflict = findConflict(ranges, list.order)) {
    InFlightDiagnostic diag =
        owners[conflict->first].getDefiningOp()->emitOpError()
        << "its result at offset " << ranges[conflict->first].begin
        << " shares bytes with a value at offset "
        << ranges[conflict->second].begin << " that is live at the same time";
    diag.attachNote(owners[conflict->second].getLoc()) << "the other value";
    return diag;
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

static LogicalResult checkEntry(func::FuncOp func, Stage stage) {
  if (failed(checkEntryForm(func)) ||
      (stage >= Updates && failed(checkMaterialized(func))))
    return failure();
  if (stage < Inplace)
    return success();
  FailureOr<CallList> list = CallList::create(func);
  if (failed(list))
    return failure();
  StorageAnalysis analysis(func, *list);
  if (failed(analysis.verify()) ||
      (stage >= Kernels && failed(checkKernels(func))))
    return failure();
  return stage >= Memory ? checkMemory(func, *list, analysis) : success();
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
    if (which == Plan) {
      if (failed(checkPlan(getOperation())))
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
