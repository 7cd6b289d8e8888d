//===- aicf-compile.cpp - .mlir to a plan file in one go ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// --lower-to-backend and --aicf-to-plan. The output is written atomically: a
// failed compilation leaves an older plan as it was. Exit codes: 0 ok, 2 bad
// flags, input or output.
//===----------------------------------------------------------------------===//

#include "aicf/Compiler.h"
#include "lib/Target/ToolOutput.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

namespace cl = llvm::cl;

static cl::OptionCategory category("aicf-compile options");
static cl::opt<std::string> input(cl::Positional, cl::desc("<step.mlir>"),
                                  cl::Required, cl::cat(category));
static cl::opt<std::string>
    output("o", cl::desc("Plan file to write, - for standard output"),
           cl::Required, cl::cat(category));
static cl::opt<aicf::DeviceKind> target("target",
                                        cl::desc("Device of the plan"),
                                        cl::init(aicf::DeviceKind::CPU),
                                        aicf::targetValues(),
                                        cl::cat(category));
static cl::opt<aicf::OptLevel> optLevel("opt-level",
                                        cl::desc("What is done for speed"),
                                        cl::init(aicf::OptLevel::O2),
                                        aicf::optLevelValues(),
                                        cl::cat(category));
static cl::opt<aicf::MixedDType>
    mixedPrecision("mixed-precision", cl::desc("Forward and backward in it"),
                   cl::init(aicf::MixedDType::None), aicf::precisionValues(),
                   cl::cat(category));
static cl::opt<int64_t> numStreams("streams",
                                   cl::desc("Streams that calls may use"),
                                   cl::init(1), cl::cat(category));
static cl::opt<int64_t>
    maxGroups("max-groups",
              cl::desc("Params that one optimizer call may update"),
              cl::init(256), cl::cat(category));
static cl::opt<std::string>
    profile("profile",
            cl::desc("File of measured kernel times to choose by, as "
                     "aicf-run --profile writes it"),
            cl::cat(category));
static cl::opt<bool> splitStep("split-step",
                               cl::desc("Gradients and update as two entries"),
                               cl::cat(category));
static cl::opt<bool>
    requireInplace("require-inplace",
                   cl::desc("An update that needs a copy is an error"),
                   cl::cat(category));
static cl::opt<aicf::Keep> keep("keep", cl::desc("Values to make outputs"),
                                cl::init(aicf::Keep::None), aicf::keepValues(),
                                cl::cat(category));
static cl::opt<bool>
    stripDebug("strip-debug",
               cl::desc("Leave labels, source locations and counts out"),
               cl::cat(category));
static cl::opt<bool>
    report("report",
           cl::desc("Remarks: what was fused, copied and chosen, "
                    "and why"),
           cl::cat(category));

static cl::opt<bool>
    verifyEach("verify-each",
               cl::desc("MLIR's verifier after each pass, not only at the end; "
                        "each phase ends with a check of its own"),
               cl::cat(category));

static mlir::LogicalResult compile(mlir::MLIRContext &context,
                                   llvm::SourceMgr &sources) {
  // As the context, never freed.
  static mlir::ModuleOp module;
  module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context).release();
  if (!module)
    return mlir::failure();
  aicf::LowerToBackendOptions options;
  options.target = target.getValue();
  options.optLevel = optLevel.getValue();
  options.requireInplace = requireInplace;
  options.keep = keep.getValue();
  options.mixedPrecision = mixedPrecision.getValue();
  options.numStreams = numStreams;
  options.maxGroups = maxGroups;
  options.splitStep = splitStep;
  options.profile = profile;
  if (report && failed(aicf::enableRemarks(context)))
    return mlir::failure();
  mlir::PassManager pm(&context);
  pm.enableVerifier(verifyEach);
  aicf::buildLowerToBackendPipeline(pm, options);
  if (failed(pm.run(module)) || (!verifyEach && failed(mlir::verify(module))))
    return mlir::failure();
  mlir::FailureOr<aicf::Plan> plan = aicf::translateToPlan(module);
  if (failed(plan))
    return mlir::failure();
  std::string error;
  if (mlir::succeeded(
          aicf::writeToolOutput(output, plan->serialize(!stripDebug), error)))
    return mlir::success();
  llvm::errs() << "aicf-compile: " << error << "\n";
  return mlir::failure();
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  // With a stream for its errors it returns instead of exiting with 1.
  if (!cl::ParseCommandLineOptions(
          argc, argv, "Compiles a training step to a plan\n", &llvm::errs()))
    return 2;
  if (profile.getNumOccurrences() > 0 && profile.empty()) {
    llvm::errs() << "aicf-compile: --profile: the value is empty\n";
    return 2;
  }
  std::string error;
  auto file = mlir::openInputFile(input, &error);
  if (!file) {
    llvm::errs() << "aicf-compile: " << error << "\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  aicf::registerDialects(registry);
  // The process ends with it: taking a long step apart would be some
  // 15 % of the time that compiling it takes.
  static mlir::MLIRContext &context = *new mlir::MLIRContext(registry);
  context.printOpOnDiagnostic(false);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(*sources, &context);
  return succeeded(compile(context, *sources)) ? 0 : 2;
}
