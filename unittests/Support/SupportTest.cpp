//===- SupportTest.cpp - order, overlap, kernel table ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Support/HalfFloat.h"
#include "aicf/Support/HappensBefore.h"
#include "aicf/Support/KernelTable.h"
#include "aicf/Support/OpRules.h"
#include "aicf/Support/Overlap.h"
#include "aicf/Support/Shuffle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

using namespace aicf;

namespace {

/// Calls on random streams; events go from a call to a later one. The last call
/// joins every stream.
struct RandomOrder {
  std::vector<std::vector<int64_t>> waits, signals;
  std::vector<CallOrder> calls;

  RandomOrder(std::mt19937 &random, uint32_t numCalls, uint32_t numStreams) {
    waits.resize(numCalls);
    signals.resize(numCalls);
    std::vector<uint32_t> streams(numCalls, 0);
    std::vector<int64_t> last(numStreams, -1);
    int64_t event = 0;
    auto connect = [&](uint32_t from, uint32_t to) {
      signals[from].push_back(event);
      waits[to].push_back(event++);
    };
    for (uint32_t i = 0; i + 1 < numCalls; ++i) {
      streams[i] = random() % numStreams;
      last[streams[i]] = i;
      if (i > 0 && random() % 3 == 0)
        connect(random() % i, i);
    }
    for (uint32_t s = 1; s < numStreams; ++s)
      if (last[s] >= 0)
        connect(uint32_t(last[s]), numCalls - 1);
    for (uint32_t i = 0; i < numCalls; ++i)
      calls.push_back({streams[i], waits[i], signals[i]});
  }

  /// Reachability by brute force.
  std::vector<std::vector<bool>> closure() const {
    size_t n = calls.size();
    std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
    for (size_t a = 0; a < n; ++a)
      for (size_t b = a + 1; b < n; ++b) {
        before[a][b] = calls[a].stream == calls[b].stream;
        for (int64_t s : calls[a].signals)
          for (int64_t w : calls[b].waits)
            if (s == w)
              before[a][b] = true;
      }
    for (size_t k = 0; k < n; ++k)
      for (size_t a = 0; a < n; ++a)
        for (size_t b = 0; b < n; ++b)
          if (before[a][k] && before[k][b])
            before[a][b] = true;
    return before;
  }
};

TEST(HappensBefore, EqualsTransitiveClosure) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    RandomOrder order(random, 2 + random() % 20, 1 + random() % 4);
    auto made = HappensBefore::create(order.calls);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    auto closure = order.closure();
    for (size_t a = 0; a < order.calls.size(); ++a)
      for (size_t b = 0; b < order.calls.size(); ++b)
        ASSERT_EQ(made->before(a, b), bool(closure[a][b]))
            << "seed " << seed << ", calls " << a << " and " << b;
  }
}

TEST(HappensBefore, AccessSetsEqualComparingAllPairs) {
  int holds = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    RandomOrder calls(random, 3 + random() % 12, 1 + random() % 3);
    auto order = HappensBefore::create(calls.calls);
    ASSERT_TRUE(order.ok());
    auto closure = calls.closure();
    uint32_t n = uint32_t(calls.calls.size());
    std::vector<uint32_t> a, b;
    AccessSet first, second;
    for (int i = 0; i < 3; ++i) {
      a.push_back(random() % n);
      b.push_back(random() % n);
      first.add(*order, a.back());
      second.add(*order, b.back());
    }
    bool expected = true, sameIsOrdered = true;
    for (uint32_t x : a)
      for (uint32_t y : b) {
        expected &= bool(closure[x][y]);
        sameIsOrdered &= closure[x][y] || x == y;
      }
    EXPECT_EQ(first.allBefore(*order, second), expected) << seed;
    EXPECT_EQ(first.allBefore(*order, second, true), sameIsOrdered) << seed;
    for (uint32_t call = 0; call < n; ++call) {
      bool before = true;
      for (uint32_t x : a)
        before &= x == call || closure[x][call];
      EXPECT_EQ(first.allBeforeCall(*order, call), before)
          << seed << " " << call;
      holds += before;
    }
    EXPECT_FALSE(order->before(a[0], a[0]));
  }
  EXPECT_GT(holds, 100);
}

TEST(HappensBefore, RefusesMalformedOrders) {
  std::vector<int64_t> one = {1}, none;
  auto code = [](std::vector<CallOrder> calls) {
    return HappensBefore::create(calls).status().message();
  };
  EXPECT_NE(code({{0, one, none}, {0, none, one}}).find("no earlier call"),
            std::string::npos);
  EXPECT_NE(code({{0, none, one}, {0, none, one}}).find("signals too"),
            std::string::npos);
  EXPECT_NE(code({{0, none, none}, {1, none, none}}).find("not joined"),
            std::string::npos);
  EXPECT_NE(code({{64, none, none}}).find("the limit is 63"),
            std::string::npos);
  EXPECT_TRUE(HappensBefore::create({}).ok());
}

TEST(Overlap, EqualsComparingAllPairs) {
  int conflicts = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    RandomOrder calls(random, 3 + random() % 12, 1 + random() % 3);
    auto order = HappensBefore::create(calls.calls);
    ASSERT_TRUE(order.ok());
    std::vector<AccessSet> accesses(1 + random() % 8);
    std::vector<PlacedRange> ranges;
    for (AccessSet &set : accesses) {
      for (size_t i = 0; i < 1 + random() % 2; ++i)
        set.add(*order, random() % calls.calls.size());
      uint64_t begin = random() % 24;
      ranges.push_back({begin, begin + 1 + random() % 6, &set});
    }
    bool expected = false;
    for (size_t a = 0; a < ranges.size(); ++a)
      for (size_t b = a + 1; b < ranges.size(); ++b)
        expected |= ranges[a].begin < ranges[b].end &&
                    ranges[b].begin < ranges[a].end &&
                    !accesses[a].allBefore(*order, accesses[b]) &&
                    !accesses[b].allBefore(*order, accesses[a]);
    conflicts += expected;
    ASSERT_EQ(findConflict(ranges, *order).has_value(), expected)
        << "seed " << seed;
  }
  EXPECT_GT(conflicts, 50);
  EXPECT_LT(conflicts, 350);
}

TEST(KernelTable, KidsAreUniqueAndWellFormed) {
  std::set<std::pair<DeviceKind, std::string>> kids;
  for (const KernelRow &row : kernelTable()) {
    std::string kid(row.kid);
    EXPECT_TRUE(kids.insert({row.device, kid}).second) << kid;
    EXPECT_EQ(kid.rfind(std::string(nameOf(row.kind)) + "_", 0), 0u) << kid;
    EXPECT_NE(kid.find(nameOf(row.in0)), std::string::npos) << kid;
    EXPECT_NE(kid.rfind("_v"), std::string::npos) << kid;
    EXPECT_EQ(findKernel(row.device, row.kid), &row);
  }
  EXPECT_EQ(findKernel(DeviceKind::CPU, "nothing"), nullptr);
}

/// Fused kinds have kernels on CUDA only.
bool isFused(OpKind kind) {
  return kind >= OpKind::GemmBias && kind <= OpKind::MomentumUpdate;
}

TEST(KernelTable, EveryKindHasKernelsOnBothDevices) {
  for (uint16_t k = 0; k < kNumOpKinds; ++k)
    for (DeviceKind device : {DeviceKind::CPU, DeviceKind::CUDA}) {
      OpKind kind = static_cast<OpKind>(k);
      int rows = 0;
      for (const KernelRow &row : kernelTable())
        rows += row.device == device && row.kind == kind &&
                row.selection == Selection::Auto;
      if (device == DeviceKind::CPU && isFused(kind))
        EXPECT_EQ(rows, 0) << nameOf(kind);
      else
        EXPECT_GE(rows, 2) << nameOf(kind);
    }
}

TEST(KernelTable, WidthAlignmentAndMathChooseTheKernel) {
  auto relu = [](int64_t width, uintptr_t address) {
    TensorDesc x(DType::F16, {3, width});
    uintptr_t addresses[] = {address, 256};
    return selectKernel(DeviceKind::CUDA, OpKind::Relu, {&x, 1}, {&x, 1},
                        {false, {addresses, 2}})
        ->kid;
  };
  EXPECT_EQ(relu(16, 256), "relu_f16_vec8_v0");
  EXPECT_EQ(relu(16, 4), "relu_f16_vec2_v0");
  EXPECT_EQ(relu(16, 2), "relu_f16_v0");
  EXPECT_EQ(relu(6, 256), "relu_f16_vec2_v0");
  EXPECT_EQ(relu(7, 256), "relu_f16_v0");
  // Vectors of a wider operand need a better address than those of the first.
  TensorDesc half(DType::BF16, {8}), single(DType::F32, {8});
  TensorDesc mse[] = {half, single};
  auto mseGrad = [&](uintptr_t target) {
    uintptr_t addresses[] = {256, target, 256};
    return selectKernel(DeviceKind::CUDA, OpKind::MseGrad, {mse, 2}, {&half, 1},
                        {false, {addresses, 3}})
        ->kid;
  };
  EXPECT_EQ(mseGrad(16), "mse_grad_bf16_vec8_v1");
  EXPECT_EQ(mseGrad(8), "mse_grad_bf16_vec2_v1");
  EXPECT_EQ(mseGrad(4), "mse_grad_bf16_v1");
  auto gemm = [](int64_t n, bool allowTF32) {
    TensorDesc a(DType::F32, {n, n});
    TensorDesc ins[] = {a, a};
    return selectKernel(DeviceKind::CUDA, OpKind::Gemm, {ins, 2}, {&a, 1},
                        {allowTF32, {}})
        ->kid;
  };
  EXPECT_EQ(gemm(64, false), "gemm_f32_tile_v0");
  EXPECT_EQ(gemm(2048, false), "gemm_f32_lt_v0");
  EXPECT_EQ(gemm(2048, true), "gemm_tf32_lt_v0");
}

TEST(KernelTable, WorkspaceIsCapped) {
  for (const KernelRow &row : kernelTable()) {
    const OpInfo &info = infoOf(row.kind);
    std::vector<TensorDesc> ins(info.numOperands, {row.in0, {65536, 65536}});
    std::vector<TensorDesc> outs(info.numResults, {row.out0, {65536, 65536}});
    uint64_t bytes = row.workspaceBytes(ins, outs);
    EXPECT_LE(bytes, row.workspaceCap) << row.kid;
    EXPECT_EQ(bytes > 0, row.workspaceCap > 0) << row.kid;
  }
}

TEST(Shuffle, IsAPermutationEachEpoch) {
  for (uint32_t size : {1u, 2u, 3u, 10u, 255u, 256u, 257u, 1000u})
    for (uint64_t seed : {0u, 7u}) {
      std::vector<std::set<int64_t>> epochs(3);
      bool differ = false;
      for (uint64_t i = 0; i < 3 * size; ++i) {
        int64_t row = shuffledRow(i, size, seed);
        ASSERT_GE(row, 0);
        ASSERT_LT(row, int64_t(size));
        EXPECT_TRUE(epochs[i / size].insert(row).second) << size << " " << i;
        differ |= i >= size && row != shuffledRow(i - size, size, seed);
      }
      EXPECT_TRUE(differ || size < 4) << "epochs have the same order";
    }
}

TEST(HalfFloat, EveryHalfAndBFloatRoundTrips) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    float half = halfToFloat(uint16_t(bits));
    float bfloat = bfloatToFloat(uint16_t(bits));
    if (!std::isnan(half)) {
      ASSERT_EQ(floatToHalf(half), bits);
    }
    if (!std::isnan(bfloat)) {
      ASSERT_EQ(floatToBFloat(bfloat), bits);
    }
  }
}

TEST(HalfFloat, RoundsToNearestEven) {
  EXPECT_EQ(floatToHalf(2049.0f), floatToHalf(2048.0f)); // tie, even below
  EXPECT_EQ(floatToHalf(2051.0f), floatToHalf(2052.0f)); // tie, even above
  EXPECT_EQ(floatToHalf(65519.0f), 0x7bff);              // largest half
  EXPECT_EQ(floatToHalf(65520.0f), 0x7c00);              // infinity
  EXPECT_EQ(floatToHalf(0x1p-25f), 0);                   // tie with zero
  EXPECT_EQ(floatToHalf(0x1.8p-24f), 2);                 // tie, even above
  EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(NAN))));
  EXPECT_TRUE(std::isnan(bfloatToFloat(floatToBFloat(NAN))));
}

TEST(OpRules, NumbersReadBack) {
  for (double value : {0.9, 1e-8, 2.0 / 3, 0.0, -1.0, 1e300})
    EXPECT_EQ(std::stod(formatNumber(value)), value);
  EXPECT_EQ(formatNumber(0.9), "0.9");
}

TEST(OpRules, CheckedBytes) {
  EXPECT_EQ(checkedBytes(TensorDesc(DType::F64, {3, 5})), 120u);
  EXPECT_EQ(checkedBytes(TensorDesc(DType::F16, {})), 2u);
  EXPECT_FALSE(checkedBytes(TensorDesc(DType::F32, {0})));
  EXPECT_FALSE(checkedBytes(TensorDesc(DType::F32, {-4})));
  EXPECT_FALSE(checkedBytes(TensorDesc(DType::F32, {int64_t(1) << 31})));
  EXPECT_FALSE(checkedBytes(TensorDesc(
      DType::F32, {int64_t(1) << 30, int64_t(1) << 30, int64_t(1) << 30})));
  // 2^46 bytes are legal, more are not, and 2^64 are not none.
  EXPECT_TRUE(checkedBytes(TensorDesc(DType::F32, {1 << 30, 1 << 14})));
  EXPECT_FALSE(checkedBytes(TensorDesc(DType::F32, {1 << 30, 1 << 15})));
  EXPECT_FALSE(
      checkedBytes(TensorDesc(DType::F32, {1 << 30, 1 << 14, 1 << 18})));
  EXPECT_FALSE(checkedBytes(TensorDesc(DType::F32, {1, 1 << 30, 0})));
  TensorDesc tooDeep(DType::F32, {1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_TRUE(checkedBytes(tooDeep));
  tooDeep.rank = kMaxRank + 1;
  EXPECT_FALSE(checkedBytes(tooDeep));
}

} // namespace
