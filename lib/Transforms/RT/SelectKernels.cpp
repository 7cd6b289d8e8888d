//===- SelectKernels.cpp - a kernel id for every call ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Asks the kernel table about each call with the types of its values, and
// writes the answer with the bytes of workspace that the kernel wants. A
// profile of measured times goes before the table's order.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/Remarks.h"

namespace aicf {
#define GEN_PASS_DEF_SELECTKERNELS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

namespace {
struct SelectKernels : aicf::impl::SelectKernelsBase<SelectKernels> {
  using SelectKernelsBase::SelectKernelsBase;

  /// Which kernel and why; and why a save is still there.
  void remarkChoice(CallOp op, const KernelRow &row, const TypedBody &typed,
                    const KernelChooser &chooser) {
    remark::RemarkOpts about = remarkOf(
        "SelectKernels", op->getParentOfType<func::FuncOp>().getSymName());
    if (auto remark = remark::analysis(op.getLoc(), about))
      remark << op.getPrimitiveNames() + " runs " + std::string(row.kid) +
                    ": " + chooser.reasonFor(row, op, typed);
    if (op.isOnly(OpKind::CopySaved))
      remark::missed(op.getLoc(), about)
          << "a save stays: aicf-rt-eliminate-saves, which --opt-level=2 runs, "
             "was not run";
  }

  LogicalResult select(CallOp op, const KernelChooser &chooser) {
    StatusOr<TypedBody> typed = typedBodyOf(op);
    if (!typed.ok())
      return op->emitOpError() << typed.status().message();
    if (const KernelRow *row = chooser.choose(op, *typed)) {
      remarkChoice(op, *row, *typed, chooser);
      op.setKernel(row->kid, row->workspaceBytes(*typed));
      return success();
    }
    InFlightDiagnostic diag = op->emitOpError();
    StringRef device = nameOf(chooser.costs().device);
    if (op.getKid().empty())
      diag << "runs " << op.getPrimitiveNames()
           << ", which has no kernel on target " << device << " for ";
    else
      diag << "kid \"" << op.getKid() << "\" is not a kernel of target "
           << device << " for " << op.getPrimitiveNames() << " on ";
    return diag << op->getOperandTypes() << " -> " << op->getResultTypes();
  }

  LogicalResult initialize(MLIRContext *context) override {
    if (profile.empty())
      return success();
    FailureOr<Profile> loaded = loadProfile(UnknownLoc::get(context), profile);
    if (succeeded(loaded))
      measured = std::make_shared<Profile>(std::move(*loaded));
    return loaded;
  }

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    // Neither values nor their order change.
    markAllAnalysesPreserved();
    if (!isEntry(func))
      return;
    const DeviceKind device = targetOf(func).device();
    if (measured && !measured->isOf(device)) {
      func.emitError() << "profile '" << profile << "' was measured on \""
                       << measured->device << "\", but the target is "
                       << StringRef(nameOf(device));
      return signalPassFailure();
    }
    KernelChooser chooser(func, StorageOffsets::ofFixed(func), measured.get());
    for (auto op : func.getOps<CallOp>())
      if (failed(select(op, chooser)))
        return signalPassFailure();
  }

  /// Null without a profile; copies of the pass for other threads share it.
  std::shared_ptr<const Profile> measured;
};
} // namespace
