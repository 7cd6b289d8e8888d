//===- Kernels.cpp - values that the f64 table does not reach -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/KernelCase.h"

#include "lib/Base/Walk.h"
#include "lib/Ops/KernelTable.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace aicf;
using namespace aicf::test;

namespace {

TEST(Kernels, CastsRoundToNearest) {
  for (const KernelRow &row :
       kernelsFor(makeDevice()->kind(), patterns::Cast)) {
    std::mt19937 random(3);
    Case c;
    c.ins.push_back(makeOperand(TensorDesc(row.in0, {129, 8}), random, false));
    c.outs.push_back(
        makeOperand(TensorDesc(row.out0, {129, 8}), random, false));
    ASSERT_TRUE(call(OpKind::Cast, c, 2, row.kid).ok()) << row.kid;
    for (size_t i = 0; i < 129 * 8; ++i) {
      Operand expected = c.outs[0];
      store(expected, i, c.ins[0].reference.values[i]);
      ASSERT_EQ(load(c.outs[0], i), load(expected, i)) << row.kid << " " << i;
    }
  }
}

/// The view of `shape` whose dimensions lie in a random order, each `gap`
/// elements further apart than it has to.
TensorDesc permuted(DType dtype, const std::vector<int64_t> &shape, int64_t gap,
                    std::mt19937 &random) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<int64_t> strides(shape.size());
  int64_t next = 1;
  for (size_t i : order) {
    strides[i] = next;
    next = next * shape[i] + gap;
  }
  return TensorDesc::strided(dtype, shape, strides);
}

/// Copies a view that begins `first` elements behind an address of the device's
/// allocator.
void expectExactCopy(const TensorDesc &view, int64_t first,
                     std::mt19937 &random) {
  const size_t size = sizeOf(view.dtype);
  const TensorDesc dense(view.dtype, view.shape());
  Case c;
  std::vector<uint8_t> bytes(view.spanBytes() + size_t(first) * size);
  for (uint8_t &byte : bytes)
    byte = uint8_t(random());
  c.ins.push_back({bytes, {view, {}}});
  c.outs.push_back({std::vector<uint8_t>(dense.spanBytes()), {dense, {}}});
  auto device = makeDevice(2);
  OnDevice memory(*device, c);
  char *start = static_cast<char *>(memory.ins[0].start());
  memory.ins[0] = {start + size_t(first) * size, view};
  ASSERT_TRUE(memory.run(OpKind::Copy).ok()) << view.toString();
  memory.fetch();
  const Walk walk(view);
  for (int64_t i = 0; i < dense.elements(); ++i)
    ASSERT_EQ(std::memcmp(&bytes[size_t(first + walk.at(i)) * size],
                          &c.outs[0].bytes[size_t(i) * size], size),
              0)
        << "element " << i << " of " << view.toString() << " from " << first;
}

/// Vectors and single elements, tiles and their edges, addresses that are
/// aligned and that are not.
TEST(Kernels, CopiesOfViewsAreExact) {
  std::mt19937 random(5);
  for (DType dtype : {DType::I1, DType::F16, DType::F32, DType::F64})
    for (const std::vector<int64_t> &shape : {std::vector<int64_t>{64, 128},
                                              {130, 67},
                                              {3, 80, 32},
                                              {2, 16, 5, 48},
                                              {17, 3, 16, 2, 33},
                                              {70, 3, 40},
                                              {16, 31, 16},
                                              {5, 7},
                                              {96, 1, 200}})
      for (int64_t gap : {0, 1, 16})
        for (int64_t first : {0, 0, 3})
          expectExactCopy(permuted(dtype, shape, gap, random), first, random);
}

/// x[order[0]], x[order[1]], ...
TensorDesc transposed(DType dtype, const std::vector<int64_t> &shape,
                      const std::vector<size_t> &order) {
  std::vector<int64_t> strides(shape.size(), 1), dims, ofDims;
  for (size_t d = shape.size() - 1; d-- > 0;)
    strides[d] = strides[d + 1] * shape[d + 1];
  for (size_t from : order) {
    dims.push_back(shape[from]);
    ofDims.push_back(strides[from]);
  }
  return TensorDesc::strided(dtype, dims, ofDims);
}

/// A matrix; rows of heads of attention; their columns, by several outer loops
/// in another order; edges beside whole tiles; channels that come last.
TEST(Kernels, LargeCopiesOfViewsAreExact) {
  std::mt19937 random(6);
  auto expectExact = [&](DType dtype, std::vector<int64_t> shape,
                         std::vector<size_t> order, int64_t first = 0) {
    expectExactCopy(transposed(dtype, shape, order), first, random);
  };
  expectExact(DType::F32, {8192, 1024}, {1, 0});
  expectExact(DType::F32, {64, 16, 96, 64}, {0, 2, 1, 3});
  expectExact(DType::F16, {4, 1024, 40, 64}, {0, 2, 3, 1});
  expectExact(DType::F32, {3, 384, 5, 1001}, {2, 0, 3, 1});
  expectExact(DType::F64, {4, 1040, 1000}, {0, 2, 1}, 3);
  expectExact(DType::I1, {4, 3, 1000, 2000}, {0, 2, 3, 1});
  expectExact(DType::F32, {6, 1000, 1000}, {0, 2, 1});
}

/// Results that are large enough to go past the caches have the bits of those
/// that are computed a part at a time.
TEST(Kernels, LargeResultsHaveTheBitsOfTheirParts) {
  constexpr int64_t kElements = (10 << 20) + 188, kParts = 22;
  static_assert(kElements % kParts == 0);
  auto device = makeDevice(2);
  std::mt19937 random(7);
  Case whole;
  whole.ins.push_back(
      makeOperand(TensorDesc(DType::F32, {kElements}), random, false));
  for (auto [kind, to] : {std::pair(OpKind::Exp, DType::F32),
                          {OpKind::Copy, DType::F32},
                          {OpKind::Cast, DType::F64},
                          {OpKind::Cast, DType::F16}}) {
    whole.outs.assign(1, Operand{});
    whole.outs[0].bytes.resize(size_t(kElements) * sizeOf(to));
    whole.outs[0].reference.desc = TensorDesc(to, {kElements});
    OnDevice memory(*device, whole);
    ASSERT_TRUE(memory.run(kind).ok()) << nameOf(kind);
    memory.fetch();
    const TensorView x = memory.ins[0];
    const TensorView y(
        memory.upload(std::vector<uint8_t>(whole.outs[0].bytes.size())),
        whole.outs[0].reference.desc);
    for (int64_t part = 0; part < kParts; ++part) {
      auto partOf = [&](const TensorView &view) {
        const int64_t first = kElements / kParts * part;
        return TensorView(static_cast<char *>(view.start()) +
                              first * int64_t(sizeOf(view.desc.dtype)),
                          TensorDesc(view.desc.dtype, {kElements / kParts}));
      };
      memory.ins[0] = partOf(x);
      memory.outs[0] = partOf(y);
      Status status = memory.run(kind);
      ASSERT_TRUE(status.ok()) << nameOf(kind) << ": " << status.toString();
    }
    EXPECT_TRUE(memory.download(y) == whole.outs[0].bytes)
        << nameOf(kind) << " to " << nameOf(to);
  }
}

/// The slope of the tanh is infinite where tanh' is 0. Without tanh infinity
/// times a density of 0 is NaN, as the record says.
TEST(Kernels, GeluBwdOfLargeNumbers) {
  const double large[] = {1e20, -1e20, INFINITY, -INFINITY};
  for (const char *name : {"gelu_bwd tanh", "gelu_bwd erf"}) {
    const KindRow &kind = sampleCallRow(name);
    Case c = makeCase(kind, makeSample(kind, 1, 4, DType::F32), 1);
    bool approximate = std::string_view(name) == "gelu_bwd tanh";
    std::vector<reference::Tensor> ins, outs = {c.outs[0].reference};
    for (Operand &o : c.ins) {
      for (size_t i = 0; i < 4; ++i) {
        store(o, i, &o == &c.ins[0] ? 1 : large[i]);
        o.reference.values[i] = load(o, i);
      }
      ins.push_back(o.reference);
    }
    ASSERT_TRUE(call(kind.kind, c, 1).ok());
    reference::run(kind.kind, ins, outs, c.attrs);
    for (size_t i = 0; i < 4; ++i) {
      double expected = !approximate && i > 1 ? NAN : i % 2 == 0 ? 1 : 0;
      for (double actual : {load(c.outs[0], i), outs[0].values[i]})
        EXPECT_TRUE(actual == expected ||
                    (std::isnan(actual) && std::isnan(expected)))
            << name << " of " << large[i] << " is " << actual;
    }
  }
}

} // namespace
