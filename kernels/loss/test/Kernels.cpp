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

/// 0.25 * (3e38 - -3e38) is 1.5e38: no reason to overflow.
TEST(Kernels, MseGradDoesNotOverflowEarly) {
  size_t kernels = 0;
  for (const KindRow &row : allCallRows()) {
    Sample sample = makeSample(row, 1, 4, DType::F32);
    PatternId pattern = typedBodyOf(sample)->pattern();
    if (pattern != patterns::MseGrad && pattern != patterns::MseLossGrad)
      continue;
    Case fresh = withBody(row.kind, makeCase(row, sample, 1));
    for (Operand &o : fresh.ins)
      for (size_t i = 0; i < size_t(o.reference.desc.elements()); ++i)
        store(o, i, &o == &fresh.ins[0] ? 3e38 : -3e38);
    auto body = std::make_shared<Body>(*fresh.body);
    body->primitives.back().attrs = encodeAttrs(MseGradAttrs{0.25});
    fresh.body = body;
    if (fresh.ins.size() > 2) // a loss scale
      store(fresh.ins[2], 0, 1);
    for (const KernelRow *kernel : kernelsTaking(row.kind, fresh)) {
      Case c = fresh;
      Status status = call(row.kind, c, 1, kernel->kid);
      ASSERT_TRUE(status.ok()) << status.toString();
      ++kernels;
      for (size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(load(c.outs.back(), i), 1.5e38, 1e32) << kernel->kid;
    }
  }
  EXPECT_GT(kernels, 0u);
}

/// What PyTorch does: a mean over no row is NaN, rows that are ignored have no
/// gradient. A label that is not a class must not read beyond the logits.
TEST(Kernels, CrossEntropyOfLabelsThatAreNotClasses) {
  const KindRow &loss = sampleCallRow("softmax_cross_entropy"),
                &grad = sampleCallRow("softmax_cross_entropy_grad");
  struct Row {
    std::vector<int32_t> labels;
    bool isLossFinite;
  };
  const Row rows[] = {{{1, 0, 2}, true},          {{1, -100, -100}, true},
                      {{1, 9, 2}, false},         {{1, -1, 2}, false},
                      {{INT32_MAX, 0, 1}, false}, {{0, 1, INT32_MIN}, false},
                      {{-100, -100, -100}, false}};
  for (const Row &row : rows)
    for (const KindRow *kind : {&loss, &grad})
      // A warp's row, and a block's.
      for (int64_t n : {9, 1500}) {
        Case c = makeCase(*kind, makeSample(*kind, 3, n - 8, DType::F32), 1);
        std::vector<int32_t> labels = row.labels;
        for (int32_t &label : labels)
          label = label == 9 ? int32_t(n) : label; // the first that is none
        std::memcpy(c.ins[1].bytes.data(), labels.data(), 12);
        ASSERT_TRUE(call(kind->kind, c, 1).ok());
        if (kind == &loss) {
          EXPECT_EQ(std::isfinite(load(c.outs[0], 0)), row.isLossFinite);
          continue;
        }
        for (int64_t r = 0; r < 3; ++r)
          for (int64_t j = 0; j < n; ++j) {
            double d = load(c.outs[0], size_t(r * n + j));
            bool isClass = labels[size_t(r)] >= 0 && labels[size_t(r)] < n;
            if (labels[size_t(r)] == -100)
              ASSERT_EQ(d, 0) << r << " " << j;
            else
              ASSERT_EQ(std::isfinite(d), isClass) << r << " " << j;
          }
      }
}

/// Large equal logits have a loss of log 2 and a gradient that sums to 0, and a
/// masked class (-inf) counts for nothing.
void checkLargeAndMaskedLogits(int64_t width) {
  const KindRow &loss = sampleCallRow("softmax_cross_entropy"),
                &grad = sampleCallRow("softmax_cross_entropy_grad");
  for (const KindRow *kind : {&loss, &grad}) {
    Case c = makeCase(*kind, makeSample(*kind, 2, width - 8, DType::F32), 1);
    const size_t n = size_t(c.ins[0].reference.desc.dims[1]);
    c.attrs = encodeAttrs(SoftmaxCrossEntropyAttrs{0, -100});
    for (size_t r = 0; r < 2; ++r)
      for (size_t j = 0; j < n; ++j) {
        double logit = j < 2 ? 1e8 : -INFINITY;
        store(c.ins[0], r * n + j, logit);
        c.ins[0].reference.values[r * n + j] = logit;
      }
    for (size_t r = 0; r < 2; ++r) {
      store(c.ins[1], r, double(r));
      c.ins[1].reference.values[r] = double(r);
    }
    ASSERT_TRUE(call(kind->kind, c, 1).ok());
    std::vector<reference::Tensor> ins, outs = {c.outs[0].reference};
    for (Operand &o : c.ins)
      ins.push_back(o.reference);
    reference::run(kind->kind, ins, outs, c.attrs);
    if (kind == &loss) {
      EXPECT_NEAR(load(c.outs[0], 0), std::log(2.0), 1e-6);
      EXPECT_NEAR(outs[0].values[0], std::log(2.0), 1e-12);
      continue;
    }
    double scale =
        c.ins[2].reference.desc.isAbsent ? 1 : c.ins[2].reference.values[0];
    for (size_t i = 0; i < 2 * n; ++i) {
      double expected = i % n > 1 ? 0 : i % n == i / n ? -0.25 : 0.25;
      EXPECT_NEAR(load(c.outs[0], i), scale * expected, scale * 1e-6) << i;
      EXPECT_NEAR(outs[0].values[i], scale * expected, scale * 1e-12) << i;
    }
  }
}

TEST(Kernels, CrossEntropyOfLargeAndMaskedLogits) {
  checkLargeAndMaskedLogits(9);    // a warp's row on CUDA
  checkLargeAndMaskedLogits(2000); // a block's
}

/// Rows of each kind of block, which shared memory holds or does not. The
/// gradient may lie over the logits, and there may be no workspace.
TEST(Kernels, CrossEntropyWithItsGradient) {
  auto device = makeDevice();
  if (kernelsFor(device->kind(), patterns::SoftmaxCrossEntropyLossGrad).empty())
    GTEST_SKIP() << "the device has no kernel of both";
  size_t rows = 0;
  for (const KindRow &row : allCallRows()) {
    if (typedBodyOf(makeSample(row, 2, 2000, row.usualType()))->pattern() !=
        patterns::SoftmaxCrossEntropyLossGrad)
      continue;
    ++rows;
    for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16})
      for (int64_t width : {1040, 4097, 20001, 50257, 60004, 120003}) {
        if (!row.takes(dtype))
          continue;
        Case fresh = makeCase(row, makeSample(row, 5, width - 8, dtype), 3);
        Case c = fresh;
        OnDevice apart(*device, c);
        ASSERT_TRUE(apart.run(row.kind).ok());
        apart.fetch();
        const std::string where =
            row.name + " of " + c.ins[0].reference.desc.toString();
        for (const Operand &o : c.outs)
          EXPECT_LE(relativeError(o, o.bytes), row.isMixed ? 6e-3 : 3e-6)
              << where;
        OnDevice inPlace(*device, fresh);
        inPlace.outs[1] = inPlace.ins[0];
        ASSERT_TRUE(inPlace.run(row.kind).ok());
        EXPECT_EQ(inPlace.download(inPlace.ins[0]), c.outs[1].bytes) << where;
        OnDevice noRoom(*device, fresh);
        ASSERT_TRUE(noRoom.run(row.kind, "auto", TensorView()).ok());
        EXPECT_EQ(noRoom.download(noRoom.outs[1]), c.outs[1].bytes) << where;
      }
  }
  EXPECT_GE(rows, 2u);
}

/// The loss of a sure and right answer is nothing, of a sure and wrong one the
/// logit.
TEST(Kernels, BceOfLargeLogits) {
  Case c;
  c.ins = {operandOf(DType::F32, {4}, {1e4, -1e4, 1e4, -1e4}),
           operandOf(DType::F32, {4}, {1, 0, 0, 1})};
  c.outs = {operandOf(DType::F32, {}, {0})};
  EXPECT_EQ(resultOf(OpKind::BceWithLogits, c)[0], 5e3);
  c.outs = {operandOf(DType::F32, {4}, {9, 9, 9, 9})};
  c.attrs = encodeAttrs(BceWithLogitsGradAttrs{1});
  c.ins.push_back(Operand());
  c.ins[2].reference.desc = TensorDesc::absent();
  EXPECT_EQ(resultOf(OpKind::BceWithLogitsGrad, c),
            (std::vector<double>{0, 0, 1, -1}));
}

/// A difference of 0 has no direction, NaN has none either and says so.
TEST(Kernels, L1GradOfZeroAndNaN) {
  Operand none;
  none.reference.desc = TensorDesc::absent();
  Case l1;
  l1.ins = {operandOf(DType::F32, {4}, {2, 1, 0, NAN}),
            operandOf(DType::F32, {4}, {1, 1, 1, 1}), none};
  l1.outs = {operandOf(DType::F32, {4}, {9, 9, 9, 9})};
  l1.attrs = encodeAttrs(L1GradAttrs{0.5});
  std::vector<double> d = resultOf(OpKind::L1Grad, l1);
  EXPECT_EQ(std::vector<double>(d.begin(), d.begin() + 3),
            (std::vector<double>{0.5, 0, -0.5}));
  EXPECT_TRUE(std::isnan(d[3]));
}

} // namespace
