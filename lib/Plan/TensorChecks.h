//===- TensorChecks.h - what tensors of a plan must satisfy -----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The verifier's checks of names, buffers and values, each by itself. All
// numbers are untrusted.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_PLAN_TENSORCHECKS_H
#define AICF_LIB_PLAN_TENSORCHECKS_H

#include "aicf/Plan.h"
#include "lib/Plan/DiagnosticPath.h"

#include <unordered_set>

namespace aicf::verifier {

/// Names travel into file headers, messages and command lines: printable text
/// of up to 1,024 bytes, and not the key that safetensors keeps for itself.
bool isValidName(const std::string &name);

/// A buffer of a segment that has so many bytes.
Status checkBuffer(const PlanBuffer &b, const DiagnosticPath &where,
                   uint64_t segmentBytes);
/// A value in a buffer that was checked.
Status checkValue(const PlanValue &v, const PlanBuffer &b,
                  const DiagnosticPath &where);
/// Number `number` is a buffer and the value that is all of it.
Status checkWhole(const PlanValue &v, const PlanBuffer &b, uint32_t number,
                  const DiagnosticPath &where);
Status checkSegmentBytes(const DiagnosticPath &where, const char *name,
                         uint64_t bytes);
/// Buffers that never share bytes: all persistent ones, all io of an entry.
Status checkDisjoint(const std::vector<const PlanBuffer *> &buffers,
                     const DiagnosticPath &where);
/// All of a plan's persistent tensors; adds their names to `names`.
Status checkPersistent(const Plan &plan,
                       std::unordered_set<std::string> &names);
/// A reader takes the outputs apart as the form says. The compiler may have
/// added some that the function does not return, behind its own.
Status checkOutputForm(const PlanEntry &entry, const DiagnosticPath &where);
/// Users say "entry/name" for an input or output: nothing else may have that
/// name, or be reached by it.
Status checkQualifiedNames(const Plan &plan);

} // namespace aicf::verifier

#endif // AICF_LIB_PLAN_TENSORCHECKS_H
