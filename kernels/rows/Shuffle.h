//===- Shuffle.h - a permutation without memory -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The function behind `shuffle`, shared by CPU and CUDA kernels: a 6-round
// Feistel network over the next even power of two, walked until the result is
// below `size` (Black & Rogaway 2002, "Ciphers with arbitrary finite domains").
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ROWS_SHUFFLE_H
#define AICF_KERNELS_ROWS_SHUFFLE_H

#include "lib/Base/HostDevice.h"

#include <cstdint>

namespace aicf {

/// The row at `position` of an endless walk over rows 0..size-1 that visits
/// each once an epoch, in an order that depends on (seed, epoch) only.
AICF_HOST_DEVICE inline int64_t shuffledRow(uint64_t position, uint32_t size,
                                            uint64_t seed) {
  uint64_t epoch = position / size;
  uint32_t halfBits = 1;
  while (halfBits < 16 && (uint64_t(1) << (2 * halfBits)) < size)
    ++halfBits;
  uint32_t mask = (uint32_t(1) << halfBits) - 1;
  uint64_t key = (seed ^ (epoch * 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
  key ^= key >> 31;
  uint64_t x = position % size;
  do { // at most 4 times on average: the domain is below 4 * size
    uint32_t left = uint32_t(x >> halfBits), right = uint32_t(x) & mask;
    for (uint32_t round = 0; round < 6; ++round) {
      // Philox's multiplier; the high half mixes all bits of its operand.
      uint64_t product =
          uint64_t(0xd2511f53u) *
          (right ^ uint32_t(key >> (round % 2 * 32)) ^ (round * 0x9e3779b9u));
      uint32_t mixed = uint32_t(product >> 32) ^ uint32_t(product);
      uint32_t next = left ^ ((mixed ^ (mixed >> halfBits)) & mask);
      left = right;
      right = next;
    }
    x = (uint64_t(left) << halfBits) | right;
  } while (x >= size);
  return int64_t(x);
}

} // namespace aicf

#endif // AICF_KERNELS_ROWS_SHUFFLE_H
