//===- Record.cpp - ops as their records describe them --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Record.h"

#include "aicf/Support/OpRules.h"

using namespace mlir;
using namespace mlir::aicf_rt;

static std::optional<::aicf::FieldValue> valueOf(Attribute attr) {
  if (auto number = dyn_cast_or_null<FloatAttr>(attr))
    return number.getValueAsDouble();
  if (auto flag = dyn_cast_or_null<BoolAttr>(attr))
    return int64_t(flag.getValue());
  if (auto number = dyn_cast_or_null<IntegerAttr>(attr))
    return number.getInt();
  return std::nullopt;
}

SmallVector<uint8_t>
mlir::aicf_rt::encodeFields(::aicf::OpKind kind, FieldLookup lookup,
                            ArrayRef<::aicf::TensorDesc> operands) {
  const ::aicf::OpInfo &info = ::aicf::infoOf(kind);
  SmallVector<uint8_t> blob(info.attrBytes);
  for (size_t i = 0; i < info.numFields; ++i) {
    const ::aicf::FieldInfo &field = info.fields[i];
    std::optional<::aicf::FieldValue> value =
        valueOf(lookup(StringRef(field.name)));
    if (!value)
      value =
          ::aicf::fieldDefault(kind, i, {operands.data(), operands.size()});
    if (value) // else ODS has refused the op
      ::aicf::encodeField(field, *value, {blob.data(), blob.size()});
  }
  return blob;
}

SmallVector<::aicf::TensorDesc>
mlir::aicf_rt::describeSlots(ArrayRef<Value> slots) {
  SmallVector<::aicf::TensorDesc> descs;
  for (Value slot : slots)
    descs.push_back(slot ? toTensorDesc(slot.getType())
                         : ::aicf::TensorDesc::absent());
  return descs;
}

std::optional<std::string>
mlir::aicf_rt::checkByRecord(::aicf::OpKind kind,
                             ArrayRef<::aicf::TensorDesc> operands,
                             ArrayRef<::aicf::TensorDesc> results,
                             FieldLookup lookup) {
  SmallVector<uint8_t> attrs = encodeFields(kind, lookup, operands);
  ::aicf::Status status = ::aicf::checkRecord(
      kind, {operands.data(), operands.size()},
      {results.data(), results.size()}, {attrs.data(), attrs.size()});
  if (status.ok())
    return std::nullopt;
  return status.message();
}
