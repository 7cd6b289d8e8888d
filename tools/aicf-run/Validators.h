//===- Validators.h - what CLI11 would let pass -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_TOOLS_AICF_RUN_VALIDATORS_H
#define AICF_TOOLS_AICF_RUN_VALIDATORS_H

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <string>

namespace aicf {

/// CLI11 would saturate 2^64 and read "010" as octal.
inline CLI::Validator wholeNumber(uint64_t least, uint64_t most) {
  return CLI::Validator(
      [=](std::string &text) -> std::string {
        uint64_t n = 0;
        const char *last = text.data() + text.size();
        auto [end, error] = std::from_chars(text.data(), last, n);
        if (error != std::errc() || end != last || n < least || n > most)
          return "\"" + text + "\" is not a whole number from " +
                 std::to_string(least) + " to " + std::to_string(most);
        text = std::to_string(n);
        return "";
      },
      "UINT");
}

/// An empty value is a mistake, not a flag that was left out.
inline const CLI::Validator kNotEmpty(
    [](std::string &text) {
      return std::string(text.empty() || text == "@" ? "the value is empty"
                                                     : "");
    },
    "");

} // namespace aicf

#endif // AICF_TOOLS_AICF_RUN_VALIDATORS_H
