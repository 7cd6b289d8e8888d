//===- EliminateSaves.cpp - read what was saved where it lies ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description.
//===----------------------------------------------------------------------===//

#include "aicf/Analysis/Entry.h"
#include "aicf/Analysis/Storage.h"
#include "aicf/Transforms/Passes.h"

namespace mlir::aicf {
#define GEN_PASS_DEF_ELIMINATESAVES
#include "aicf/Transforms/Passes.h.inc"
} // namespace mlir::aicf

using namespace mlir;
using namespace mlir::aicf;
using namespace mlir::aicf_rt;

namespace {
struct EliminateSaves : mlir::aicf::impl::EliminateSavesBase<EliminateSaves> {
  void runOnOperation() override {
    for (func::FuncOp func : getEntries(getOperation())) {
      if (failed(checkEntryForm(func)))
        return signalPassFailure();
      for (auto save : llvm::make_early_inc_range(
               func.getOps<mlir::aicf_rt::CopySavedOp>())) {
        save.getY().replaceAllUsesWith(save.getX());
        save.erase();
      }
    }
  }
};
} // namespace
