//===- Allocations.h - how often a test asked for memory --------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_COMMON_ALLOCATIONS_H
#define AICF_UNITTESTS_COMMON_ALLOCATIONS_H

#include <cstdint>

namespace aicf::test {

/// How many allocations this process has made. Allocations.cpp replaces the
/// operator new of a test that links it.
uint64_t allocationCount();

} // namespace aicf::test

#endif // AICF_UNITTESTS_COMMON_ALLOCATIONS_H
