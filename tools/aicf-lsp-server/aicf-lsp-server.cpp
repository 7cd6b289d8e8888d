//===- aicf-lsp-server.cpp - the dialects for editors ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Compiler.h"
#include "lib/Target/ToolOutput.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

#include "llvm/Support/InitLLVM.h"

int main(int argc, char **argv) {
  llvm::InitLLVM prints(argc, argv); // where the server was, if it crashes
  aicf::hideRegisteredOptions();
  aicf::addVersionPrinter("aicf-lsp-server");
  mlir::DialectRegistry registry;
  aicf::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
