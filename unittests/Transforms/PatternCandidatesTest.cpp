//===- PatternCandidatesTest.cpp - calls that may be nodes of a pattern ---===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Patterns that no family has; those of families: test/Transforms/fuse-calls*.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/PatternCandidates.h"
#include "aicf/Compiler.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {

/// Two nodes of one kind that read the same value are two calls.
TEST(PatternCandidates, OneCallIsNotTwoNodes) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  auto module = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
      %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return
    })",
                                            &context);
  ASSERT_TRUE(module);
  func::FuncOp func = *module->getOps<func::FuncOp>().begin();
  const NodeInfo nodes[] = {{"one", OpKind::Relu, false},
                            {"two", OpKind::Relu, false}};
  const BindingInfo bindings[] = {{{1, 0}, {0, 0}, /*isResult=*/false}};
  PatternInfo pattern{};
  pattern.name = "twice";
  pattern.nodes = {nodes, 2};
  pattern.bindings = {bindings, 1};
  PatternCandidates candidates(func, pattern);
  ASSERT_EQ(candidates.getAnchors().size(), 2u);
  SmallVector<SmallVector<CallOp>> choices;
  candidates.anyChoice(cast<CallOp>(candidates.getAnchors()[0]),
                       [&](ArrayRef<CallOp> parts) {
                         choices.emplace_back(parts);
                         return false;
                       });
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_NE(choices[0][0], choices[0][1]);
}

} // namespace
