//===- Kernels.cpp - values that the f64 table does not reach -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/KernelCase.h"

#include "lib/Ops/KernelTable.h"

#include <cmath>
#include <cstring>

using namespace aicf;
using namespace aicf::test;

namespace {

/// The scale comes back from wherever it was, and 1/scale is finite.
TEST(Kernels, LossScaleStaysInRange) {
  struct Row {
    float scale;
    int32_t ok;
    float expected;
  };
  const Row rows[] = {{0x1p-24f, 0, 0x1p-24f}, {0x1p-23f, 0, 0x1p-24f},
                      {0, 1, 0x1p-24f},        {-4, 0, 0x1p-24f},
                      {NAN, 0, 0x1p-24f},      {NAN, 1, 0x1p-24f},
                      {INFINITY, 0, 0x1p126f}, {INFINITY, 1, 0x1p126f},
                      {0x1p126f, 1, 0x1p126f}, {65536, 0, 32768},
                      {65536, 1, 131072},      {0x1p-24f, 1, 0x1p-23f}};
  for (const Row &row : rows) {
    Case c;
    for (double v : {double(row.scale), 0.0, double(row.ok)}) {
      DType dtype = c.ins.empty() ? DType::F32 : DType::I32;
      Operand o;
      o.reference.desc = TensorDesc(dtype, {});
      o.bytes.resize(4);
      store(o, 0, v);
      o.reference.values = {v};
      c.ins.push_back(o);
    }
    c.outs = {c.ins[0], c.ins[1]};
    c.attrs = encodeAttrs(LossScaleUpdateAttrs{2, 0.5, 1});
    ASSERT_TRUE(call(OpKind::LossScaleUpdate, c, 1).ok());
    EXPECT_EQ(load(c.outs[0], 0), row.expected) << row.scale << " " << row.ok;
    std::vector<reference::Tensor> ins,
        outs = {c.outs[0].reference, c.outs[1].reference};
    for (Operand &o : c.ins)
      ins.push_back(o.reference);
    reference::run(OpKind::LossScaleUpdate, ins, outs, c.attrs);
    EXPECT_EQ(outs[0].values[0], row.expected) << row.scale << " " << row.ok;
  }
}

/// A counter stays at the largest number of its type: it does not wrap.
TEST(Kernels, StepIncSaturates) {
  auto device = makeDevice();
  auto next = [&](auto start, int calls) {
    using Int = decltype(start);
    Case c;
    Operand o;
    o.reference.desc =
        TensorDesc(sizeof(Int) == 4 ? DType::I32 : DType::I64, {});
    o.bytes.resize(sizeof(Int));
    std::memcpy(o.bytes.data(), &start, sizeof(Int));
    Operand ok;
    ok.reference.desc = TensorDesc::absent();
    c.outs = {o};
    c.ins = {o, ok};
    for (int i = 0; i < calls; ++i) {
      EXPECT_TRUE(call(OpKind::StepInc, c, 1).ok());
      c.ins[0].bytes = c.outs[0].bytes;
    }
    std::memcpy(&start, c.outs[0].bytes.data(), sizeof(Int));
    return start;
  };
  EXPECT_EQ(next(INT32_MAX - 1, 1), INT32_MAX);
  EXPECT_EQ(next(INT32_MAX - 1, 3), INT32_MAX);
  EXPECT_EQ(next(INT64_MAX - 1, 1), INT64_MAX);
  EXPECT_EQ(next(INT64_MAX, 2), INT64_MAX);
  EXPECT_EQ(next(int32_t(-1), 1), 0);
}

/// Below the limit gradients stay what they are; NaN stays NaN.
TEST(Kernels, ClipFactorAtTheLimit) {
  auto factor = [](double norm, double inverse, double most) {
    Case c;
    c.ins = {operandOf(DType::F32, {}, {norm}),
             operandOf(DType::F32, {}, {inverse})};
    c.outs = {operandOf(DType::F32, {}, {9})};
    c.attrs = encodeAttrs(ClipFactorAttrs{most});
    return resultOf(OpKind::ClipFactor, c)[0];
  };
  EXPECT_EQ(factor(0.5, 1, 1), 1);
  EXPECT_EQ(factor(0, 0.125, 1), 0.125);
  EXPECT_NEAR(factor(4, 1, 1), 0.25, 1e-6);
  EXPECT_NEAR(factor(64, 0.125, 2), 0.125 * 0.25, 1e-6);
  EXPECT_EQ(factor(INFINITY, 1, 1), 0);
  EXPECT_TRUE(std::isnan(factor(NAN, 1, 1)));
}

/// More operands than one launch takes, with every size of workspace; calls
/// check(result, bytes of workspace).
template <typename Check>
void runOnManyOperands(OpKind kind, Operand result,
                       const std::vector<double> &third, Check check) {
  for (int64_t bytes : {0, 4, 8, 16, 256, 8192}) {
    Case c;
    for (double last : third)
      c.ins.push_back(operandOf(DType::F32, {3}, {1, 1, last}));
    c.outs.push_back(result);
    auto device = makeDevice();
    OnDevice memory(*device, c);
    TensorView workspace;
    if (bytes)
      workspace = {memory.upload(std::vector<uint8_t>(size_t(bytes))),
                   TensorDesc(DType::I32, {bytes / 4})};
    Status status = memory.run(kind, "auto", workspace);
    ASSERT_TRUE(status.ok()) << status.toString();
    memory.fetch();
    check(load(c.outs[0], 0), bytes);
  }
}

TEST(Kernels, AllFiniteOfManyOperands) {
  for (int bad : {-1, 0, 299}) {
    std::vector<double> third(300, 1);
    if (bad >= 0)
      third[size_t(bad)] = INFINITY;
    runOnManyOperands(OpKind::AllFinite, operandOf(DType::I32, {}, {9}), third,
                      [&](double ok, int64_t bytes) {
                        EXPECT_EQ(ok, bad < 0) << bytes << " bytes, " << bad;
                      });
  }
}

TEST(Kernels, GlobalNormOfManyOperands) {
  std::vector<double> third(600, 1);
  third[300] = 3;  // 9
  third[599] = -5; // 25
  runOnManyOperands(OpKind::GlobalNorm, operandOf(DType::F32, {}, {9}), third,
                    [&](double norm, int64_t bytes) {
                      EXPECT_NEAR(norm, std::sqrt(1798.0 + 9 + 25), 1e-5)
                          << bytes << " bytes";
                    });
}

/// Squares that f32 does not hold.
TEST(Kernels, GlobalNormOfLargeAndSmallNumbers) {
  for (double size : {1e30, 1e-30}) {
    Case c;
    c.ins = {operandOf(DType::F32, {2}, {3 * size, 0}),
             operandOf(DType::F32, {1}, {-4 * size})};
    c.outs = {operandOf(DType::F32, {}, {9})};
    EXPECT_NEAR(resultOf(OpKind::GlobalNorm, c)[0] / size, 5, 1e-5);
  }
}

} // namespace
