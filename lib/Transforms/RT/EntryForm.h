//===- EntryForm.h - what aicf_rt passes rely on ----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Checks of an entry in tensor form, with diagnostics.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_ENTRYFORM_H
#define AICF_LIB_TRANSFORMS_RT_ENTRYFORM_H

#include "lib/Dialect/Entry.h"

namespace aicf::rt {
using namespace mlir;

/// What every aicf_rt pass relies on: one block of calls that ends in a return,
/// tensors that a plan can hold, and updates that name an argument once, of its
/// type, with role param or state. Emits a diagnostic otherwise.
LogicalResult checkEntryForm(func::FuncOp func);

/// The same as an analysis. Passes that put calls in the place of calls
/// preserve it.
struct EntryForm {
  explicit EntryForm(Operation *func)
      : isLegal(succeeded(checkEntryForm(cast<func::FuncOp>(func)))) {}
  bool isLegal;
};

/// After --aicf-rt-materialize-updates: no two results share a value, and no
/// argument is returned as another or as an output. Emits a diagnostic
/// otherwise.
LogicalResult checkMaterialized(func::FuncOp func,
                                const step::EntrySignature &signature);

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_ENTRYFORM_H
