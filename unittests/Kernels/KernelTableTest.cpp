//===- KernelTableTest.cpp - the table of kernels, shuffle, numbers -----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/KernelTable.h"
#include "kernels/rows/Shuffle.h"
#include "lib/Ops/Fields.h"
#include "lib/Ops/Rules.h"
#include "unittests/Common/SampleCalls.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

using namespace aicf;
using namespace aicf::test;

namespace {

TEST(KernelTable, KidsAreUniqueAndWellFormed) {
  std::set<std::pair<DeviceKind, std::string>> kids;
  for (DeviceKind device : kDeviceKinds)
    for (const KernelRow &row : kernelsOn(device)) {
      std::string kid(row.kid);
      EXPECT_EQ(row.device, device) << kid;
      EXPECT_TRUE(kids.insert({device, kid}).second) << kid;
      EXPECT_EQ(kid.rfind(std::string(nameOfPattern(row.pattern)) + "_", 0), 0u)
          << kid;
      EXPECT_NE(kid.find(nameOf(row.in0)), std::string::npos) << kid;
      EXPECT_NE(kid.rfind("_v"), std::string::npos) << kid;
      EXPECT_EQ(findKernel(device, row.kid), &row);
    }
  EXPECT_EQ(findKernel(DeviceKind::CPU, "nothing"), nullptr);
}

/// A device that nobody has kernels for has none of another's.
TEST(KernelTable, AnUnknownDeviceHasNoKernels) {
  DeviceKind unknown{kNumDeviceKinds};
  EXPECT_EQ(findKernel(unknown, "relu_f32_v0"), nullptr);
  EXPECT_TRUE(kernelsOn(unknown).empty());
  EXPECT_TRUE(kernelsFor(unknown, patterns::Relu).empty());
  TensorDesc x(DType::F32, {4});
  EXPECT_EQ(selectKernel(unknown, *TypedBody::create(OpKind::Relu, {}, {&x, 1},
                                                     {&x, 1})),
            nullptr);
}

TEST(KernelTable, EveryKindHasKernelsOnBothDevices) {
  for (uint16_t k = 0; k < kNumOpKinds; ++k)
    for (DeviceKind device : kDeviceKinds) {
      int rows = 0;
      for (const KernelRow &row : kernelsFor(device, k))
        rows += row.selection == Selection::Auto;
      if (isKnown(OpKind(k)))
        EXPECT_GE(rows, 1) << nameOf(OpKind(k));
      else
        EXPECT_EQ(rows, 0) << k;
    }
}

/// What stands together in the table is what is asked for.
TEST(KernelTable, RowsOfAPatternStandTogether) {
  for (DeviceKind device : kDeviceKinds) {
    size_t numRows = 0;
    for (size_t id = 0; id < kNumOpKinds + allPatterns().size(); ++id)
      for (const KernelRow &row : kernelsFor(device, PatternId(id))) {
        EXPECT_EQ(row.pattern, id) << row.kid;
        ++numRows;
      }
    EXPECT_EQ(numRows, kernelsOn(device).size());
  }
}

TEST(KernelTable, WidthAlignmentAndMathChooseTheKernel) {
  auto relu = [](int64_t width, uintptr_t address) {
    TensorDesc x(DType::F16, {3, width});
    uintptr_t addresses[] = {address, 256};
    return selectKernel(DeviceKind::CUDA,
                        *TypedBody::create(OpKind::Relu, {}, {&x, 1}, {&x, 1}),
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
  TensorDesc mse[] = {half, single, TensorDesc::absent()};
  auto mseGrad = [&](uintptr_t target) {
    uintptr_t addresses[] = {256, target, 256};
    std::vector<uint8_t> attrs(8);
    return selectKernel(
               DeviceKind::CUDA,
               *TypedBody::create(OpKind::MseGrad, attrs, {mse, 3}, {&half, 1}),
               {false, {addresses, 3}})
        ->kid;
  };
  EXPECT_EQ(mseGrad(16), "mse_grad_bf16_vec8_v1");
  EXPECT_EQ(mseGrad(8), "mse_grad_bf16_vec2_v1");
  EXPECT_EQ(mseGrad(4), "mse_grad_bf16_v1");
  auto gemm = [](int64_t n, bool allowTF32) {
    TensorDesc a(DType::F32, {n, n});
    TensorDesc ins[] = {a, a};
    std::vector<uint8_t> attrs(8);
    return selectKernel(
               DeviceKind::CUDA,
               *TypedBody::create(OpKind::Gemm, attrs, {ins, 2}, {&a, 1}),
               {allowTF32, {}})
        ->kid;
  };
  EXPECT_EQ(gemm(64, false), "gemm_f32_tile_v0");
  EXPECT_EQ(gemm(2048, false), "gemm_f32_lt_v0");
  EXPECT_EQ(gemm(2048, true), "gemm_tf32_lt_v0");
}

TEST(KernelTable, WorkspaceIsCapped) {
  std::set<std::string_view> wanted;
  for (const KindRow &row : allCallRows())
    for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
      StatusOr<TypedBody> typed =
          typedBodyOf(makeSample(row, 40000, 30000, dtype));
      if (!typed.ok())
        continue;
      for (DeviceKind device : kDeviceKinds)
        for (const KernelRow &kernel : kernelsFor(device, typed->pattern())) {
          uint64_t bytes =
              kernel.accepts(*typed) ? kernel.workspaceBytes(*typed) : 0;
          EXPECT_LE(bytes, alignedBytes(kernel.workspaceCap)) << kernel.kid;
          if (bytes)
            wanted.insert(kernel.kid);
        }
    }
  for (DeviceKind device : kDeviceKinds)
    for (const KernelRow &kernel : kernelsOn(device))
      EXPECT_TRUE(kernel.workspaceCap == 0 || wanted.count(kernel.kid))
          << kernel.kid << " has a cap, but no sample makes it want workspace";
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

TEST(Fields, NumbersReadBack) {
  for (double value : {0.9, 1e-8, 2.0 / 3, 0.0, -1.0, 1e300})
    EXPECT_EQ(std::stod(formatNumber(value)), value);
  EXPECT_EQ(formatNumber(0.9), "0.9");
}

} // namespace
