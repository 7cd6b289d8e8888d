//===- aicf-opt.cpp - runs passes on .mlir files --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// mlir-opt with our dialects and passes. The output file is written when all
// went well, and atomically: a failure leaves an older one, and input and
// output may be one file.
//===----------------------------------------------------------------------===//

#include "aicf/Compiler.h"
#include "lib/Target/ToolOutput.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

/// Runs the passes of the command line on `input`.
static LogicalResult run(StringRef input, StringRef output,
                         DialectRegistry &registry, std::string &error) {
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &error);
  if (!file)
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(MlirOptMain(stream, std::move(file), registry,
                         MlirOptMainConfig::createFromCLOptions())))
    return failure();
  return aicf::writeToolOutput(output, llvm::arrayRefFromStringRef(text),
                               error);
}

int main(int argc, char **argv) {
  aicf::hideRegisteredOptions();
  DialectRegistry registry;
  aicf::registerAllDialects(registry);
  // What the bridges speak.
  registry.insert<linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                  tensor::TensorDialect>();
  aicf::registerAllPasses();
  aicf::registerAllPipelines();
  registerTransformsPasses();
  aicf::addVersionPrinter("aicf-opt");
  auto [input, output] =
      registerAndParseCLIOptions(argc, argv, "AICF pass driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (output == "-" || config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  std::string error;
  LogicalResult done = run(input, output, registry, error);
  if (!error.empty())
    llvm::errs() << "aicf-opt: " << error << "\n";
  return asMainReturnCode(done);
}
