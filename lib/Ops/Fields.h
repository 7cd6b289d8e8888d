//===- Fields.h - fields of an attr blob ------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_FIELDS_H
#define AICF_LIB_OPS_FIELDS_H

#include "aicf/OpInfo.h"
#include "aicf/Span.h"

#include <cstring>
#include <string>
#include <variant>

namespace aicf {

/// A blob as its struct; the caller checked the size.
template <typename Attrs> Attrs decodeAttrs(Span<const uint8_t> blob) {
  Attrs attrs;
  std::memcpy(&attrs, blob.data(), sizeof(attrs));
  return attrs;
}

/// One field of a blob: whole numbers stay whole, a seed of 64 bits too.
using FieldValue = std::variant<int64_t, double>;
/// The caller checked the blob's size.
FieldValue decodeField(const FieldInfo &field, Span<const uint8_t> attrs);
/// Writes `value` into a blob of the right size.
void encodeField(const FieldInfo &field, FieldValue value, Span<uint8_t> attrs);
std::string formatField(const FieldValue &value);

/// The shortest decimal that reads back as `value` ("0.9", "1e-08").
std::string formatNumber(double value);

} // namespace aicf

#endif // AICF_LIB_OPS_FIELDS_H
