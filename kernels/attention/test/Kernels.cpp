//===- Kernels.cpp - values that the f64 table does not reach -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/KernelCase.h"

#include "kernels/attention/Tiles.h"

#include <cmath>
#include <random>

using namespace aicf;
using namespace aicf::test;

namespace {

constexpr double kNone = -INFINITY;

/// Attention of one batch and head: rows of q, k, v, all of `size` elements.
Case attentionOf(const std::vector<double> &q, const std::vector<double> &k,
                 const std::vector<double> &v, int64_t size, AttentionAttrs attrs) {
  const auto rows = [size](const std::vector<double> &x) {
    return int64_t(x.size()) / size;
  };
  auto heads = [&](const std::vector<double> &x) {
    return operandOf(DType::F32, {1, rows(x), 1, size}, x);
  };
  Case c;
  c.attrs = encodeAttrs(attrs);
  const Operand absent{{}, {TensorDesc::absent(), {}}};
  c.ins = {heads(q), heads(k), heads(v), absent, absent, absent};
  c.outs = {operandOf(DType::F32, {1, rows(q), 1, size},
                      std::vector<double>(q.size(), 9)),
            operandOf(DType::F32, {1, 1, rows(q)},
                      std::vector<double>(size_t(rows(q)), 9))};
  return c;
}

/// One query with equal scores for all keys sees the mean of their values; the window
/// says which these are.
TEST(Attention, WindowsAreWhatTheirFieldsSay) {
  const std::vector<double> zeros(4, 0), values = {1, 2, 4, 8};
  auto seen = [&](int64_t left, int64_t right, int64_t offset) {
    return resultOf(OpKind::Attention,
                    attentionOf(zeros, zeros, values, 1,
                                {1, 0, left, right, offset, 0, 0}));
  };
  EXPECT_EQ(seen(-1, -1, 0), (std::vector<double>{3.75, 3.75, 3.75, 3.75}));
  EXPECT_EQ(seen(2, -1, -1), (std::vector<double>{3.75, 3.75, 3.75, 3.75}));
  EXPECT_EQ(seen(-1, 0, -1), (std::vector<double>{0, 1, 1.5, double(7 * (1 / 3.0f))}));
  EXPECT_EQ(seen(0, 0, 0), values);
  EXPECT_EQ(seen(1, 0, 0), (std::vector<double>{1, 1.5, 3, 6}));
  EXPECT_EQ(seen(0, 1, 0), (std::vector<double>{1.5, 3, 6, 8}));
  // Queries that see nothing give 0.
  EXPECT_EQ(seen(0, 0, 2), (std::vector<double>{4, 8, 0, 0}));
  EXPECT_EQ(seen(0, 0, -2), (std::vector<double>{0, 0, 1, 2}));
}

/// The same where blocks of keys and queries see nothing of each other.
TEST(Attention, FarWindowsAreWhatTheirFieldsSay) {
  const int64_t length = 600;
  std::vector<double> zeros(size_t(length), 0), values(zeros);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = double(i);
  const auto y = resultOf(OpKind::Attention,
                          attentionOf(zeros, zeros, values, 1,
                                      {1, 0, 1, 1, 300, 0, 0}));
  for (int64_t i = 0; i < length; ++i) {
    const double expected = i < 299   ? double(i + 300)
                            : i == 299 ? 598.5
                            : i == 300 ? 599
                                       : 0;
    EXPECT_FLOAT_EQ(float(y[size_t(i)]), float(expected)) << i;
  }
}

/// Where nothing is seen, results and gradients are 0, and neither NaN nor what was
/// there before.
TEST(Attention, RowsThatSeeNothingAreZeros) {
  Case c = attentionOf({1, 2}, {3, 4}, {5, 6}, 1, {1, 0, -1, -1, 0, 0, 0});
  c.ins[3] = operandOf(DType::F32, {1, 1, 2, 2}, {kNone, kNone, 0, kNone});
  EXPECT_EQ(resultOf(OpKind::Attention, c), (std::vector<double>{0, 5}));
  Case bwd;
  bwd.attrs = c.attrs;
  bwd.ins = {c.ins[0], c.ins[0], c.ins[1], c.ins[2],
             operandOf(DType::F32, {1, 2, 1, 1}, {0, 5}),
             operandOf(DType::F32, {1, 1, 2}, {kNone, 6}),
             c.ins[3], c.ins[4], c.ins[5]};
  for (int i = 0; i < 3; ++i)
    bwd.outs.push_back(operandOf(DType::F32, {1, 2, 1, 1}, {9, 9}));
  ASSERT_TRUE(call(OpKind::AttentionBwd, bwd, 1).ok());
  EXPECT_EQ(load(bwd.outs[0], 0), 0); // dq of the row
  EXPECT_EQ(load(bwd.outs[1], 1), 0); // dk and dv of a key that nobody sees
  EXPECT_EQ(load(bwd.outs[2], 1), 0);
  EXPECT_EQ(load(bwd.outs[2], 0), 2); // the other row's dy
}

/// NaN in a score makes its row NaN, and no other.
TEST(Attention, NaNStaysInItsRow) {
  Case c = attentionOf({NAN, 1}, {1, 2}, {3, 4}, 1, {1, 0, -1, -1, 0, 0, 0});
  const auto y = resultOf(OpKind::Attention, c);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_TRUE(std::isfinite(y[1]));
}

/// Scores far beyond what exp() takes.
TEST(Attention, LargeScoresDoNotOverflow) {
  Case c = attentionOf({1e4, -1e4}, {1, 2, 3}, {3, 4, 5}, 1, {1, 0, -1, -1, 0, 0, 0});
  EXPECT_EQ(resultOf(OpKind::Attention, c), (std::vector<double>{5, 3}));
}

/// Tiles of every instruction set have the same bits, also at their edges.
TEST(Attention, TilesHaveTheSameBitsOnEverySet) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 16, 1}, {7, 48, 5}, {16, 32, 33},
                         {29, 80, 64}}) {
    for (bool transposed : {false, true}) {
      std::vector<float> a(size_t(m * k)), b(size_t(k * n)), start(size_t(m * n));
      for (auto *x : {&a, &b, &start})
        for (float &number : *x)
          number = normal(random);
      std::vector<std::vector<float>> all;
      for (auto set : {cpu::InstructionSet::Baseline, cpu::InstructionSet::AVX2,
                       cpu::InstructionSet::AVX512}) {
        if (set > cpu::instructionSetOfMachine())
          continue;
        std::vector<float> c = start;
        cpu::multiply(set, cpu::SmallProduct<float>{m, n, k, a.data(),
                                                    transposed ? 1 : k,
                                                    transposed ? m : 1, b.data(), n,
                                                    c.data(), n, true});
        all.push_back(c);
      }
      for (const auto &c : all)
        EXPECT_EQ(c, all.front()) << m << " x " << n << " x " << k;
      float sum = start[0];
      for (int64_t i = 0; i < k; ++i)
        sum = std::fma(a[size_t(i * (transposed ? m : 1))], b[size_t(i * n)], sum);
      EXPECT_EQ(all.front()[0], sum);
    }
  }
}

} // namespace
