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

#include <optional>
#include <string>

namespace aicf::rt {

/// A call that may be part of a graph, or of one that a product begins. What is
/// kept for the backward pass is a call of its own, as the plan says of it.
bool mayBePart(CallOp call, bool takesProducts);

/// True if the call moves so much that it does not stay in a cache.
bool areLarge(const MergedCall &merged, DeviceKind target);

/// Two calls as one, and the one of both at whose place it stands.
struct FusedCall {
  MergedCall merged;
  CallOp place;
};
/// The one call for both, of which `reader` reads a result of `maker`, or the
/// same as it. Or nothing; why, goes to `whyNot`. Changes nothing.
std::optional<FusedCall> fusedCallOf(CallOp maker, CallOp reader,
                                     const KernelChooser &chooser,
                                     const Updaters &updaters,
                                     DeviceKind target, std::string &whyNot);

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_FUSEDCALL_H
