//===- Utf8.cpp - text that is safe to print ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Base/Utf8.h"

#include <cstddef>

namespace aicf {

bool isPrintableUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    int continuations = c < 0x80   ? 0
                        : c < 0xc2 ? -1
                        : c < 0xe0 ? 1
                        : c < 0xf0 ? 2
                        : c < 0xf5 ? 3
                                   : -1;
    if (continuations < 0 || c < 0x20 || c == 0x7f)
      return false;
    // The range of the second byte; with c2 it leaves out control characters.
    int low = c == 0xc2 || c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    int high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    for (; continuations > 0; --continuations) {
      int next = ++i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
      if (next < low || next > high)
        return false;
      low = 0x80;
      high = 0xbf;
    }
  }
  return true;
}

} // namespace aicf
