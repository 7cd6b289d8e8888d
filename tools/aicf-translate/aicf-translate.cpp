//===- aicf-translate.cpp - aicf_rt.plan to plan files and back -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// mlir-translate's flags, but the output file is written when all went well,
// and atomically: a failure leaves an older plan as it was.
//===----------------------------------------------------------------------===//

#include "aicf/Compiler.h"
#include "lib/Target/ToolOutput.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

namespace cl = llvm::cl;
using namespace mlir;

static cl::OptionCategory category("aicf-translate options");

static cl::opt<std::string> input(cl::Positional, cl::cat(category),
                                  cl::desc("<plan.mlir>"), cl::init("-"));
static cl::opt<std::string>
    output("o", cl::cat(category),
           cl::desc("File to write, - for standard output"), cl::init("-"));
static cl::opt<bool>
    toPlan("aicf-to-plan", cl::cat(category),
           cl::desc("Write the aicf_rt.plan of a module as a plan file"));
static cl::opt<bool> fromPlan("plan-to-aicf", cl::cat(category),
                              cl::desc("Write a plan file as aicf_rt.plan"));
static cl::opt<bool> splitInput("split-input-file", cl::cat(category),
                                cl::desc("Translate each part of the file"));
static cl::opt<bool> verifyDiagnostics("verify-diagnostics", cl::cat(category),
                                       cl::desc("Check expected-error lines"));

/// Appends the plan of one part of the input to `bytes`.
static LogicalResult translate(llvm::SourceMgr &sources, MLIRContext &context,
                               std::vector<uint8_t> &bytes) {
  auto module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return failure();
  FailureOr<aicf::Plan> plan = aicf::translateToPlan(*module);
  if (failed(plan))
    return failure();
  std::vector<uint8_t> file = plan->serialize();
  bytes.insert(bytes.end(), file.begin(), file.end());
  return success();
}

static LogicalResult translateBuffer(std::unique_ptr<llvm::MemoryBuffer> file,
                                     std::vector<uint8_t> &bytes) {
  DialectRegistry registry;
  aicf::registerAllDialects(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(!verifyDiagnostics);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  if (!verifyDiagnostics) {
    SourceMgrDiagnosticHandler handler(*sources, &context);
    return translate(*sources, context, bytes);
  }
  SourceMgrDiagnosticVerifierHandler handler(*sources, &context);
  (void)translate(*sources, context, bytes);
  return handler.verify();
}

/// The plan file as IR, locations included.
static LogicalResult importPlan(const llvm::MemoryBuffer &file,
                                std::vector<uint8_t> &bytes,
                                std::string &error) {
  aicf::StatusOr<aicf::Plan> plan = aicf::Plan::parse(
      {reinterpret_cast<const uint8_t *>(file.getBufferStart()),
       file.getBufferSize()});
  if (!plan.ok()) {
    error = plan.status().toString();
    return failure();
  }
  DialectRegistry registry;
  aicf::registerAllDialects(registry);
  MLIRContext context(registry);
  std::string text;
  llvm::raw_string_ostream os(text);
  aicf::translateFromPlan(*plan, &context)
      ->print(os, OpPrintingFlags().enableDebugInfo());
  bytes.assign(text.begin(), text.end());
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM prints(argc, argv); // where the tool was, if it crashes
  cl::HideUnrelatedOptions(category);
  aicf::addVersionPrinter("aicf-translate");
  cl::ParseCommandLineOptions(argc, argv, "AICF translation\n");
  if (toPlan == fromPlan) {
    llvm::errs() << "aicf-translate: give either --aicf-to-plan or "
                    "--plan-to-aicf\n";
    return 1;
  }
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &error);
  std::vector<uint8_t> bytes;
  LogicalResult done = failure();
  if (file && fromPlan)
    done = importPlan(*file, bytes, error);
  else if (file)
    done = splitAndProcessBuffer(
        std::move(file),
        [&](std::unique_ptr<llvm::MemoryBuffer> part, raw_ostream &) {
          return translateBuffer(std::move(part), bytes);
        },
        llvm::nulls(), splitInput ? "// -----" : "");
  if (succeeded(done))
    done = aicf::writeToolOutput(output, bytes, error);
  if (!error.empty())
    llvm::errs() << "aicf-translate: " << error << "\n";
  return failed(done);
}
