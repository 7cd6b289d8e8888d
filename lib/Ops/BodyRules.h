//===- BodyRules.h - which bodies a call may have ---------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The one place that says what a body may look like and what types its values
// have. Asked by the verifier of aicf_rt.call, the plan loader and op_call.
// That a kernel takes the body is the kernel table's matter.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_BODYRULES_H
#define AICF_LIB_OPS_BODYRULES_H

#include "aicf/Body.h"
#include "aicf/Status.h"
#include "aicf/TensorDesc.h"

#include <string>

namespace aicf {

/// Primitives that a body may have; no kernel takes as many.
inline constexpr size_t kMaxBodyPrimitives = 1024;

/// The normal form, which does not depend on types:
///   - every primitive is of a known kind, with attrs and operands as its
///   record
///     says, and reads values of lower numbers that are there;
///   - results are yielded in order, once each; what is not yielded is read;
///   - in a body of several primitives operands are numbered in the order of
///   their
///     first use; in a body of one primitive each slot has an operand of its
///     own.
/// So equal computations are equal bodies, and no pass finds anything to do in
/// one. Errors: InvalidArgument, BadAttrSize; each names the primitive.
Status checkForm(const Body &body);

/// The value numbers that the body makes, in order: all results of all
/// primitives but those that are absent, which nobody reads or yields.
std::vector<uint32_t> valuesMade(const Body &body);

/// The types of all values of a body in normal form, called with these operands
/// and results; checks every primitive by its record's rules.
/// Errors: as checkCall(), and InvalidArgument for counts.
StatusOr<std::vector<TensorDesc>> describeValues(const Body &body,
                                                 Span<const TensorDesc> ins,
                                                 Span<const TensorDesc> outs);

/// "gemm", or "gemm, bias_add, relu".
std::string primitiveNames(const Body &body);
/// "operand 1 (b)", or "result 0 (c)": the first slot of a record that a call's
/// operand or result stands at.
std::string describeOperand(const Body &body, size_t operand);
std::string describeResult(const Body &body, size_t result);

} // namespace aicf

#endif // AICF_LIB_OPS_BODYRULES_H
