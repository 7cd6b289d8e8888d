//===- Initializers.cpp - first values of persistent tensors --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/IO/Initializers.h"
#include "lib/Base/Element.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace aicf {
namespace {

struct Philox {
  uint32_t key[2];

  /// Four random words of block `block`.
  void generate(uint64_t block, uint32_t out[4]) const {
    uint32_t c[4] = {uint32_t(block), uint32_t(block >> 32), 0, 0};
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      uint64_t a = uint64_t(0xD2511F53) * c[0], b = uint64_t(0xCD9E8D57) * c[2];
      uint32_t next[4] = {uint32_t(b >> 32) ^ c[1] ^ k0, uint32_t(b),
                          uint32_t(a >> 32) ^ c[3] ^ k1, uint32_t(a)};
      std::memcpy(c, next, sizeof(c));
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    std::memcpy(out, c, sizeof(c));
  }
};

/// In (0, 1).
double toUnit(uint32_t word) { return (double(word) + 0.5) * 0x1p-32; }

} // namespace

std::vector<uint8_t> initialValue(const TensorInfo &tensor, uint64_t seed) {
  std::vector<uint8_t> bytes(tensor.desc.spanBytes());
  const size_t size = sizeOf(tensor.desc.dtype);
  const size_t n = bytes.size() / size;
  auto put = [&](size_t i, double value) {
    storeElement(tensor.desc.dtype, bytes.data() + i * size, value);
  };
  auto fill = [&](double value) {
    for (size_t i = 0; i < n; ++i)
      put(i, value);
  };
  uint64_t hash =
      XXH3_64bits_withSeed(tensor.name.data(), tensor.name.size(), seed);
  Philox philox{{uint32_t(hash), uint32_t(hash >> 32)}};
  // valueOf(words, i) for `each` values of every block of random words.
  auto draw = [&](size_t each, auto valueOf) {
    uint32_t words[4];
    for (size_t begin = 0; begin < n; begin += each) {
      philox.generate(begin / each, words);
      for (size_t i = 0; i < std::min(each, n - begin); ++i)
        put(begin + i, valueOf(words, i));
    }
  };
  switch (tensor.init) {
  case InitKind::None:
  case InitKind::Zeros:
    break;
  case InitKind::Ones:
    fill(1);
    break;
  case InitKind::Constant:
    fill(tensor.initValue);
    break;
  case InitKind::UniformFanIn: {
    int64_t fanIn = tensor.desc.elements() / tensor.desc.dims[0];
    double bound = 1 / std::sqrt(double(fanIn));
    draw(4, [&](const uint32_t *words, size_t i) {
      return (2 * toUnit(words[i]) - 1) * bound;
    });
    break;
  }
  case InitKind::Normal:
    draw(2, [&](const uint32_t *words, size_t i) {
      double radius = std::sqrt(-2 * std::log(toUnit(words[0])));
      double angle = 2 * M_PI * toUnit(words[1]);
      return tensor.initValue * radius *
             (i == 0 ? std::cos(angle) : std::sin(angle));
    });
    break;
  }
  return bytes;
}

} // namespace aicf
