//===- Kernels.cpp - reductions in all the ways kernels go over them ------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/KernelCase.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace aicf;
using namespace aicf::test;

namespace {

/// What is reduced is the middle one.
struct Shape {
  int64_t outer, size, inner;
  int64_t results() const { return outer * inner; }
};

/// Small whole numbers: sums are exact in any order, and many are equal. Of an
/// extremum, result 0 has nothing but the worst number, result 1 two NaNs.
Operand makeNumbers(DType dtype, const Shape &s, OpKind kind,
                    std::mt19937 &random) {
  const TensorDesc desc(dtype, {s.outer, s.size, s.inner});
  Operand x{std::vector<uint8_t>(desc.spanBytes()), {desc, {}}};
  bool isExtremum = kind == OpKind::ReduceMax || kind == OpKind::ReduceMin;
  for (int64_t i = 0; i < desc.elements(); ++i) {
    int64_t at = i / (s.size * s.inner) * s.inner + i % s.inner;
    int64_t k = i / s.inner % s.size;
    double value = double(random() % 9) - 4;
    if (isExtremum && at == 0)
      value = kind == OpKind::ReduceMax ? -INFINITY : INFINITY;
    if (isExtremum && at == 1 && (k == s.size / 2 || k == s.size - 1))
      value = NAN;
    store(x, size_t(i), value);
  }
  return x;
}

/// The result of `kind`, and the index of an extremum.
std::pair<double, int64_t> reduced(OpKind kind, const Operand &x,
                                   const Shape &s, int64_t at) {
  double sum = 0, best = NAN;
  int64_t index = -1;
  for (int64_t k = 0; k < s.size; ++k) {
    double value =
        load(x, size_t((at / s.inner * s.size + k) * s.inner + at % s.inner));
    sum += value;
    bool isBetter = kind == OpKind::ReduceMax ? value > best : value < best;
    if (index < 0 || isBetter || (std::isnan(value) && !std::isnan(best))) {
      best = value;
      index = k;
    }
  }
  if (kind == OpKind::ReduceSum || kind == OpKind::ReduceMean)
    return {kind == OpKind::ReduceSum ? sum : sum / double(s.size), 0};
  return {best, index};
}

/// x begins `first` elements behind an address of the device's allocator.
void expectExact(OpKind kind, DType dtype, const Shape &s, int64_t first) {
  std::mt19937 random(7);
  const size_t size = sizeOf(dtype);
  Operand x = makeNumbers(dtype, s, kind, random);
  Case c;
  c.attrs = encodeAttrs(ReduceSumAttrs{1}); // they all have this one
  c.ins.push_back(x);
  c.ins[0].bytes.insert(c.ins[0].bytes.begin(), size_t(first) * size, 0xff);
  std::vector<DType> types = {dtype};
  if (kind == OpKind::ReduceMax || kind == OpKind::ReduceMin)
    types.push_back(DType::I32);
  for (DType type : types) {
    TensorDesc desc(type, {s.outer, s.inner});
    c.outs.push_back({std::vector<uint8_t>(desc.spanBytes()), {desc, {}}});
  }
  auto device = makeDevice(2);
  OnDevice memory(*device, c);
  memory.ins[0] = {static_cast<char *>(memory.ins[0].start()) +
                       size_t(first) * size,
                   x.reference.desc};
  Status status = memory.run(kind);
  ASSERT_TRUE(status.ok()) << status.toString();
  memory.fetch();
  for (int64_t at = 0; at < s.results(); ++at) {
    auto [value, index] = reduced(kind, x, s, at);
    Operand expected = c.outs[0];
    store(expected, size_t(at), value);
    double wanted = load(expected, size_t(at)),
           got = load(c.outs[0], size_t(at));
    ASSERT_TRUE(std::isnan(wanted) ? std::isnan(got) : got == wanted)
        << at << ": " << got << ", expected " << wanted;
    if (c.outs.size() > 1) {
      ASSERT_EQ(load(c.outs[1], size_t(at)), double(index)) << at;
    }
  }
}

TEST(Kernels, ReductionsOfAnyShapeAreExact) {
  const Shape shapes[] = {{3, 40, 1},     {700, 64, 1},  {33, 1000, 1},
                          {14, 3000, 1},  {2, 40001, 1}, {1, 65536, 1},
                          {1, 2500, 64},  {1, 3000, 24}, {3, 70001, 1},
                          {70, 66000, 1}, {1100, 8, 24}, {1100, 5, 7},
                          {2, 64, 600},   {1, 16, 5000}, {1, 128, 777},
                          {5, 3, 2},      {1, 2, 1},     {1, 20000, 3}};
  for (OpKind kind : {OpKind::ReduceSum, OpKind::ReduceMean, OpKind::ReduceMax,
                      OpKind::ReduceMin})
    for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16})
      for (const Shape &s : shapes)
        for (int64_t first : {0, 1}) {
          // A mean is exact where it is a sum over a power of two.
          if (kind == OpKind::ReduceMean && (s.size & (s.size - 1)))
            continue;
          SCOPED_TRACE(
              std::string(infoOf(kind).name) + " of " +
              TensorDesc(dtype, {s.outer, s.size, s.inner}).toString() +
              " from " + std::to_string(first));
          expectExact(kind, dtype, s, first);
          if (testing::Test::HasFatalFailure())
            return;
        }
}

/// The bytes of the sums of `values`, which lie so, over dimension `axis` of
/// two.
std::vector<uint8_t> sumsOf(const TensorDesc &view,
                            const std::vector<double> &values, int64_t axis) {
  Case c;
  c.attrs = encodeAttrs(ReduceSumAttrs{axis});
  Operand x{std::vector<uint8_t>(view.spanBytes()), {view, {}}};
  for (int64_t r = 0; r < view.dims[0]; ++r)
    for (int64_t i = 0; i < view.dims[1]; ++i)
      std::memcpy(&x.bytes[size_t(r * view.stride(0) + i * view.stride(1)) * 8],
                  &values[size_t(r * view.dims[1] + i)], 8);
  c.ins.push_back(x);
  const TensorDesc sums(DType::F64, {view.dims[1 - axis]});
  c.outs.push_back({std::vector<uint8_t>(sums.spanBytes()), {sums, {}}});
  auto device = makeDevice(2);
  OnDevice memory(*device, c);
  Status status = memory.run(OpKind::ReduceSum);
  EXPECT_TRUE(status.ok()) << status.toString();
  memory.fetch();
  return c.outs[0].bytes;
}

/// Sums of random numbers that lie together, and of the same where rows or
/// columns are apart: a copy that is left out in front of a sum changes no bit.
/// In f64: of f32, the last rounding would hide the order.
void expectSameSums(int64_t rows, int64_t columns, int64_t axis,
                    std::mt19937 &random) {
  std::vector<double> values(size_t(rows * columns));
  for (double &value : values)
    value = std::normal_distribution<double>()(random);
  const std::vector<uint8_t> dense =
      sumsOf(TensorDesc(DType::F64, {rows, columns}), values, axis);
  for (auto [down, right] : {std::pair<int64_t, int64_t>(columns + 3, 1),
                             std::pair<int64_t, int64_t>(1, rows + 1)})
    EXPECT_EQ(
        sumsOf(TensorDesc::strided(DType::F64, {rows, columns}, {down, right}),
               values, axis),
        dense)
        << rows << " x " << columns << ", axis " << axis << ", " << right
        << " apart";
}
TEST(Kernels, SumsDoNotDependOnWhereTheyLie) {
  if (makeDevice(2)->kind() != DeviceKind::CPU)
    GTEST_SKIP() << "the order of a card's sums is that of its threads";
  std::mt19937 random(11);
  for (int64_t count : {1, 3, 70})
    for (int64_t size : {5, 63, 64, 100, 1000, 8192, 65535, 65536, 70001})
      expectSameSums(count, size, 1, random);
  for (int64_t count : {2, 70, 513, 3000})
    for (int64_t size : {5, 127, 128, 1000, 2111})
      expectSameSums(size, count, 0, random);
}

/// dy masked by saved > 0 and the sums of its columns, of so many narrow rows
/// that version 1 runs on a card.
void expectExactMaskedSums(DType dtype, int64_t width, int64_t first) {
  const auto &rows = allCallRows();
  auto row = std::find_if(rows.begin(), rows.end(), [](const KindRow &r) {
    return r.name == "relu_bwd_reduce 0";
  });
  ASSERT_TRUE(row != rows.end());
  const int64_t height = (int64_t(1) << 21) / width + 7;
  Case c = makeCase(*row, makeSample(*row, height, width, dtype), 1);
  auto device = makeDevice(2);
  std::mt19937 random(7);
  std::vector<double> sums(size_t(width), 0.0), masked;
  for (int64_t i = 0; i < height * width; ++i) {
    const double dy = double(random() % 5) - 2, saved = double(random() % 2);
    store(c.ins[0], size_t(i), dy);
    store(c.ins[1], size_t(i), saved);
    masked.push_back(saved > 0 ? dy : 0);
    sums[size_t(i % width)] += masked.back();
  }
  const size_t offset = size_t(first) * sizeOf(dtype);
  const TensorDesc desc = c.ins[0].reference.desc;
  c.ins[0].bytes.insert(c.ins[0].bytes.begin(), offset, 0xff);
  OnDevice memory(*device, c);
  memory.ins[0] = {static_cast<char *>(memory.ins[0].start()) + offset, desc};
  Status status = memory.run(row->kind);
  ASSERT_TRUE(status.ok()) << status.toString();
  memory.fetch();
  for (auto [out, values] :
       {std::pair(&c.outs[0], &masked), {&c.outs[1], &sums}}) {
    Operand expected = *out;
    for (size_t i = 0; i < values->size(); ++i)
      store(expected, i, (*values)[i]);
    ASSERT_EQ(out->bytes, expected.bytes);
  }
}

TEST(Kernels, SumsOfManyNarrowMaskedRowsAreExact) {
  if (makeDevice()->kind() == DeviceKind::CPU)
    GTEST_SKIP() << "no kernel on this device";
  for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16})
    for (int64_t width : {3, 24, 32, 64, 100, 128, 300, 511})
      for (int64_t first : {0, 1}) {
        SCOPED_TRACE(std::to_string(width) + " of " +
                     std::string(nameOf(dtype)) + " from " +
                     std::to_string(first));
        expectExactMaskedSums(dtype, width, first);
        if (testing::Test::HasFatalFailure())
          return;
      }
}

} // namespace
