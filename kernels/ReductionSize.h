//===- ReductionSize.h - when a reduction is one block's work ---*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_REDUCTIONSIZE_H
#define AICF_KERNELS_REDUCTIONSIZE_H

#include <cstdint>

namespace aicf::families {
/// A reduction of up to this many elements is one block's work on a GPU: it
/// needs no memory for partial results.
inline constexpr int64_t kSingleBlockElements = 32768;
} // namespace aicf::families

#endif // AICF_KERNELS_REDUCTIONSIZE_H
