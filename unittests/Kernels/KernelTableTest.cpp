//===- KernelTableTest.cpp - the table of kernels, shuffle, numbers -----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/KernelTable.h"
#include "aicf/OpCall.h"
#include "kernels/rows/Shuffle.h"
#include "lib/Ops/Fields.h"
#include "lib/Ops/Patterns.h"
#include "lib/Ops/RuleCall.h"
#include "lib/Ops/Rules.h"
#include "unittests/Common/SampleCalls.h"

#include <gtest/gtest.h>

#include <algorithm>
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
      EXPECT_EQ(kid.find(nameOf(row.in0)) == std::string::npos, row.anyTypes)
          << kid;
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

/// A threshold of speed decides what is chosen, not what a plan may name.
TEST(KernelTable, KernelsTakeMoreThanTheyAreChosenFor) {
  const KernelRow *tile = findKernel(DeviceKind::CUDA, "gemm_f32_tile_v0");
  ASSERT_NE(tile, nullptr);
  for (int64_t n : {64, 2048}) {
    TensorDesc a(DType::F32, {n, n});
    TensorDesc ins[] = {a, a};
    StatusOr<TypedBody> typed = TypedBody::create(
        OpKind::Gemm, std::vector<uint8_t>(8), {ins, 2}, {&a, 1});
    ASSERT_TRUE(typed.ok()) << typed.status().toString();
    EXPECT_TRUE(tile->accepts(*typed));
    EXPECT_EQ(tile->isWorthChoosing(*typed, defaultCosts(DeviceKind::CUDA)), n == 64);
    EXPECT_EQ(selectKernel(DeviceKind::CUDA, *typed) == tile, n == 64);
  }
}

/// What a kernel cannot number, it does not take, however little it would pay.
TEST(KernelTable, KernelsTakeNoMoreThanTheyCanNumber) {
  const KernelRow *tile =
      findKernel(DeviceKind::CUDA, "batched_gemm_f64_tile_v0");
  ASSERT_NE(tile, nullptr);
  for (int64_t last : {32767, 32768}) { // batches over two dimensions of a grid
    TensorDesc a(DType::F64, {last, 65536, 2, 2});
    TensorDesc ins[] = {a, a};
    StatusOr<TypedBody> typed = TypedBody::create(
        OpKind::BatchedGemm, std::vector<uint8_t>(8), {ins, 2}, {&a, 1});
    ASSERT_TRUE(typed.ok()) << typed.status().toString();
    EXPECT_EQ(tile->accepts(*typed), last == 32767);
  }
  // Columns of strips of eight.
  auto body = std::make_shared<Body>();
  body->numOperands = 1;
  body->primitives = {
      {OpKind::ReduceSum, encodeAttrs(ReduceSumAttrs{0}), {0}},
      {OpKind::Expand, encodeAttrs(ExpandAttrs{0}), {1}},
      {OpKind::Mul, {}, {0, 2}}};
  body->results = {3};
  const KernelRow *graph = findKernel(DeviceKind::CUDA, "reduction_graph_v0");
  ASSERT_NE(graph, nullptr);
  for (int64_t width : {65527, 65537}) {
    TensorDesc x(DType::F16, {2, 65537, width});
    StatusOr<TypedBody> typed = TypedBody::create(body, {&x, 1}, {&x, 1});
    ASSERT_TRUE(typed.ok()) << typed.status().toString();
    EXPECT_EQ(graph->accepts(*typed), width == 65527);
  }
}

/// Also where TF32 is allowed.
TEST(KernelTable, PinnedKernelsAreNeverChosen) {
  size_t pinned = 0;
  for (const KindRow &row : allCallRows())
    for (DeviceKind device : kDeviceKinds) {
      StatusOr<TypedBody> typed =
          typedBodyOf(makeSample(row, 2048, 2048, row.usualType()));
      if (!typed.ok())
        continue;
      const KernelRow *chosen = selectKernel(device, *typed, {true, {}});
      EXPECT_TRUE(!chosen || chosen->selection != Selection::Pinned)
          << chosen->kid;
      for (const KernelRow &kernel : kernelsFor(device, typed->pattern()))
        pinned += !chosen && kernel.selection == Selection::Pinned &&
                  kernel.accepts(*typed);
    }
  EXPECT_GT(pinned, 0u);
}

/// Fusion takes what the table gives, and does not ask whether it pays.
TEST(KernelTable, KernelsOfSeveralPrimitivesPayOrArePinned) {
  for (DeviceKind device : kDeviceKinds)
    for (const KernelRow &row : kernelsOn(device))
      if (patternOf(row.pattern) && row.selection != Selection::Pinned) {
        EXPECT_TRUE(row.isWorthFusing()) << row.kid;
      }
}

/// Fusion finds the calls for a node by what the node reads.
TEST(KernelTable, EveryNodeOfAPatternBehindTheFirstIsBound) {
  for (const PatternInfo &pattern : allPatterns())
    for (size_t node = 1; node < pattern.nodes.size(); ++node)
      EXPECT_TRUE(std::any_of(
          pattern.bindings.begin(), pattern.bindings.end(),
          [&](const BindingInfo &b) { return b.operand.node == node; }))
          << pattern.name << ", node " << node;
}

TEST(KernelTable, WorkspaceIsCapped) {
  std::set<std::string_view> wanted;
  auto ask = [&](const TypedBody &typed) {
    for (DeviceKind device : kDeviceKinds)
      for (const KernelRow &kernel : kernelsFor(device, typed.pattern())) {
        uint64_t bytes =
            kernel.accepts(typed) ? kernel.workspaceBytes(typed) : 0;
        EXPECT_LE(bytes, alignedBytes(kernel.workspaceCap)) << kernel.kid;
        if (bytes)
          wanted.insert(kernel.kid);
      }
  };
  // Many rows, few of them, and short ones.
  for (auto [m, n] : {std::pair<int64_t, int64_t>{40000, 30000},
                      {2, 4000000},
                      {40000, 1024},
                      {40000, 128}})
    for (const KindRow &row : allCallRows())
      for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
        StatusOr<TypedBody> typed = typedBodyOf(makeSample(row, m, n, dtype));
        if (typed.ok())
          ask(*typed);
      }
  for (DeviceKind device : kDeviceKinds)
    for (const KernelRow &kernel : kernelsOn(device))
      EXPECT_TRUE(kernel.workspaceCap == 0 || wanted.count(kernel.kid))
          << kernel.kid << " has a cap, but no sample makes it want workspace";
}

/// A row for one primitive; what a test asks about is put in.
KernelRow rowFor(OpKind kind, DType in0, DType out0) {
  return {.kid = "by_hand",
          .pattern = PatternId(kind),
          .device = DeviceKind::CPU,
          .in0 = in0,
          .out0 = out0};
}

TypedBody callOf(OpKind kind, std::vector<TensorDesc> ins, TensorDesc out,
                 std::vector<uint8_t> attrs = {}) {
  return *TypedBody::create(kind, attrs, ins, {&out, 1});
}

TensorDesc padded(std::vector<int64_t> shape) {
  TensorDesc desc(DType::BF16, shape);
  desc.layout = Layout::Padded;
  return desc;
}

TEST(KernelRow, AsksForTheAlignmentOfItsTypesOrVectors) {
  KernelRow row = rowFor(OpKind::Cast, DType::BF16, DType::F32);
  row.alignment = 16;
  EXPECT_EQ(row.neededAlignment({DType::BF16, {8}}), 16u);
  EXPECT_EQ(row.neededAlignment({DType::F32, {4}}), 16u);
  // Another type; less than one access.
  EXPECT_EQ(row.neededAlignment({DType::I32, {8}}), 4u);
  EXPECT_EQ(row.neededAlignment({DType::BF16, {7}}), 2u);
  row.alignment = 1;
  row.width = 8;
  EXPECT_EQ(row.neededAlignment({DType::BF16, {8}}), 16u);
  EXPECT_EQ(row.neededAlignment({DType::I32, {8}}), 16u);
  EXPECT_EQ(row.neededAlignment({DType::BF16, {7}}), 2u);
}

/// The first results of a body need not be its first values.
TEST(KernelRow, AsksForTheAlignmentOfEachResult) {
  auto sample = std::find_if(allCallRows().begin(), allCallRows().end(),
                             [](const KindRow &row) {
                               return row.name == "add_layer_norm";
                             });
  ASSERT_NE(sample, allCallRows().end());
  StatusOr<TypedBody> typed =
      typedBodyOf(makeSample(*sample, 4, 8, DType::F32));
  ASSERT_TRUE(typed.ok());
  KernelRow row = rowFor(OpKind::Add, DType::F32, DType::F32);
  row.width = 8;
  // y is read and written in vectors, the four means and deviations are not.
  std::vector<uintptr_t> addresses = {256, 256, 256, 256, 256, 4, 4};
  EXPECT_TRUE(row.suits(*typed, addresses));
  addresses[4] = 4;
  EXPECT_FALSE(row.suits(*typed, addresses));
}

TEST(KernelRow, TakesTheTypesOfItsFirstOperandAndResult) {
  TypedBody call = callOf(OpKind::Cast, {{DType::F16, {3}}}, {DType::F32, {3}});
  auto mismatch = [&](DType in0, DType out0) {
    return rowFor(OpKind::Cast, in0, out0).mismatch(call);
  };
  EXPECT_EQ(mismatch(DType::F16, DType::F32), Mismatch::None);
  EXPECT_EQ(mismatch(DType::BF16, DType::F32), Mismatch::Types);
  EXPECT_EQ(mismatch(DType::F16, DType::F64), Mismatch::Types);
}

TEST(KernelRow, TakesRowsThatItsVectorsFill) {
  KernelRow row = rowFor(OpKind::Relu, DType::F32, DType::F32);
  row.width = 4;
  auto mismatch = [&](std::vector<int64_t> shape) {
    TensorDesc x(DType::F32, shape);
    return row.mismatch(callOf(OpKind::Relu, {x}, x));
  };
  EXPECT_EQ(mismatch({3, 8}), Mismatch::None);
  EXPECT_EQ(mismatch({4, 6}), Mismatch::Width);
  EXPECT_EQ(mismatch({}), Mismatch::Width);
}

TEST(KernelRow, TakesViewsWhereItSaysSo) {
  KernelRow row = rowFor(OpKind::Add, DType::F32, DType::F32);
  const StridedSlot slots[] = {{OpKind::Add, 0, StrideRule::Any}};
  row.strided = {slots, 1};
  TensorDesc dense(DType::F32, {3, 4});
  TensorDesc view = TensorDesc::strided(DType::F32, {3, 4}, {1, 3});
  auto mismatch = [&](TensorDesc a, TensorDesc b, TensorDesc c) {
    return row.mismatch(callOf(OpKind::Add, {a, b}, c));
  };
  EXPECT_EQ(mismatch(dense, dense, dense), Mismatch::None);
  EXPECT_EQ(mismatch(view, dense, dense), Mismatch::None);
  EXPECT_EQ(mismatch(dense, view, dense), Mismatch::Strides);
  EXPECT_EQ(mismatch(view, view, dense), Mismatch::Strides);
  EXPECT_EQ(mismatch(dense, dense, view), Mismatch::Strides);
}

/// There may be as many as a body has operands.
TEST(KernelRow, NamesAnyNumberOfViews) {
  KernelRow row = rowFor(OpKind::Relu, DType::F32, DType::F32);
  std::vector<StridedSlot> slots(20, {OpKind::Add, 0, StrideRule::Any});
  TensorDesc x(DType::F32, {3, 4});
  TensorDesc view = TensorDesc::strided(DType::F32, {3, 4}, {1, 3});
  row.strided = slots;
  EXPECT_EQ(row.mismatch(callOf(OpKind::Relu, {view}, x)), Mismatch::Strides);
  slots.push_back({OpKind::Relu, 0, StrideRule::Any});
  row.strided = slots;
  EXPECT_EQ(row.mismatch(callOf(OpKind::Relu, {view}, x)), Mismatch::None);
}

/// Results whose elements share bytes are refused, whatever a record says.
TEST(KernelRow, WritesViewsWhereItSaysSo) {
  KernelRow row = rowFor(OpKind::Add, DType::F32, DType::F32);
  StridedSlot slots[] = {
      {OpKind::Add, 0, StrideRule::Any, /*isResult=*/true}};
  row.strided = {slots, 1};
  TensorDesc dense(DType::F32, {3, 4});
  auto view = [](std::vector<int64_t> strides) {
    return TensorDesc::strided(DType::F32, {3, 4}, strides);
  };
  auto mismatch = [&](TensorDesc a, TensorDesc c) {
    return row.mismatch(callOf(OpKind::Add, {a, dense}, c));
  };
  EXPECT_EQ(mismatch(dense, view({1, 3})), Mismatch::None);
  EXPECT_EQ(mismatch(view({1, 3}), dense), Mismatch::Strides);
  EXPECT_EQ(mismatch(dense, view({0, 1})), Mismatch::Strides);
  EXPECT_EQ(mismatch(dense, view({1, 1})), Mismatch::Strides);
  slots[0].rule = StrideRule::Rows;
  EXPECT_EQ(mismatch(dense, view({8, 1})), Mismatch::None);
  EXPECT_EQ(mismatch(dense, view({1, 3})), Mismatch::Strides);
}

TEST(KernelRow, TakesViewsOfRowsOrOfMatrices) {
  TensorDesc x(DType::F32, {2, 3, 4});
  auto mismatch = [&](StrideRule rule, std::vector<int64_t> strides) {
    KernelRow row = rowFor(OpKind::Relu, DType::F32, DType::F32);
    const StridedSlot slots[] = {{OpKind::Relu, 0, rule}};
    row.strided = {slots, 1};
    TensorDesc view = TensorDesc::strided(DType::F32, x.shape(), strides);
    return row.mismatch(callOf(OpKind::Relu, {view}, x));
  };
  // Rows at equal distances; matrices further apart; columns as rows.
  EXPECT_EQ(mismatch(StrideRule::Rows, {24, 8, 1}), Mismatch::None);
  EXPECT_EQ(mismatch(StrideRule::Matrices, {24, 8, 1}), Mismatch::None);
  EXPECT_EQ(mismatch(StrideRule::Rows, {100, 8, 1}), Mismatch::Strides);
  EXPECT_EQ(mismatch(StrideRule::Matrices, {100, 8, 1}), Mismatch::None);
  EXPECT_EQ(mismatch(StrideRule::Matrices, {24, 1, 6}), Mismatch::Strides);
  // Rows that repeat, and rows that lie anywhere, but together.
  EXPECT_EQ(mismatch(StrideRule::RowsAnywhere, {4, 0, 1}), Mismatch::None);
  EXPECT_EQ(mismatch(StrideRule::RowsAnywhere, {100, 8, 1}), Mismatch::None);
  EXPECT_EQ(mismatch(StrideRule::RowsAnywhere, {12, 1, 3}), Mismatch::Strides);
}

/// A kernel that knows no pads takes them as elements.
TEST(KernelRow, TakesPadsThatStayZeros) {
  auto mismatch = [](const TypedBody &call) {
    return rowFor(call.body().primitives[0].kind, DType::BF16, DType::BF16)
        .mismatch(call);
  };
  TensorDesc x = padded({3, 5});
  EXPECT_EQ(mismatch(callOf(OpKind::Relu, {x}, x)), Mismatch::None);
  EXPECT_EQ(mismatch(callOf(OpKind::Exp, {x}, x)), Mismatch::Layout);
  // A bias along the rows would be added to pads, too.
  auto bias = [&](int64_t axis) {
    TensorDesc y = padded({8, 8});
    return mismatch(callOf(OpKind::BiasAdd, {y, padded({8})}, y,
                           encodeAttrs(BiasAddAttrs{axis})));
  };
  EXPECT_EQ(bias(-1), Mismatch::None);
  EXPECT_EQ(bias(1), Mismatch::None);
  EXPECT_EQ(bias(0), Mismatch::Layout);
  // All that would have pads has them, and the stored shapes fit.
  std::vector<uint8_t> axis0 = encodeAttrs(ReduceSumAttrs{0});
  TensorDesc whole = padded({3, 8}), sum(DType::BF16, {1, 8});
  EXPECT_EQ(mismatch(callOf(OpKind::ReduceSum, {whole}, sum, axis0)),
            Mismatch::Layout);
  EXPECT_EQ(mismatch(callOf(OpKind::ReduceSum, {whole}, padded({1, 8}), axis0)),
            Mismatch::Layout);
  EXPECT_EQ(mismatch(callOf(OpKind::ReduceSum, {whole}, padded({8}), axis0)),
            Mismatch::None);
  EXPECT_EQ(mismatch(callOf(OpKind::ReduceSum, {whole}, {DType::BF16, {}},
                            encodeAttrs(ReduceSumAttrs{1}))),
            Mismatch::None);
}

TEST(KernelRow, TakesNoViewForADenseTensor) {
  KernelRow row = rowFor(OpKind::Add, DType::BF16, DType::BF16);
  const StridedSlot slots[] = {{OpKind::Add, 1, StrideRule::Any}};
  row.strided = {slots, 1};
  TensorDesc x = padded({8, 8});
  TensorDesc view = TensorDesc::strided(DType::BF16, {8, 8}, {1, 8});
  EXPECT_EQ(row.mismatch(callOf(OpKind::Add, {x, view}, x)), Mismatch::Layout);
}

TEST(KernelRow, WantsWorkspaceForWhatItIsGiven) {
  KernelRow row = rowFor(OpKind::Relu, DType::BF16, DType::BF16);
  row.workspace = [](const rules::Call &call) {
    return 1024 * uint64_t(ReluView<rules::Call>(call).x()->elements());
  };
  row.workspaceCap = 1 << 20;
  TensorDesc x = padded({3, 5});
  TypedBody call = callOf(OpKind::Relu, {x}, x);
  EXPECT_EQ(row.workspaceBytes(call), 8u * 8 * 1024);
  row.takesPads = true;
  EXPECT_EQ(row.workspaceBytes(call), 3u * 5 * 1024);
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

TEST(Fields, OfRealNumbersTakeWholeOnes) {
  std::vector<uint8_t> attrs = encodeAttrs(ScaleAttrs{});
  const FieldInfo &factor = infoOf(OpKind::Scale).fields[0];
  encodeField(factor, int64_t(2), attrs);
  EXPECT_EQ(decodeField(factor, attrs), FieldValue(2.0));
}

TEST(Fields, TakeAsManyBytesAsTheyHave) {
  std::vector<uint8_t> gemm = encodeAttrs(GemmAttrs{0, 1});
  const OpInfo &info = infoOf(OpKind::Gemm);
  encodeField(info.fields[0], int64_t(1), gemm);
  EXPECT_EQ(gemm, encodeAttrs(GemmAttrs{1, 1}));
  std::vector<uint8_t> bias = encodeAttrs(BiasAddAttrs{0});
  encodeField(infoOf(OpKind::BiasAdd).fields[0], int64_t(-1), bias);
  EXPECT_EQ(bias, encodeAttrs(BiasAddAttrs{-1}));
}

} // namespace
