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
