//===- Alignment.h - which items of two lists stand for each other -*- C++ -*-//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_PLAN_ALIGNMENT_H
#define AICF_LIB_PLAN_ALIGNMENT_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace aicf {

inline constexpr size_t kUnpaired = SIZE_MAX;

/// Returns for each item of `a` the position in `b` of an equal one, or
/// kUnpaired. Positions rise.
std::vector<size_t> align(const std::vector<std::string> &a,
                          const std::vector<std::string> &b);

/// Returns the same by the `strong` keys of items, and in the gaps that these
/// leave by their `weak` keys.
std::vector<size_t> alignTwice(const std::vector<std::string> &strongA,
                               const std::vector<std::string> &strongB,
                               const std::vector<std::string> &weakA,
                               const std::vector<std::string> &weakB);

} // namespace aicf

#endif // AICF_LIB_PLAN_ALIGNMENT_H
