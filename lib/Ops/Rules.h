//===- Rules.h - which operands a primitive accepts -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The one place that says which operands, results and fields an op kind takes.
// Asked by the aicf and the aicf_rt verifier, the plan loader and op_call.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_RULES_H
#define AICF_LIB_OPS_RULES_H

#include "aicf/Ops.h"
#include "aicf/Status.h"
#include "aicf/TensorDesc.h"
#include "lib/Ops/Fields.h"

namespace aicf {

/// Checks one call of `kind`, whose operands and results stand in the record's
/// order, absent ones included. Constraints (C1..) in messages are those of the
/// record.
/// Errors: BadSchema, BadAttrSize, InvalidArgument (counts, presence, fields),
/// DTypeMismatch, ShapeMismatch. Each names the op, the operand and both
/// values.
Status checkCall(OpKind kind, Span<const TensorDesc> ins,
                 Span<const TensorDesc> outs, uint32_t schema,
                 Span<const uint8_t> attrs);

/// The same for a blob of the right layout, without the op's name in messages.
Status checkRecord(OpKind kind, Span<const TensorDesc> ins,
                   Span<const TensorDesc> outs, Span<const uint8_t> attrs);

/// The type that a record's rule gives a result by that of an operand; nothing
/// where constraints say it.
std::optional<TensorDesc> typeByRule(TypeRule rule, const TensorDesc &of);

/// The default of field number `field` of `kind`, which dumps leave out, for a
/// call with these operands; nothing when the field has none.
std::optional<FieldValue> fieldDefault(OpKind kind, size_t field,
                                       Span<const TensorDesc> ins);

/// InvalidArgument unless the number called `name` is in `range`.
Status checkRange(const char *name, double value, Range range);

} // namespace aicf

#endif // AICF_LIB_OPS_RULES_H
