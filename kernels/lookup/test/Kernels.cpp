//===- Kernels.cpp - indices that are out of range, sums in order ---------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/lookup/Family.h"
#include "unittests/Kernels/KernelCase.h"

#include <cmath>

using namespace aicf;
using namespace aicf::test;

namespace {

TEST(Kernels, IndicesOutOfRangeAreDefined) {
  for (DType dtype : {DType::I32, DType::I64}) {
    Case pick;
    pick.ins = {operandOf(DType::F32, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                operandOf(dtype, {4}, {1, -1, 2, 0})};
    pick.outs = {operandOf(DType::F32, {4}, {9, 9, 9, 9})};
    std::vector<double> y = resultOf(OpKind::Pick, pick);
    EXPECT_EQ(y[0], 2);
    EXPECT_TRUE(std::isnan(y[1]) && std::isnan(y[2]));
    EXPECT_EQ(y[3], 7);

    Case embedding;
    embedding.ins = {operandOf(DType::F32, {2, 2}, {1, 2, 3, 4}),
                     operandOf(dtype, {3}, {-1, 2, 1})};
    embedding.outs = {operandOf(DType::F32, {3, 2}, {9, 9, 9, 9, 9, 9})};
    y = resultOf(OpKind::Embedding, embedding);
    for (size_t i = 0; i < 4; ++i)
      EXPECT_TRUE(std::isnan(y[i])) << i;
    EXPECT_EQ(y[4], 3);

    Case bwd;
    bwd.ins = {operandOf(DType::F32, {5, 1}, {1, 2, 4, 8, 16}),
               operandOf(dtype, {5}, {1, -1, 3, 1, 0})};
    bwd.outs = {operandOf(DType::F32, {3, 1}, {9, 9, 9})};
    bwd.attrs = encodeAttrs(EmbeddingBwdAttrs{3, 0});
    EXPECT_EQ(resultOf(OpKind::EmbeddingBwd, bwd),
              (std::vector<double>{0, 9, 0}));
  }
}

/// Positions of many, few and no rows; with and without room for their list.
TEST(Kernels, EmbeddingGradientsAddInOrder) {
  constexpr int64_t kCount = 5000, kRows = 3001, kWidth = 12;
  std::mt19937 random(5);
  std::vector<double> index(kCount), dy(kCount * kWidth);
  for (double &i : index)
    i = random() % 3 == 0 ? 7 : double(random() % kRows);
  for (double &d : dy)
    d = double(int(random() % 2001) - 1000) * 1e-3;
  std::vector<float> expected(size_t(kRows * kWidth), 0.0f);
  for (size_t i = 0; i < index.size(); ++i)
    for (size_t j = 0; j < size_t(kWidth); ++j)
      expected[size_t(index[i]) * kWidth + j] += float(dy[i * kWidth + j]);
  for (bool hasRoom : {true, false}) {
    Case c;
    c.ins = {operandOf(DType::F32, {kCount, kWidth}, dy),
             operandOf(DType::I64, {kCount}, index)};
    c.outs = {operandOf(DType::F32, {kRows, kWidth},
                        std::vector<double>(size_t(kRows * kWidth), 9))};
    c.attrs = encodeAttrs(EmbeddingBwdAttrs{kRows, -1});
    auto device = makeDevice(2);
    OnDevice memory(*device, c);
    std::optional<TensorView> workspace;
    if (!hasRoom)
      workspace = TensorView();
    ASSERT_TRUE(memory.run(OpKind::EmbeddingBwd, "auto", workspace).ok());
    memory.fetch();
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(float(load(c.outs[0], i)), expected[i]) << i;
  }
}

/// One call over tables of many sizes has the bits of a call for each table.
void checkTables(OpKind kind, bool hasRoom) {
  const bool isGradient = kind == OpKind::EmbeddingBwd;
  std::mt19937 random(7);
  Case all;
  Body body;
  std::vector<Case> apart;
  // Few and many rows, positions of few rows, one vector or many or none.
  for (auto [rows, width, count] : {std::tuple(3, 4, 5000),
                                    {4001, 32, 700},
                                    {1, 1, 1},
                                    {900, 6, 64},
                                    {20000, 8, 9},
                                    {50, 132, 3000}}) {
    std::vector<double> index, values;
    for (int64_t i = 0; i < count; ++i)
      index.push_back(double(int64_t(random() % size_t(rows + 1)) - 1));
    for (int64_t i = 0; i < (isGradient ? count : rows) * width; ++i)
      values.push_back(double(int(random() % 2001) - 1000) * 1e-3);
    Case one;
    one.ins = {
        operandOf(DType::F32, {isGradient ? count : rows, width}, values),
        operandOf(random() % 2 ? DType::I64 : DType::I32, {count}, index)};
    const int64_t made = isGradient ? rows : count;
    one.outs = {operandOf(DType::F32, {made, width},
                          std::vector<double>(size_t(made * width), 9))};
    if (isGradient)
      one.attrs = encodeAttrs(EmbeddingBwdAttrs{rows, rows > 5 ? 2 : -1});
    const auto first = int32_t(all.ins.size());
    body.primitives.push_back({kind, one.attrs, {first, first + 1}});
    all.ins.insert(all.ins.end(), one.ins.begin(), one.ins.end());
    all.outs.insert(all.outs.end(), one.outs.begin(), one.outs.end());
    apart.push_back(one);
  }
  body.numOperands = uint32_t(all.ins.size());
  for (uint32_t i = 0; i < all.outs.size(); ++i)
    body.results.push_back(body.numOperands + i);
  all.body = std::make_shared<Body>(body);
  auto device = makeDevice(2);
  OnDevice memory(*device, all);
  std::optional<TensorView> workspace;
  if (!hasRoom)
    workspace = TensorView();
  Status status = memory.run(kind, "auto", workspace);
  if (device->kind() == DeviceKind::CPU) {
    EXPECT_EQ(status.code(), StatusCode::NotImplemented) << status.toString();
    GTEST_SKIP() << "the CPU takes one table after the other";
  }
  ASSERT_TRUE(status.ok()) << status.toString();
  memory.fetch();
  for (size_t t = 0; t < apart.size(); ++t) {
    ASSERT_TRUE(call(kind, apart[t], 1).ok());
    EXPECT_EQ(all.outs[t].bytes, apart[t].outs[0].bytes) << "table " << t;
  }
}

/// What a launch has room for is what a call may have.
TEST(Kernels, LaunchesHaveRoomForAllTables) {
  for (PatternId pattern : {patterns::Embeddings, patterns::EmbeddingsBwd})
    EXPECT_EQ(patternOf(pattern)->batch->maxGroups,
              size_t(families::kMostTables));
}

TEST(Kernels, TablesOfManySizesInOneCall) {
  checkTables(OpKind::Embedding, true);
}
TEST(Kernels, GradientsOfTablesInOneCall) {
  checkTables(OpKind::EmbeddingBwd, true);
}
TEST(Kernels, GradientsOfTablesWithoutRoom) {
  checkTables(OpKind::EmbeddingBwd, false);
}

} // namespace
