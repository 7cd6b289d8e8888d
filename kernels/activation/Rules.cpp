//===- Rules.cpp - what activations with bounds accept ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

Status hardtanh_c1(const HardtanhView<Call> &c) { return areInOrder(c.attrs().min, c.attrs().max); }
Status hardtanh_bwd_c1(const HardtanhBwdView<Call> &c) { return areInOrder(c.attrs().min, c.attrs().max); }

} // namespace aicf::rules
