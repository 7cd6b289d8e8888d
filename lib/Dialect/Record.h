//===- Record.h - ops as their records describe them ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the ops of both dialects that come from a record have in common: slots,
// attr blobs, rules. Private to the dialects.
//===----------------------------------------------------------------------===//

#ifndef AICF_LIB_DIALECT_RECORD_H
#define AICF_LIB_DIALECT_RECORD_H

#include "aicf/Dialect/Tensors.h"
#include "aicf/Ops.h"

#include "mlir/IR/Value.h"

namespace aicf {
using namespace mlir;

/// The value of an attribute of an op by name; null if it is not set.
using FieldLookup = llvm::function_ref<Attribute(StringRef)>;

/// The fields of a call as an attr blob; `operands` are needed where a default
/// is computed from them.
SmallVector<uint8_t> encodeFields(OpKind kind, FieldLookup lookup,
                                  ArrayRef<TensorDesc> operands);

/// Descs of slots as dense tensors; null is an absent one.
SmallVector<TensorDesc> describeSlots(ArrayRef<Value> slots);

/// Asks the rules; an error is the message.
std::optional<std::string> checkByRecord(OpKind kind,
                                         ArrayRef<TensorDesc> operands,
                                         ArrayRef<TensorDesc> results,
                                         FieldLookup lookup);

template <typename Properties, typename = void>
struct HasOperandSegments : std::false_type {};
template <typename Properties>
struct HasOperandSegments<
    Properties,
    std::void_t<decltype(std::declval<Properties>().operandSegmentSizes)>>
    : std::true_type {};
template <typename Properties, typename = void>
struct HasResultSegments : std::false_type {};
template <typename Properties>
struct HasResultSegments<
    Properties,
    std::void_t<decltype(std::declval<Properties>().resultSegmentSizes)>>
    : std::true_type {};

/// How many ODS operands a record makes: its groups are one.
inline unsigned numOdsOperands(const OpInfo &info) {
  return unsigned(info.numOperands - info.hasVariadic) +
         (info.hasVariadic ? 1 : 0);
}

/// The operand slots of an op or of an adaptor of one.
template <typename OpOrAdaptor>
SmallVector<Value> operandSlotsOf(OpOrAdaptor op, OpKind kind) {
  const OpInfo &info = infoOf(kind);
  SmallVector<Value> slots;
  for (unsigned i = 0, e = numOdsOperands(info); i < e; ++i) {
    auto values = op.getODSOperands(i);
    if (values.empty() && !(i == 0 && info.hasVariadic))
      slots.push_back(Value());
    slots.append(values.begin(), values.end());
  }
  return slots;
}

} // namespace aicf

#endif // AICF_LIB_DIALECT_RECORD_H
