//===- SelectKernels.cpp - a kernel id for every call ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description.
//===----------------------------------------------------------------------===//

#include "aicf/Analysis/Entry.h"
#include "aicf/Analysis/Storage.h"
#include "aicf/Support/KernelTable.h"
#include "aicf/Transforms/Passes.h"

namespace mlir::aicf {
#define GEN_PASS_DEF_SELECTKERNELS
#include "aicf/Transforms/Passes.h.inc"
} // namespace mlir::aicf

using namespace mlir;
using namespace mlir::aicf;
using namespace mlir::aicf_rt;

/// The row that the op names, or the first automatic one that takes it.
static const ::aicf::KernelRow *findRow(PrimitiveOpInterface op,
                                        ::aicf::DeviceKind device) {
  SmallVector<::aicf::TensorDesc> ins, outs;
  for (Type type : op->getOperandTypes())
    ins.push_back(toTensorDesc(type));
  for (Type type : op->getResultTypes())
    outs.push_back(toTensorDesc(type));
  if (StringRef kid = op.getKidOrEmpty(); !kid.empty()) {
    const ::aicf::KernelRow *row =
        ::aicf::findKernel(device, std::string_view(kid));
    bool accepted =
        row && row->accepts(op.getOpKind(), {ins.data(), ins.size()},
                            {outs.data(), outs.size()});
    return accepted ? row : nullptr;
  }
  return ::aicf::selectKernel(device, op.getOpKind(), {ins.data(), ins.size()},
                              {outs.data(), outs.size()});
}

namespace {
struct SelectKernels : mlir::aicf::impl::SelectKernelsBase<SelectKernels> {
  using SelectKernelsBase::SelectKernelsBase;
  void runOnOperation() override {
    if (target != "cpu" && target != "cuda") {
      getOperation().emitError()
          << "target is \"" << target << "\", expected cpu or cuda";
      return signalPassFailure();
    }
    auto device =
        target == "cpu" ? ::aicf::DeviceKind::CPU : ::aicf::DeviceKind::CUDA;
    for (func::FuncOp func : getEntries(getOperation())) {
      func->setDiscardableAttr(kTargetAttr,
                               StringAttr::get(&getContext(), target));
      for (auto op : func.getOps<PrimitiveOpInterface>()) {
        if (const ::aicf::KernelRow *row = findRow(op, device)) {
          op.setKid(row->kid);
          continue;
        }
        InFlightDiagnostic diag = op->emitOpError();
        if (op.getKidOrEmpty().empty())
          diag << "has no kernel on target " << target << " for "
               << op->getOperandTypes() << " -> " << op->getResultTypes();
        else
          diag << "kid \"" << op.getKidOrEmpty()
               << "\" is not a kernel of target " << target << " for "
               << op->getOperandTypes() << " -> " << op->getResultTypes();
        return signalPassFailure();
      }
    }
  }
};
} // namespace
