//===- SelectKernels.cpp - a kernel id for every call ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/RT/Storage.h"

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
  void runOnOperation() override {
    StringRef name = nameOf(target);
    FailureOr<KernelProfile> measured = KernelProfile();
    if (!profile.empty())
      measured = KernelProfile::load(getOperation(), profile);
    if (failed(measured))
      return signalPassFailure();
    for (func::FuncOp func : getEntries(getOperation())) {
      func->setDiscardableAttr(kTargetAttr,
                               StringAttr::get(&getContext(), name));
      KernelChooser chooser(func, target,
                            profile.empty() ? nullptr : &*measured);
      for (auto op : func.getOps<PrimitiveOpInterface>()) {
        if (const KernelRow *row = chooser.choose(op)) {
          SmallVector<TensorDesc> ins = op.getOperandDescs();
          SmallVector<TensorDesc> outs = op.getResultDescs();
          op.setKid(row->kid);
          op.setWorkspace(row->workspaceBytes({ins.data(), ins.size()},
                                              {outs.data(), outs.size()}));
          continue;
        }
        InFlightDiagnostic diag = op->emitOpError();
        if (op.getKidOrEmpty().empty())
          diag << "has no kernel on target " << name << " for "
               << op->getOperandTypes() << " -> " << op->getResultTypes();
        else
          diag << "kid \"" << op.getKidOrEmpty()
               << "\" is not a kernel of target " << name << " for "
               << op->getOperandTypes() << " -> " << op->getResultTypes();
        return signalPassFailure();
      }
    }
  }
};
} // namespace
