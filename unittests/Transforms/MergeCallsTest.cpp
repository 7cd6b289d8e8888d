//===- MergeCallsTest.cpp - where a call of several may stand -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Nodes of today's patterns read each other in one row, and a fused call stands
// where the last of them does. A pattern of another shape would come here.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/MergeCalls.h"
#include "aicf/Compiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {

class MergeCalls : public testing::Test {
protected:
  MergeCalls() : context(registryOfAll()) {
    const char *text = R"(
      func.func @f(%x: tensor<4xf32>) {
        %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
        %b = aicf_rt.call exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
        %c = aicf_rt.call tanh(%a) : (tensor<4xf32>) -> tensor<4xf32>
        %d = aicf_rt.call exp(%c) : (tensor<4xf32>) -> tensor<4xf32>
        %e = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
        %n = aicf_rt.call cast(%x) : (tensor<4xf32>) -> tensor<4xi32>
        %m = aicf_rt.call cast(%x) : (tensor<4xf32>) -> tensor<4xi64>
        %y = aicf_rt.call cast(%m) : (tensor<4xi64>) -> tensor<4xf32>
        return
      })";
    module = parseSourceString<ModuleOp>(text, &context);
    module->walk([&](CallOp call) { calls.push_back(call); });
  }

  static DialectRegistry registryOfAll() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }
  /// Whether `parts` in one call, which has all of their results, may stand at
  /// call `at`.
  bool mayStand(ArrayRef<size_t> parts, size_t at) {
    SmallVector<CallOp> chosen;
    for (size_t part : parts)
      chosen.push_back(calls[part]);
    MergedCall merged = mergeCalls(chosen, [](Value) { return false; });
    return mayStandAt(merged, chosen, calls[at]);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  SmallVector<CallOp> calls;
};

/// The part that reads it would have to stand behind the call.
TEST_F(MergeCalls, AResultOfALaterPartIsNotAnOperand) {
  EXPECT_TRUE(mayStand({2, 3}, 4));
  EXPECT_FALSE(mayStand({3, 2}, 4));
}

TEST_F(MergeCalls, WhatOthersMakeIsMadeBefore) {
  EXPECT_TRUE(mayStand({1, 3}, 3));
  EXPECT_FALSE(mayStand({1, 3}, 1));
}

/// A cast to i64 that stays inside is not the cast to i32 of the same value.
TEST_F(MergeCalls, CastsDoNotSayWhatTheyCompute) {
  CallOp parts[] = {calls[5], calls[6], calls[7]};
  Value inside = calls[6].getResult(0);
  MergedCall merged =
      mergeCalls(parts, [&](Value value) { return value == inside; });
  const Body &body = merged.body.getBody();
  ASSERT_EQ(body.primitives.size(), 3u);
  EXPECT_EQ(body.primitives[2].operands, std::vector<int32_t>{2});
}

/// Parts read results of parts inside of the call, wherever they stood.
TEST_F(MergeCalls, OnlyPartsReadAResultBefore) {
  EXPECT_TRUE(mayStand({0, 1}, 2));
  EXPECT_FALSE(mayStand({0, 2}, 2));
  EXPECT_TRUE(mayStand({0, 1, 2}, 3));
}

} // namespace
