//===- OpRules.h - which operands a primitive accepts -----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The one place that says which operands, results and attrs an op kind takes.
// Called by the aicf_rt verifier, the plan loader and op_call.
//===----------------------------------------------------------------------===//
#ifndef AICF_SUPPORT_OPRULES_H
#define AICF_SUPPORT_OPRULES_H

#include "aicf/ABI/Ops.h"
#include "aicf/Support/Status.h"
#include "aicf/Support/TensorDesc.h"

#include <cstring>
#include <optional>
#include <variant>

namespace aicf {

/// Checks one call of `kind`. The numbered constraints (C1..) in messages are
/// those of the op's description in AICFRTOps.td.
/// Errors: BadSchema, BadAttrSize, InvalidArgument (counts, attr values),
/// DTypeMismatch, ShapeMismatch. Each names the op, the operand and both
/// values.
Status checkCall(OpKind kind, Span<const TensorDesc> ins,
                 Span<const TensorDesc> outs, uint32_t schema,
                 Span<const uint8_t> attrs);

/// Largest tensor, and largest segment of a plan: 64 TiB.
inline constexpr uint64_t kMaxTensorBytes = uint64_t(1) << 46;

/// Bytes of a tensor from an untrusted source; nothing if its rank is above
/// kMaxRank, a dimension is not in 1 to INT32_MAX, or it is above
/// kMaxTensorBytes.
std::optional<uint64_t> checkedBytes(const TensorDesc &desc);

/// The attr blob as its struct. The caller has checked the size.
template <typename T> T decodeAttrs(Span<const uint8_t> attrs) {
  T value;
  std::memcpy(&value, attrs.data(), sizeof(T));
  return value;
}

/// One field of a blob, for printing: whole numbers stay whole, a seed of 64
/// bits too. The caller checked the size.
using FieldValue = std::variant<int64_t, double>;
FieldValue decodeField(const FieldInfo &field, Span<const uint8_t> attrs);
std::string formatField(const FieldValue &value);

/// The shortest decimal that reads back as `value` ("0.9", "1e-08").
std::string formatNumber(double value);

/// The default of field number `field` of `kind`, which dumps leave out, for a
/// call whose operand 0 is `operand0`; nothing when the field has none.
std::optional<FieldValue> fieldDefault(OpKind kind, size_t field,
                                       const TensorDesc &operand0);

/// Positions of the optional operands of adam_step and sgd_step; -1 if absent.
struct OptimizerOperands {
  int moment = -1; ///< sgd_step only
  int invScale = -1;
  int ok = -1;
};
/// `ins`: the operands of a call; `numOuts` decides whether sgd_step has m.
OptimizerOperands optimizerOperands(OpKind kind, Span<const TensorDesc> ins,
                                    size_t numOuts);

} // namespace aicf

#endif // AICF_SUPPORT_OPRULES_H
