//===- Philox.h - counter-based random numbers ------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_RANDOM_PHILOX_H
#define AICF_KERNELS_RANDOM_PHILOX_H

#include "lib/Base/HostDevice.h"

#include <cstdint>

namespace aicf {

struct PhiloxWords {
  uint32_t at[4];
};

/// Philox4x32-10: four random words of a counter under a key (Salmon et al.
/// 2011, "Parallel random numbers: as easy as 1, 2, 3").
AICF_HOST_DEVICE inline PhiloxWords philox(uint64_t key, uint64_t low,
                                           uint64_t high) {
  PhiloxWords c{{uint32_t(low), uint32_t(low >> 32), uint32_t(high),
                 uint32_t(high >> 32)}};
  uint32_t key0 = uint32_t(key), key1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t even = uint64_t(0xd2511f53u) * c.at[0];
    uint64_t odd = uint64_t(0xcd9e8d57u) * c.at[2];
    c = {{uint32_t(odd >> 32) ^ c.at[1] ^ key0, uint32_t(odd),
          uint32_t(even >> 32) ^ c.at[3] ^ key1, uint32_t(even)}};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return c;
}

/// Words below this are dropped with probability p in [0, 1).
inline uint64_t dropThreshold(double p) { return uint64_t(p * 0x1p32); }

} // namespace aicf

#endif // AICF_KERNELS_RANDOM_PHILOX_H
