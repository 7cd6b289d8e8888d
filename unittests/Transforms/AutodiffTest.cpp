//===- AutodiffTest.cpp - ops of another dialect are differentiated -------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A dialect that knows nothing of AICF, and models of DifferentiableOpInterface
// from outside. Ops of aicf: test/Transforms/autodiff*.mlir.
//===----------------------------------------------------------------------===//

#include "aicf/Compiler.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace aicf;

namespace {

/// One operand, one result of its type, no effects.
template <typename Concrete>
class ToyOp : public Op<Concrete, OpTrait::OneOperand, OpTrait::OneResult,
                        OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
                        MemoryEffectOpInterface::Trait> {
public:
  using Base = Op<Concrete, OpTrait::OneOperand, OpTrait::OneResult,
                  OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
                  MemoryEffectOpInterface::Trait>;
  using Base::Base;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
};

class CubeOp : public ToyOp<CubeOp> {
public:
  using ToyOp::ToyOp;
  static StringRef getOperationName() { return "toy.cube"; }
};
class WrongOp : public ToyOp<WrongOp> {
public:
  using ToyOp::ToyOp;
  static StringRef getOperationName() { return "toy.wrong"; }
};
class TwiceOp : public ToyOp<TwiceOp> {
public:
  using ToyOp::ToyOp;
  static StringRef getOperationName() { return "toy.twice"; }
};
class NothingOp : public ToyOp<NothingOp> {
public:
  using ToyOp::ToyOp;
  static StringRef getOperationName() { return "toy.nothing"; }
};
class PlainOp : public ToyOp<PlainOp> {
public:
  using ToyOp::ToyOp;
  static StringRef getOperationName() { return "toy.plain"; }
};

class ToyDialect : public Dialect {
public:
  explicit ToyDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ToyDialect>()) {
    addOperations<CubeOp, WrongOp, TwiceOp, NothingOp, PlainOp>();
  }
  static StringRef getDialectNamespace() { return "toy"; }
};

/// d x³ = 3·x².
struct CubeModel
    : step::DifferentiableOpInterface::ExternalModel<CubeModel, CubeOp> {
  LogicalResult buildGradients(Operation *op, step::GradientBuilder &g) const {
    OpBuilder &b = g.builder();
    Value x = g.saved(op->getOperand(0));
    Value square = step::MulOp::create(b, op->getLoc(), x, x);
    Value slope =
        step::ScaleOp::create(b, op->getLoc(), square, llvm::APFloat(3.0));
    g.add(op->getOperand(0),
          step::MulOp::create(b, op->getLoc(), g.cotangent(op->getResult(0)),
                              slope));
    return success();
  }
};

struct WrongModel
    : step::DifferentiableOpInterface::ExternalModel<WrongModel, WrongOp> {
  LogicalResult buildGradients(Operation *op, step::GradientBuilder &g) const {
    g.add(op->getOperand(0),
          step::CastOp::create(g.builder(), op->getLoc(),
                               g.cotangent(op->getResult(0)),
                               TypeAttr::get(g.builder().getF64Type())));
    return success();
  }
};

/// Right at first, then wrong.
struct TwiceModel
    : step::DifferentiableOpInterface::ExternalModel<TwiceModel, TwiceOp> {
  LogicalResult buildGradients(Operation *op, step::GradientBuilder &g) const {
    g.add(op->getOperand(0), g.cotangent(op->getResult(0)));
    return WrongModel().buildGradients(op, g);
  }
};

/// Zero everywhere, as of a function that is constant.
struct NothingModel
    : step::DifferentiableOpInterface::ExternalModel<NothingModel, NothingOp> {
  LogicalResult buildGradients(Operation *op, step::GradientBuilder &g) const {
    g.add(op->getOperand(0), Value());
    return success();
  }
};

/// Differentiates mean((op(W) - t)²); the IR, or what was said.
std::string differentiate(StringRef op) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registry.insert<ToyDialect>();
  registry.addExtension(+[](MLIRContext *context, ToyDialect *) {
    CubeOp::attachInterface<CubeModel>(*context);
    WrongOp::attachInterface<WrongModel>(*context);
    TwiceOp::attachInterface<TwiceModel>(*context);
    NothingOp::attachInterface<NothingModel>(*context);
  });
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    text += diagnostic.str();
    return success();
  });
  std::string source =
      ("func.func @step(%t: tensor<4xf32> {aicf.role = \"input\", aicf.name = "
       "\"t\"}, %W: tensor<4xf32> {aicf.role = \"param\", aicf.name = \"W\"}) "
       "-> (tensor<f32> {aicf.name = \"loss\", aicf.minimize}) {\n"
       "  %y = \"toy." +
       op +
       "\"(%W) : (tensor<4xf32>) -> tensor<4xf32>\n"
       "  %l = aicf.mse_loss %y, %t : tensor<4xf32>, tensor<4xf32>\n"
       "  return %l : tensor<f32>\n}\n")
          .str();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  if (!module)
    return text;
  PassManager pm(&context);
  pm.addPass(createAutodiff());
  if (succeeded(pm.run(*module))) {
    llvm::raw_string_ostream os(text);
    module->print(os);
  }
  return text;
}

TEST(Autodiff, AsksAModelOfAnotherDialectsOp) {
  std::string text = differentiate("cube");
  for (const char *line :
       {"%0 = \"toy.cube\"(%arg1)", "%1 = aicf.save %0",
        "%3 = aicf.mse_grad %1, %arg0", "%4 = aicf.mul %arg1, %arg1",
        "%5 = aicf.scale %4 {factor = 3.000000e+00 : f64}",
        "%6 = aicf.mul %3, %5", "return %2, %6"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST(Autodiff, RefusesACotangentOfAnotherType) {
  for (std::string op : {"wrong", "twice"})
    EXPECT_EQ(differentiate(op),
              "'toy." + op + "' op " +
                  "gave an operand a cotangent of another type than its own");
}

TEST(Autodiff, TakesNoCotangentForZero) {
  EXPECT_EQ(differentiate("nothing"),
            "the loss does not depend on parameter \"W\" (argument 1): mark it "
            "aicf.frozen if this is meant");
}

TEST(Autodiff, RefusesAnOpWithoutAModel) {
  EXPECT_EQ(differentiate("plain"),
            "'toy.plain' op has no derivative: it cuts the loss off from "
            "parameter \"W\": mark that aicf.frozen, or, if it is trained "
            "elsewhere, put aicf.stop_gradient on the operand");
}

} // namespace

MLIR_DECLARE_EXPLICIT_TYPE_ID(ToyDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(ToyDialect)
