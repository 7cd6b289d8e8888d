//===- PartPlaces.h - where the parts of a concat lie -----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What --aicf-rt-place-parts asks of a concat, or of a copy of a view, before it
// changes anything: where each operand lies in the result, and whether an argument
// that the result updates has some of them already.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_PARTPLACES_H
#define AICF_LIB_TRANSFORMS_RT_PARTPLACES_H

#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Base/Views.h"
#include "lib/Dialect/Entry.h"

namespace aicf::rt {
using namespace mlir;

/// What `value` is of its base: all of it, or a view.
ViewDesc viewDescOf(Value value);
/// Where each operand of a concat or copy lies in the result.
SmallVector<ViewDesc> placesIn(CallOp call);
/// True if `value` is a view of `arg` that lies where `place` is in it; false for a
/// null `arg`.
bool isKept(Value value, BlockArgument arg, const ViewDesc &place);
/// The argument that a concat updates, if some of its parts are the argument's
/// own elements in their places and nobody needs the old values of the others;
/// or null.
BlockArgument findUpdated(func::FuncOp func,
                          const step::EntrySignature &signature, CallOp concat);

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_PARTPLACES_H
