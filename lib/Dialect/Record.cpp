//===- Record.cpp - ops as their records describe them --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Record.h"

#include "lib/Ops/Rules.h"

using namespace mlir;
using namespace aicf;

static std::optional<FieldValue> valueOf(Attribute attr) {
  if (auto number = dyn_cast_or_null<FloatAttr>(attr))
    return number.getValueAsDouble();
  if (auto flag = dyn_cast_or_null<BoolAttr>(attr))
    return int64_t(flag.getValue());
  if (auto number = dyn_cast_or_null<IntegerAttr>(attr))
    return number.getInt();
  return std::nullopt;
}

SmallVector<uint8_t> aicf::encodeFields(OpKind kind, FieldLookup lookup,
                                        ArrayRef<TensorDesc> operands) {
  const OpInfo &info = infoOf(kind);
  SmallVector<uint8_t> blob(info.attrBytes);
  for (size_t i = 0; i < info.numFields; ++i) {
    const FieldInfo &field = info.fields[i];
    std::optional<FieldValue> value = valueOf(lookup(StringRef(field.name)));
    if (!value)
      value = fieldDefault(kind, i, {operands.data(), operands.size()});
    if (value) // else ODS has refused the op
      encodeField(field, *value, {blob.data(), blob.size()});
  }
  return blob;
}

SmallVector<TensorDesc> aicf::describeSlots(ArrayRef<Value> slots) {
  SmallVector<TensorDesc> descs;
  for (Value slot : slots)
    descs.push_back(slot ? toDenseDesc(cast<RankedTensorType>(slot.getType()))
                         : TensorDesc::absent());
  return descs;
}

std::optional<std::string> aicf::checkByRecord(OpKind kind,
                                               ArrayRef<TensorDesc> operands,
                                               ArrayRef<TensorDesc> results,
                                               FieldLookup lookup) {
  SmallVector<uint8_t> attrs = encodeFields(kind, lookup, operands);
  Status status = checkRecord(kind, {operands.data(), operands.size()},
                              {results.data(), results.size()},
                              {attrs.data(), attrs.size()});
  if (status.ok())
    return std::nullopt;
  return status.message();
}
