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

namespace {

class Inference : public testing::Test {
protected:
  Inference() : context(registryOfAll()), b(&context) {
    context.loadAllAvailableDialects();
  }

  static DialectRegistry registryOfAll() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }
  RankedTensorType tensorOf(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, b.getF32Type());
  }
  NamedAttribute numbers(StringRef name, ArrayRef<int64_t> values) {
    return b.getNamedAttr(name, b.getDenseI64ArrayAttr(values));
  }
  NamedAttribute number(StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  }

  /// The result types of op aicf.`name`, or nothing if they cannot be inferred.
  /// What is said goes to `text`.
  std::optional<SmallVector<Type>>
  infer(StringRef name, ArrayRef<Type> operands,
        ArrayRef<NamedAttribute> attributes = {}, bool hasLocation = true) {
    Block block;
    Location loc = b.getUnknownLoc();
    for (Type type : operands)
      block.addArgument(type, loc);
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &d) { text += d.str() + "\n"; });
    OperationName op(("aicf." + name).str(), &context);
    SmallVector<Type> types;
    if (failed(op.getInterface<InferTypeOpInterface>()->inferReturnTypes(
            &context, hasLocation ? std::optional(loc) : std::nullopt,
            block.getArguments(),
            attributes.empty() ? DictionaryAttr()
                               : b.getDictionaryAttr(attributes),
            nullptr, {}, types)))
      return std::nullopt;
    return types;
  }

  MLIRContext context;
  Builder b;
  std::string text;
};

TEST_F(Inference, FailsOfOperandsThatAreNoRankedTensors) {
  struct {
    StringRef name;
    SmallVector<Type> operands;
    SmallVector<NamedAttribute> attributes;
  } ops[] = {
      {"linear", {tensorOf({4, 3}), tensorOf({2, 3})}, {}},
      {"linear_bwd",
       {tensorOf({4, 2}), tensorOf({4, 3}), tensorOf({2, 3})},
       {}},
      {"argmax", {tensorOf({4})}, {}},
      {"softmax", {tensorOf({4})}, {}},
      {"add", {tensorOf({4}), tensorOf({4})}, {}},
      {"pad", {tensorOf({4})}, {number("axis", 0), number("size", 8)}},
      {"concat", {tensorOf({4}), tensorOf({4})}, {number("axis", 0)}},
      {"cast",
       {tensorOf({4})},
       {b.getNamedAttr("dtype", TypeAttr::get(b.getF64Type()))}},
      {"reduce_sum", {tensorOf({4})}, {numbers("axes", {0})}},
      {"reduce_max", {tensorOf({4})}, {numbers("axes", {0})}},
      {"extremum_bwd",
       {tensorOf({4}), tensorOf({4})},
       {numbers("axes", {1}), numbers("shape", {4, 2})}},
      {"reshape", {tensorOf({4})}, {numbers("shape", {2, 2})}},
      {"broadcast", {tensorOf({4})}, {numbers("shape", {2, 4})}},
      {"transpose", {tensorOf({4})}, {numbers("permutation", {0})}},
      {"slice", {tensorOf({4})}, {numbers("begin", {0}), numbers("end", {2})}},
  };
  for (auto &op : ops) {
    EXPECT_TRUE(infer(op.name, op.operands, op.attributes)) << op.name.str();
    for (Type &operand : op.operands)
      for (Type wrong : {Type(UnrankedTensorType::get(b.getF32Type())),
                         Type(b.getF32Type())}) {
        Type right = std::exchange(operand, wrong);
        EXPECT_FALSE(infer(op.name, op.operands, op.attributes))
            << op.name.str();
        operand = right;
      }
  }
}

TEST_F(Inference, FailsWithoutOperands) {
  EXPECT_FALSE(infer("concat", {}, {number("axis", 0)}));
  EXPECT_FALSE(infer("all_finite", {}));
}

TEST_F(Inference, FailsWithoutAttributes) {
  Type x = tensorOf({4});
  for (StringRef name : {"reshape", "broadcast", "transpose", "slice",
                         "reduce_sum", "cast", "pad", "uniform"})
    EXPECT_FALSE(infer(name, x)) << name.str();
  EXPECT_FALSE(infer("slice", x, numbers("begin", {0})));
  EXPECT_FALSE(infer("slice", x, numbers("end", {2})));
  EXPECT_FALSE(infer("uniform", RankedTensorType::get({}, b.getI64Type()),
                     number("seed", 0)));
  EXPECT_FALSE(infer("extremum_bwd", {x, x}, numbers("axes", {1})));
  EXPECT_FALSE(infer("extremum_bwd", {x, x}, numbers("shape", {4, 2})));
  EXPECT_FALSE(infer("constant", {}));
  EXPECT_FALSE(infer("iota", {}, number("axis", 0)));
  EXPECT_NE(text.find("'aicf.iota' op requires attribute 'shape'"),
            std::string::npos)
      << text;
}

TEST_F(Inference, SaysNothingWithoutLocation) {
  EXPECT_FALSE(infer("add", {tensorOf({4}), tensorOf({5})}, {}, false));
  EXPECT_FALSE(infer("pad", tensorOf({4}), number("axis", 0), false));
  EXPECT_EQ(text, "");
}

// Only a check that has a location refuses these, and a dimension that is not
// there has size 1 until then.
TEST_F(Inference, OfViewsThatAreNotChecked) {
  auto sizes = [&](StringRef name, ArrayRef<NamedAttribute> attributes) {
    auto types = infer(name, tensorOf({4, 4}), attributes, false);
    return types ? SmallVector<int64_t>(
                       cast<RankedTensorType>(types->front()).getShape())
                 : SmallVector<int64_t>();
  };
  const int64_t far = int64_t(1) << 40;
  using Sizes = SmallVector<int64_t>;
  EXPECT_EQ(sizes("transpose", numbers("permutation", {-far, far})),
            (Sizes{1, 1}));
  EXPECT_EQ(sizes("slice", {numbers("begin", {0, 3}), numbers("end", {4, 1}),
                            numbers("step", {0, 1})}),
            (Sizes{1, 1}));
}

TEST_F(Inference, RefusesConstantOfMoreThanAMegabyte) {
  auto value = [&](int64_t elements) {
    std::vector<float> numbers(elements);
    numbers.back() = 1; // one number that repeats is always fine
    return b.getNamedAttr("value",
                          DenseElementsAttr::get(tensorOf({elements}),
                                                 ArrayRef<float>(numbers)));
  };
  EXPECT_TRUE(infer("constant", {}, value(1 << 18)));
  EXPECT_FALSE(infer("constant", {}, value((1 << 18) + 1)));
  EXPECT_NE(text.find("C1: value has 1048580 bytes, the limit is 1048576"),
            std::string::npos)
      << text;
}

TEST_F(Inference, KnowsTheTensorsOfAPlan) {
  EXPECT_TRUE(step::isAbiTensor(tensorOf({4, 3})));
  EXPECT_TRUE(step::isAbiTensor(tensorOf(SmallVector<int64_t>(8, 1))));
  // A plan counts dimensions in 8 bits.
  for (size_t rank : {9, 256, 257})
    EXPECT_FALSE(step::isAbiTensor(tensorOf(SmallVector<int64_t>(rank, 1))));
  EXPECT_FALSE(step::isAbiTensor(tensorOf({ShapedType::kDynamic})));
  EXPECT_FALSE(step::isAbiTensor(tensorOf({0})));
  EXPECT_FALSE(step::isAbiTensor(RankedTensorType::get({4}, b.getI8Type())));
  EXPECT_FALSE(step::isAbiTensor(
      RankedTensorType::get({4}, b.getF32Type(), b.getStringAttr("sparse"))));
}

} // namespace
