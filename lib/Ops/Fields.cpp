//===- Fields.cpp - fields of an attr blob --------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/Fields.h"

#include <charconv>
#include <cstring>

namespace aicf {

FieldValue decodeField(const FieldInfo &field, Span<const uint8_t> attrs) {
  const uint8_t *at = attrs.data() + field.offset;
  auto read = [&](auto value) {
    std::memcpy(&value, at, sizeof(value));
    return value;
  };
  switch (field.format) {
  case 'd':
    return read(double());
  case 'q':
    return read(int64_t());
  default:
    return int64_t(read(int32_t()));
  }
}

void encodeField(const FieldInfo &field, FieldValue value,
                 Span<uint8_t> attrs) {
  auto write = [&](auto number) {
    std::memcpy(attrs.data() + field.offset, &number, sizeof(number));
  };
  std::visit(
      [&](auto number) {
        if (field.format == 'd')
          write(double(number));
        else if (field.format == 'q')
          write(int64_t(number));
        else
          write(int32_t(number));
      },
      value);
}

std::string formatField(const FieldValue &value) {
  if (const int64_t *whole = std::get_if<int64_t>(&value))
    return std::to_string(*whole);
  return formatNumber(std::get<double>(value));
}

std::string formatNumber(double value) {
  char text[32];
  // The longest has 24 characters.
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

} // namespace aicf
