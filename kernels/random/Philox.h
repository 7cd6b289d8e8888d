//===- Philox.h - counter-based random numbers ------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_RANDOM_PHILOX_H
#define AICF_KERNELS_RANDOM_PHILOX_H

#include "aicf/Types.h"
#include "lib/Base/Element.h"
#include "lib/Base/HostDevice.h"

#include <algorithm>
#include <cmath>
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

/// Bits of a word that a uniform number of the type has: all are exact in it.
inline int uniformBits(DType dtype) {
  return dtype == DType::F64 ? 32
         : dtype == DType::F32 ? 24
         : dtype == DType::F16 ? 11
                               : 8;
}
/// Makes a number in [0, 1).
template <typename C>
AICF_HOST_DEVICE inline C uniformOf(uint32_t word, int bits) {
  return C(word >> (32 - bits)) * (C(1) / C(uint64_t(1) << bits));
}
/// What a uniform number is at most: low + (high - low) · u may be rounded to `high`,
/// which is not one of the interval, unless low is it, too.
inline double greatestUniform(DType dtype, double low, double high) {
  return std::max(low, largestBelow(dtype, high));
}
/// Makes a number of the normal distribution of two words: the first of a pair, or the second
/// (Box & Muller 1958).
template <typename C>
AICF_HOST_DEVICE inline C normalOf(uint32_t a, uint32_t b, bool isSecond) {
  C u = (C(a) + C(0.5)) * C(0x1p-32);
  C angle = C(6.283185307179586) * (C(b) * C(0x1p-32));
  C radius = std::sqrt(C(-2) * std::log(u));
  return radius * (isSecond ? std::sin(angle) : std::cos(angle));
}

/// Words below this are dropped with probability p in [0, 1).
inline uint64_t dropThreshold(double p) { return uint64_t(p * 0x1p32); }

} // namespace aicf

#endif // AICF_KERNELS_RANDOM_PHILOX_H
