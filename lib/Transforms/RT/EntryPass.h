//===- EntryPass.h - a pass over the calls of an entry ----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_ENTRYPASS_H
#define AICF_LIB_TRANSFORMS_RT_ENTRYPASS_H

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/RT/EntryForm.h"

namespace aicf::rt {

/// What passes over the calls of an entry begin with. `Base` is what
/// mlir-tblgen made of the pass. Functions that are not entries stay as they
/// are, and an entry whose form is not legal fails the pass. Calls may change;
/// the form and the signature stay.
template <typename Base> struct EntryPass : Base {
  using Base::Base;

  virtual void runOnEntry(mlir::func::FuncOp func) = 0;

  void runOnOperation() final {
    mlir::func::FuncOp func = this->getOperation();
    if (!step::isEntry(func))
      return this->markAllAnalysesPreserved();
    if (!this->template getAnalysis<EntryForm>().isLegal)
      return this->signalPassFailure();
    this->template markAnalysesPreserved<EntryForm, step::EntrySignature>();
    runOnEntry(func);
  }
};

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_ENTRYPASS_H
