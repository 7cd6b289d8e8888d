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

/// The words of the group of element i.
Words wordsOf(size_t i, const Tensor &count, int64_t seedOf) {
  auto step = uint64_t(int64_t(count[0])), seed = uint64_t(seedOf);
  return philox({uint32_t(i / 4), uint32_t(uint64_t(i / 4) >> 32),
                 uint32_t(step), uint32_t(step >> 32)},
                uint32_t(seed), uint32_t(seed >> 32));
}

} // namespace

void compute(const DropoutView<Call> &c) {
  DropoutAttrs attrs = c.attrs();
  fill(c.y(), [&](size_t i) {
    Words words = wordsOf(i, c.step(), attrs.seed);
    bool isKept = double(words[i % 4]) >= std::floor(attrs.p * 4294967296.0);
    return isKept ? c.x()[i] / (1 - attrs.p) : 0;
  });
}

void compute(const UniformView<Call> &c) {
  UniformAttrs attrs = c.attrs();
  DType dtype = c.y().desc.dtype;
  double steps = dtype == DType::F64   ? 0x1p32
                 : dtype == DType::F32 ? 0x1p24
                 : dtype == DType::F16 ? 0x1p11
                                       : 0x1p8;
  fill(c.y(), [&](size_t i) {
    double word = wordsOf(i, c.step(), attrs.seed)[i % 4];
    double u = std::floor(word / 0x1p32 * steps) / steps;
    return attrs.low + (attrs.high - attrs.low) * u;
  });
}

void compute(const NormalView<Call> &c) {
  NormalAttrs attrs = c.attrs();
  const double pi = std::acos(-1.0);
  fill(c.y(), [&](size_t i) {
    Words words = wordsOf(i, c.step(), attrs.seed);
    size_t first = i % 4 < 2 ? 0 : 2;
    double radius = std::sqrt(-2 * std::log((words[first] + 0.5) / 0x1p32));
    double angle = 2 * pi * words[first + 1] / 0x1p32;
    return attrs.mean +
           attrs.std * radius * (i % 2 ? std::sin(angle) : std::cos(angle));
  });
}

} // namespace aicf::reference
