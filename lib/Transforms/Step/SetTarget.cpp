//===- SetTarget.cpp - say what entries are compiled for ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Dialect/AICF/Target.h"
#include "lib/Dialect/Entry.h"

#include "aicf/Compiler.h"

namespace aicf {
#define GEN_PASS_DEF_SETTARGET
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {
struct SetTarget : aicf::impl::SetTargetBase<SetTarget> {
  using SetTargetBase::SetTargetBase;

  LogicalResult initialize(MLIRContext *context) override {
    NamedAttrList fields;
    if (!costs.empty())
      fields.set("costs", StringAttr::get(context, costs));
    if (math != ProductMath::F32)
      fields.set("math", StringAttr::get(context, "tf32"));
    attribute = TargetAttr::getChecked(
        [&] { return emitError(UnknownLoc::get(context)); }, context,
        DeviceKind(target), fields.getDictionary(context));
    return success(bool(attribute));
  }

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    markAllAnalysesPreserved();
    if (!isEntry(func))
      return;
    auto own = func->getAttrOfType<TargetAttr>(kTargetAttr);
    if (!own) {
      func->setDiscardableAttr(kTargetAttr, attribute);
    } else if (only && own.getDevice() != target) {
      func.emitError() << "entry @" << func.getName() << " is for "
                       << StringRef(nameOf(own.getDevice()))
                       << ", but the target is "
                       << StringRef(nameOf(DeviceKind(target)));
      signalPassFailure();
    }
  }

  TargetAttr attribute;
};
} // namespace
