//===- Allocations.cpp - how often a test asked for memory ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Common/Allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<uint64_t> count{0};
#define AICF_NOINLINE __attribute__((noinline))
AICF_NOINLINE void *operator new(size_t bytes) {
  ++count;
  if (void *memory = std::malloc(bytes))
    return memory;
  throw std::bad_alloc();
}
AICF_NOINLINE void *operator new(size_t bytes,
                                 const std::nothrow_t &) noexcept {
  ++count;
  return std::malloc(bytes);
}
AICF_NOINLINE void operator delete(void *memory) noexcept { std::free(memory); }
AICF_NOINLINE void operator delete(void *memory, size_t) noexcept {
  std::free(memory);
}

uint64_t aicf::test::allocationCount() { return count; }
