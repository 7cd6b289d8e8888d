//===- Schedule.h - how sums are partitioned --------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What a Schedule.h says decides in which order a kernel adds, so it decides
// bits. It holds on every card, so that all give the same bits: a card of
// another size is right, only less full. A change needs new versions of the
// kernels, beside the old ones: scripts/lint_schedules.py.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_SCHEDULE_H
#define AICF_KERNELS_SCHEDULE_H

#include <cstdint>

namespace aicf::families {

/// Numbers of an NVIDIA H200.
inline constexpr int64_t kMultiprocessors = 132;
inline constexpr int kThreadsPerMultiprocessor = 2048;

/// A reduction of up to this many elements is one block's work on a GPU: it
/// needs no memory for partial results.
inline constexpr int64_t kSingleBlockElements = 32768;

/// Rows longer than kLongRow are a block's work, and those longer than kHugeRow
/// the work of a block as large as can be: fewer rows are on their way then, so
/// that a second pass over a row finds it in the L2 cache.
inline constexpr int64_t kLongRow = 1024, kHugeRow = 16384;
/// Threads for a row longer than kHugeRow.
inline constexpr int kHugeBlock = 1024;

} // namespace aicf::families

#endif // AICF_KERNELS_SCHEDULE_H
