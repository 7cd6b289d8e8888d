//===- TileTest.cpp - squares that are turned, stores past the caches -----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/pointwise/CopyViewCpu.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

using namespace aicf;
using namespace aicf::cpu;

namespace {

std::vector<InstructionSet> setsOfMachine() {
  std::vector<InstructionSet> sets;
  for (InstructionSet set : {InstructionSet::Baseline, InstructionSet::AVX2,
                             InstructionSet::AVX512})
    if (set <= instructionSetOfMachine())
      sets.push_back(set);
  return sets;
}

/// Turns across x down elements in the middle of other memory, by `set`.
template <typename T>
void expectTurned(InstructionSet set, int64_t across, int64_t down,
                  bool streams, std::mt19937 &random) {
  constexpr int64_t side = kLineBytes / sizeof(T);
  const int64_t xPitch = across + int64_t(random() % 9),
                yPitch = streams ? 2 * side : down + int64_t(random() % 9);
  std::vector<T> x(size_t(xPitch * down));
  for (T &element : x)
    element = T(random());
  // Lines begin where the second one of this memory does.
  std::vector<T> memory(size_t(yPitch * across + 3 * side), T(77));
  const auto past = int64_t(reinterpret_cast<uintptr_t>(memory.data()) %
                            kLineBytes / sizeof(T));
  T *y = memory.data() + (2 * side - past);
  runWith(
      set,
      [&](int64_t, int64_t, auto compiled) {
        EXPECT_EQ(compiled.value, set);
        transposeTile<decltype(compiled)::value>(x.data(), xPitch, y, yPitch,
                                                 across, down, streams);
        endStreaming();
      },
      0, 1);
  std::vector<T> expected(memory.size(), T(77));
  for (int64_t a = 0; a < across; ++a)
    for (int64_t d = 0; d < down; ++d)
      expected[size_t(y - memory.data() + a * yPitch + d)] =
          x[size_t(d * xPitch + a)];
  ASSERT_EQ(memory, expected) << "set " << int(set) << ", " << sizeof(T)
                              << " bytes, " << across << " x " << down;
}
template <typename T> void expectTurned() {
  constexpr auto side = int64_t(kLineBytes / sizeof(T));
  std::mt19937 random(3);
  for (InstructionSet set : setsOfMachine()) {
    for (bool streams : {false, true})
      expectTurned<T>(set, side, side, streams, random);
    for (int64_t across = 1; across <= side; ++across)
      for (int64_t down : {int64_t(1), side / 4, side / 2 + 1, side - 1, side})
        expectTurned<T>(set, across, down, false, random);
  }
}

TEST(Tile, IsTurnedByEveryInstructionSet) {
  expectTurned<uint8_t>();
  expectTurned<uint16_t>();
  expectTurned<uint32_t>();
  expectTurned<uint64_t>();
}

TEST(Stream, WritesWhatItShouldAndNoMore) {
  std::mt19937 random(4);
  std::vector<char> from(512);
  for (char &byte : from)
    byte = char(random());
  for (int64_t offset : {0, 1, 31, 63})
    for (int64_t bytes = 0; bytes <= 300; bytes += 1 + bytes / 8) {
      std::vector<char> to(512, 'x'), expected = to;
      std::memcpy(expected.data() + offset, from.data() + 5, size_t(bytes));
      streamBytes(to.data() + offset, from.data() + 5, bytes);
      endStreaming();
      ASSERT_EQ(to, expected) << bytes << " at " << offset;
    }
}

/// A result over an operand is in a cache already.
TEST(Stream, IsOfLargeResultsOverNoOperand) {
  const TensorDesc large(DType::F32, {kStreamedBytes / 4}),
      small(DType::F32, {kStreamedBytes / 4 - 1});
  char *const memory = reinterpret_cast<char *>(uintptr_t(1) << 40);
  const TensorView y(memory, large);
  const TensorView behind(memory + kStreamedBytes, large),
      touching(memory + kStreamedBytes - 4, small);
  EXPECT_TRUE(goesPastCaches(y, {}));
  EXPECT_FALSE(goesPastCaches(TensorView(memory, small), {}));
  EXPECT_TRUE(goesPastCaches(y, {&behind}));
  EXPECT_FALSE(goesPastCaches(y, {&touching}));
  EXPECT_FALSE(goesPastCaches(y, {&behind, &y}));
  const std::vector<int64_t> dims = {2, kStreamedBytes},
                             strides = {2 * kStreamedBytes, 1};
  EXPECT_FALSE(goesPastCaches(
      TensorView(memory, TensorDesc::strided(DType::F32, dims, strides)), {}));
}

} // namespace
