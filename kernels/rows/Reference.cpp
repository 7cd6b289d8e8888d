//===- Reference.cpp - movers of rows, plainly ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

#include <algorithm>

namespace aicf::reference {
namespace {

/// The permutation of 0..size-1 that shuffle walks in one epoch, from its
/// description: a 6-round Feistel network over the least 4^h >= size (h >= 1),
/// applied until the result is below size.
class Permutation {
public:
  Permutation(uint64_t size, uint64_t seed, uint64_t epoch) : size(size) {
    while (width < 16 && domain() < size)
      ++width;
    uint64_t key = seed ^ (epoch * 0x9e3779b97f4a7c15);
    key *= 0xbf58476d1ce4e5b9;
    key ^= key >> 31;
    keys[0] = uint32_t(key);
    keys[1] = uint32_t(key >> 32);
  }
  uint64_t operator()(uint64_t i) const {
    uint64_t y = network(i);
    return y < size ? y : (*this)(y);
  }

private:
  uint64_t domain() const { return uint64_t(1) << (2 * width); }
  uint64_t network(uint64_t x) const {
    uint64_t half = uint64_t(1) << width;
    uint64_t left = x / half, right = x % half;
    for (uint32_t round = 0; round < 6; ++round) {
      uint32_t input =
          uint32_t(right) ^ keys[round % 2] ^ (round * 0x9e3779b9u);
      uint64_t product = uint64_t(input) * 0xd2511f53;
      uint64_t mixed = (product >> 32) ^ (product & 0xffffffff);
      uint64_t f = (mixed ^ (mixed / half)) % half;
      uint64_t next = left ^ f;
      left = right;
      right = next;
    }
    return left * half + right;
  }

  uint64_t size;
  uint32_t width = 1, keys[2];
};

size_t countOf(double step) { return size_t(std::max(step, 0.0)); }

} // namespace

void compute(const GatherRowsView<Call> &c) {
  int64_t last = c.data().dim(0) - 1;
  size_t width = c.data().size() / size_t(last + 1);
  for (size_t i = 0; i < c.index().size(); ++i) {
    double index = c.index()[i]; // NaN where nothing was written: row 0
    auto row = size_t(index > 0 ? std::min(index, double(last)) : 0);
    for (size_t j = 0; j < width; ++j)
      c.rows()[i * width + j] = c.data()[row * width + j];
  }
}

void compute(const ShuffleView<Call> &c) {
  ShuffleAttrs attrs = c.attrs();
  auto size = uint64_t(attrs.size);
  uint64_t first = countOf(c.step()[0]) * c.index().size();
  fill(c.index(), [&](size_t i) {
    uint64_t position = first + i;
    return double(Permutation(size, uint64_t(attrs.seed),
                              position / size)(position % size));
  });
}

void compute(const RecordView<Call> &c) {
  c.history_out().values = c.history().values;
  size_t width = c.value().size();
  size_t row = countOf(c.step()[0]) % size_t(c.history().dim(0));
  for (size_t j = 0; j < width; ++j)
    c.history_out()[row * width + j] = c.value()[j];
}

} // namespace aicf::reference
