//===- FusionPlace.h - where the call for two calls stands ------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Who reads what in between decides, and how long tensors stay in memory. That
// the two may be one call, the caller knows.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_FUSIONPLACE_H
#define AICF_LIB_TRANSFORMS_RT_FUSIONPLACE_H

#include "lib/Transforms/RT/MergeCalls.h"

#include <string>

namespace aicf::rt {

/// The one of both in front of which the call for both stands. Or null; why,
/// goes to `whyNot`. `maker` is before `reader`.
CallOp placeFor(const MergedCall &merged, CallOp maker, CallOp reader,
                std::string &whyNot);

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_FUSIONPLACE_H
