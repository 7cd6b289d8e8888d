//===- FusedCall.h - a call and its reader as one ---------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which calls may be one, for the passes that decide which ought to be.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_FUSEDCALL_H
#define AICF_LIB_TRANSFORMS_RT_FUSEDCALL_H

#include "lib/Transforms/RT/FusionPlace.h"
#include "lib/Transforms/RT/KernelChoice.h"

namespace aicf::rt {

/// Returns true if the call may become a part of a graph, or, with
/// `takesProducts`, is a product that a graph may begin with. A call that keeps
/// a value for the backward pass stays apart, because the plan names it.
bool mayBePart(CallOp call, bool takesProducts);

/// True if the call moves so much that its operands and results do not stay in
/// a cache of the target.
bool areLarge(const MergedCall &merged, const Costs &costs);

/// Whether calls that were merged may be one: whether a kernel takes it, with
/// the types that its parts had. A reason asks `chooser`.
Decision mayBeOne(const MergedCall &merged, const KernelChooser &chooser);

/// Two calls as one, and the one of both at whose place it stands.
struct FusedCall {
  MergedCall merged;
  CallOp place;
};
/// Returns the one call for both, of which `reader` reads a result of `maker`,
/// or the same as it. Changes nothing. A reason asks `chooser`.
Decided<FusedCall> fusedCallOf(CallOp maker, CallOp reader,
                               const KernelChooser &chooser,
                               const Updaters &updaters);

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_FUSEDCALL_H
