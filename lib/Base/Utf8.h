//===- Utf8.h - text that is safe to print ----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_BASE_UTF8_H
#define AICF_LIB_BASE_UTF8_H

#include <string_view>

namespace aicf {

/// UTF-8 (RFC 3629: no overlong forms, surrogates or code points above
/// U+10FFFF) without control characters, those of 0x80 to 0x9f included.
bool isPrintableUtf8(std::string_view text);

} // namespace aicf

#endif // AICF_LIB_BASE_UTF8_H
