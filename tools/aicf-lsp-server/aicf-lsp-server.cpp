//===- aicf-lsp-server.cpp - the dialects for editors ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::aicf::AICFDialect, mlir::aicf_rt::AICFRTDialect,
                  mlir::func::FuncDialect>();
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
