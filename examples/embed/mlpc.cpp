//===- mlpc.cpp - a compiler that ends in AICF ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// mlpc MODEL.mlir: lowers its own dialect into aicf, runs AICF's pipeline on
// the same pass manager, and executes the plan in this process. Prints the loss
// of the first and the last of 200 steps; exits with 1 when it did not fall.
//===----------------------------------------------------------------------===//

#include "aicf/Compiler.h"
#include "aicf/Executor.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <iostream>

#include "MlpDialect.h.inc"
#define GET_OP_CLASSES
#include "MlpOps.h.inc"

#include "MlpDialect.cpp.inc"
#define GET_OP_CLASSES
#include "MlpOps.cpp.inc"

void mlp::MlpDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "MlpOps.cpp.inc"
      >();
}

namespace {

/// A layer is aicf.linear, and aicf.relu where it says so. The ops infer their
/// result types, and their verifiers refuse what does not fit.
struct LowerLayer : mlir::OpRewritePattern<mlp::LayerOp> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult
  matchAndRewrite(mlp::LayerOp op,
                  mlir::PatternRewriter &rewriter) const override {
    mlir::Value y = aicf::step::LinearOp::create(
        rewriter, op.getLoc(), op.getX(), op.getWeight(), op.getBias());
    if (op.getRelu())
      y = aicf::step::ReluOp::create(rewriter, op.getLoc(), y);
    rewriter.replaceOp(op, y);
    return mlir::success();
  }
};

struct LowerMlp
    : mlir::PassWrapper<LowerMlp, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerMlp)
  llvm::StringRef getArgument() const override { return "lower-mlp"; }
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<aicf::step::AICFDialect>();
  }
  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add<LowerLayer>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

/// MODEL.mlir to a verified plan.
mlir::FailureOr<aicf::Plan> compile(const char *path) {
  mlir::DialectRegistry registry;
  aicf::registerAllDialects(registry);
  registry.insert<mlp::MlpDialect>();
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(path, &context);
  if (!module)
    return mlir::failure();
  mlir::PassManager pm(&context);
  pm.addPass(std::make_unique<LowerMlp>());
  aicf::LowerToBackendOptions options;
  aicf::buildLowerToBackendPipeline(pm, options);
  if (failed(pm.run(*module)))
    return mlir::failure();
  return aicf::translateToPlan(*module);
}

aicf::Status write(aicf::Executor &executor, const char *name, size_t count,
                   float value) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = value * float(i % 7) / 7;
  return executor.write(name, values.data(), count * sizeof(float));
}

/// 200 steps as one graph each; whether the loss fell.
aicf::StatusOr<bool> train(aicf::Plan plan) {
  AICF_ASSIGN_OR_RETURN(auto executor,
                        aicf::Executor::create(
                            std::make_shared<const aicf::Plan>(std::move(plan)),
                            aicf::createCPUDevice()));
  const float rate = 0.01f;
  AICF_RETURN_IF_ERROR(write(*executor, "x", 16 * 8, 1));
  AICF_RETURN_IF_ERROR(write(*executor, "target", 16 * 4, 3));
  AICF_RETURN_IF_ERROR(executor->write("lr", &rate, sizeof(rate)));
  float first = 0, last = 0;
  AICF_RETURN_IF_ERROR(executor->capture("train_step"));
  AICF_RETURN_IF_ERROR(executor->replay("train_step"));
  AICF_RETURN_IF_ERROR(executor->read("loss", &first, sizeof(first)));
  AICF_RETURN_IF_ERROR(executor->replay("train_step", 199));
  AICF_RETURN_IF_ERROR(executor->read("loss", &last, sizeof(last)));
  std::cout << "loss " << first << " after the first step, " << last
            << " after 200\n";
  return last < first;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: mlpc MODEL.mlir\n";
    return 2;
  }
  mlir::FailureOr<aicf::Plan> plan = compile(argv[1]);
  if (failed(plan))
    return 2; // the context has said why
  aicf::StatusOr<bool> fell = train(std::move(*plan));
  if (!fell.ok()) {
    std::cerr << "mlpc: " << fell.status().toString() << "\n";
    return 2;
  }
  return *fell ? 0 : 1;
}
