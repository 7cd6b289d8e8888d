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

namespace {
/// The row that an op names, or the first automatic one that takes it.
struct Choice {
  SmallVector<::aicf::TensorDesc> ins, outs;
  const ::aicf::KernelRow *row = nullptr;

  Choice(PrimitiveOpInterface op, ::aicf::DeviceKind device, bool allowTF32) {
    for (Type type : op->getOperandTypes())
      ins.push_back(toTensorDesc(type));
    for (Type type : op->getResultTypes())
      outs.push_back(toTensorDesc(type));
    StringRef kid = op.getKidOrEmpty();
    if (kid.empty()) {
      row = ::aicf::selectKernel(device, op.getOpKind(), inSpan(), outSpan(),
                                 {allowTF32});
      return;
    }
    row = ::aicf::findKernel(device, std::string_view(kid));
    if (row && !row->accepts(op.getOpKind(), inSpan(), outSpan()))
      row = nullptr;
  }
  ::aicf::Span<const ::aicf::TensorDesc> inSpan() const {
    return {ins.data(), ins.size()};
  }
  ::aicf::Span<const ::aicf::TensorDesc> outSpan() const {
    return {outs.data(), outs.size()};
  }
};
} // namespace

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
      auto math = func->getAttrOfType<StringAttr>(kMathAttr);
      bool allowTF32 = math && math.getValue() == "tf32";
      for (auto op : func.getOps<PrimitiveOpInterface>()) {
        Choice choice(op, device, allowTF32);
        if (choice.row) {
          op.setKid(choice.row->kid);
          op.setWorkspace(
              choice.row->workspaceBytes(choice.inSpan(), choice.outSpan()));
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
