//===- InferenceTest.cpp - result types of unverified operands ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A builder infers before anything is verified. From text this cannot be
// reached: the parser refuses such operands first.
//===----------------------------------------------------------------------===//

#include "aicf/Compiler.h"
#include "aicf/Dialect/AICF/AICF.h"

#include "mlir/IR/Builders.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace aicf;

TEST(Inference, OfOperandsThatAreNoRankedTensors) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  Builder b(&context);
  Type wrong[] = {UnrankedTensorType::get(b.getF32Type()), b.getF32Type()};
  for (Type type : wrong) {
    Block block;
    Location loc = b.getUnknownLoc();
    Value x = block.addArgument(type, loc);
    Value weight =
        block.addArgument(RankedTensorType::get({2, 4}, b.getF32Type()), loc);
    SmallVector<Type> types;
    EXPECT_TRUE(failed(step::LinearOp::inferReturnTypes(
        &context, loc, ValueRange{x, weight}, DictionaryAttr(), nullptr, {},
        types)));
    for (StringRef name :
         {"aicf.argmax", "aicf.broadcast", "aicf.reduce_sum", "aicf.reduce_max",
          "aicf.reshape", "aicf.slice", "aicf.transpose", "aicf.pad",
          "aicf.concat", "aicf.cast", "aicf.softmax"}) {
      OperationName op(name, &context);
      auto *inferred = op.getInterface<InferTypeOpInterface>();
      ASSERT_TRUE(inferred) << name.str();
      types.clear();
      (void)inferred->inferReturnTypes(&context, loc, ValueRange{x},
                                       DictionaryAttr(), nullptr, {}, types);
    }
  }
}
