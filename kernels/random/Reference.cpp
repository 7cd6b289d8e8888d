//===- Reference.cpp - dropout in f64 -------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

#include <array>
#include <cmath>

namespace aicf::reference {
namespace {

using Words = std::array<uint32_t, 4>;

/// Ten rounds of Philox4x32, once more from the paper's definition.
Words philox(Words c, uint32_t k0, uint32_t k1) {
  auto high = [](uint32_t a, uint32_t b) {
    return uint32_t((uint64_t(a) * b) >> 32);
  };
  const uint32_t m0 = 0xd2511f53, m1 = 0xcd9e8d57;
  for (uint32_t round = 0; round < 10; ++round) {
    uint32_t a = k0 + round * 0x9e3779b9u, b = k1 + round * 0xbb67ae85u;
    c = {high(m1, c[2]) ^ c[1] ^ a, m1 * c[2], high(m0, c[0]) ^ c[3] ^ b,
         m0 * c[0]};
  }
  return c;
}

} // namespace

void compute(const DropoutView<Call> &c) {
  DropoutAttrs attrs = c.attrs();
  auto step = uint64_t(int64_t(c.step()[0])), seed = uint64_t(attrs.seed);
  fill(c.y(), [&](size_t i) {
    Words words = philox({uint32_t(i / 4), uint32_t(uint64_t(i / 4) >> 32),
                          uint32_t(step), uint32_t(step >> 32)},
                         uint32_t(seed), uint32_t(seed >> 32));
    bool isKept = double(words[i % 4]) >= std::floor(attrs.p * 4294967296.0);
    return isKept ? c.x()[i] / (1 - attrs.p) : 0;
  });
}

} // namespace aicf::reference
