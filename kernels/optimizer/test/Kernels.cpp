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

/// The sign of 0 is 0; that of NaN is NaN.
TEST(Kernels, LionStepOfZeroAndNaN) {
  Operand none;
  none.reference.desc = TensorDesc::absent();
  Case lion;
  Operand zero = operandOf(DType::F32, {4}, {0, 0, 0, 0});
  lion.ins = {operandOf(DType::F32, {4}, {1, 1, 1, 1}),
              operandOf(DType::F32, {4}, {3, 0, -1e-30, NAN}),
              zero,
              operandOf(DType::F32, {}, {0.25}),
              none,
              none};
  lion.outs = {zero, zero};
  lion.attrs = encodeAttrs(LionStepAttrs{0.9, 0.99, 0});
  std::vector<double> p = resultOf(OpKind::LionStep, lion);
  EXPECT_EQ(std::vector<double>(p.begin(), p.begin() + 3),
            (std::vector<double>{0.75, 1, 1.25}));
  EXPECT_TRUE(std::isnan(p[3]));
}

} // namespace
