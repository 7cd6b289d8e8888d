//===- Levels.h - which calls of a list may run side by side ----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For executors that know every address: what a call depends on is read off the
// bytes that it reads and writes, so calls that the list only happens to order
// are free. Does not know streams and events: whoever orders by levels keeps
// the list's order, which extends theirs, wherever bytes are shared.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_SCHEDULE_LEVELS_H
#define AICF_LIB_SCHEDULE_LEVELS_H

#include "aicf/Span.h"

#include <cstdint>
#include <vector>

namespace aicf {

/// Bytes [begin, end) that a call reads, or writes; not empty.
struct ByteAccess {
  uint64_t begin = 0, end = 0;
  bool writes = false;
};

/// The level of each call: 0, or one more than the highest of the calls before
/// it in the list that write what it reads, or read or write what it writes. So
/// calls of one level share no bytes that one of them writes.
/// O(n log n) for n ranges, and the number of pieces that all of them together
/// are cut into by each other.
std::vector<uint32_t>
levelsOf(Span<const std::vector<ByteAccess>> accessesOfCalls);

} // namespace aicf

#endif // AICF_LIB_SCHEDULE_LEVELS_H
