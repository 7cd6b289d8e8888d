//===- CostsTest.cpp - the numbers that decide what is faster -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/KernelTable.h"

#include <gtest/gtest.h>

#include <set>

using namespace aicf;

namespace {

TEST(Costs, EveryDeviceHasADefaultAndNamesAreUnique) {
  std::set<std::string_view> names;
  for (const Costs &costs : allCosts()) {
    EXPECT_TRUE(names.insert(costs.name).second) << costs.name;
    EXPECT_EQ(findCosts(costs.name), &costs);
    EXPECT_FALSE(costs.origin.empty()) << costs.name;
  }
  for (DeviceKind device : kDeviceKinds)
    EXPECT_EQ(defaultCosts(device).device, device);
  EXPECT_EQ(defaultCosts(DeviceKind::CUDA).name, "h200");
  EXPECT_EQ(findCosts("b300"), nullptr);
  // A device that nobody has a profile for takes some: it has no kernels.
  EXPECT_EQ(&defaultCosts(DeviceKind{kNumDeviceKinds}), &allCosts()[0]);
}

TEST(Costs, TheTextHasEveryNumberOnce) {
  const std::string text = findCosts("a100")->toString();
  std::set<int64_t Costs::*, bool (*)(int64_t Costs::*, int64_t Costs::*)>
      members([](auto a, auto b) {
        static const Costs none;
        return &(none.*a) < &(none.*b);
      });
  for (const CostField &field : costFields()) {
    EXPECT_EQ(findCostField(field.name), &field);
    EXPECT_TRUE(members.insert(field.member).second) << field.name;
    const std::string line = "  " + std::string(field.name) + " = ";
    EXPECT_NE(text.find(line), std::string::npos) << field.name;
    EXPECT_EQ(text.find(line), text.rfind(line)) << field.name;
  }
  EXPECT_EQ(findCostField("nothing"), nullptr);
  EXPECT_EQ(text.rfind("a100, a profile of cuda: an H200's", 0), 0u) << text;
  EXPECT_NE(text.find("  cached_bytes = 53687091 bytes: "), std::string::npos)
      << text;
}

/// A card is what its multiprocessors and its cache are to an H200's.
TEST(Costs, ProfilesOfCardsAreInProportion) {
  const Costs &h200 = *findCosts("h200"), &a100 = *findCosts("a100");
  EXPECT_EQ(h200.multiprocessors, 132);
  EXPECT_EQ(h200.cachedBytes, int64_t(64) << 20);
  EXPECT_EQ(h200.narrowProductBytes, int64_t(32) << 20);
  EXPECT_EQ(a100.multiprocessors, 108);
  EXPECT_EQ(a100.cachedBytes, h200.cachedBytes * 40 / 50);
}

/// A call for which a kernel pays, or does not; and does no longer with another
/// number.
struct Turned {
  std::string_view field;
  int64_t number;
  std::string_view kid;
  OpKind kind;
  std::vector<uint8_t> attrs;
  std::vector<TensorDesc> ins, outs;
  bool pays;
};

TEST(Costs, EachNumberOfKernelsDecides) {
  const TensorDesc square(DType::F32, {64, 64}), rows(DType::F32, {2048, 65536});
  const TensorDesc batch(DType::F32, {2, 64, 64});
  const std::vector<uint8_t> none(8), byRows = {1, 0, 0, 0, 0, 0, 0, 0};
  std::vector<Turned> all;
  for (std::string_view field : {"small_product_tiles", "small_product_depth",
                                 "small_product_work", "multiprocessors"})
    all.push_back({field, 0, "gemm_f32_tile_v0", OpKind::Gemm, none,
                   {square, square}, {square}, true});
  for (std::string_view field : {"small_batch_tiles", "small_product_depth"})
    all.push_back({field, 0, "batched_gemm_f32_tile_v0", OpKind::BatchedGemm,
                   none, {batch, batch}, {batch}, true});
  for (auto [field, number] :
       {std::pair("group_elements", int64_t(1) << 40),
        std::pair("group_turns", int64_t(0)),
        std::pair("group_functions", int64_t(0)),
        std::pair("group_reductions", int64_t(0)),
        std::pair("multiprocessors", int64_t(1) << 40)})
    all.push_back({field, number, "softmax_graph_v0", OpKind::Softmax, {},
                   {rows}, {rows}, true});
  const TensorDesc long8(DType::F32, {8, 65536}), sums(DType::F32, {8});
  for (auto [field, number] : {std::pair("sum_elements", int64_t(1) << 40),
                               std::pair("many_sums", int64_t(0))})
    all.push_back({field, number, "reduce_sum_f32_strided_v0",
                   OpKind::ReduceSum, byRows, {long8}, {sums}, false});
  std::set<std::string_view> turned;
  for (const Turned &t : all) {
    StatusOr<TypedBody> call = TypedBody::create(
        t.kind, t.attrs, {t.ins.data(), t.ins.size()},
        {t.outs.data(), t.outs.size()});
    ASSERT_TRUE(call.ok()) << call.status().toString();
    const KernelRow *row = findKernel(DeviceKind::CUDA, t.kid);
    ASSERT_TRUE(row && row->accepts(*call)) << t.kid;
    Costs costs = defaultCosts(DeviceKind::CUDA);
    EXPECT_EQ(row->isWorthChoosing(*call, costs), t.pays) << t.field;
    costs.*findCostField(t.field)->member = t.number;
    EXPECT_EQ(row->isWorthChoosing(*call, costs), !t.pays) << t.field;
    turned.insert(t.field);
  }
  // Every number of kernels is among them.
  bool isOfKernels = false;
  for (const CostField &field : costFields()) {
    isOfKernels |= field.name == "multiprocessors";
    EXPECT_EQ(turned.count(field.name), isOfKernels) << field.name;
  }
}

/// The table asks the profile that it is given, or that of the device.
TEST(Costs, AKernelIsChosenByThem) {
  const TensorDesc a(DType::F32, {64, 64});
  const TensorDesc ins[] = {a, a};
  StatusOr<TypedBody> call = TypedBody::create(
      OpKind::Gemm, std::vector<uint8_t>(8), {ins, 2}, {&a, 1});
  ASSERT_TRUE(call.ok());
  Costs costs = defaultCosts(DeviceKind::CUDA);
  costs.smallProductTiles = 0;
  EXPECT_EQ(selectKernel(DeviceKind::CUDA, *call)->kid, "gemm_f32_tile_v0");
  EXPECT_EQ(selectKernel(DeviceKind::CUDA, *call, {false, {}, &costs})->kid,
            "gemm_f32_lt_v0");
}

} // namespace
