//===- aicf-opt.cpp - runs passes on .mlir files --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::aicf::AICFDialect, mlir::aicf_rt::AICFRTDialect,
                  mlir::func::FuncDialect>();
  mlir::aicf::registerAICFPasses();
  mlir::aicf::registerAICFPipelines();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "AICF pass driver\n", registry));
}
