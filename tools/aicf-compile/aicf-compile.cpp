//===- aicf-compile.cpp - .mlir to a plan file in one go ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// --lower-to-backend, whose options are its flags, and --aicf-to-plan. The
// output is written atomically: a failed compilation leaves an older plan as it
// was. Exit codes: 0 ok, 2 bad flags, input or output.
//===----------------------------------------------------------------------===//

#include "aicf/Compiler.h"
#include "lib/Target/ToolOutput.h"
#include "tools/aicf-compile/Report.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

namespace cl = llvm::cl;

static cl::OptionCategory category("aicf-compile options");
static cl::opt<std::string> input(cl::Positional, cl::desc("<step.mlir>"),
                                  cl::cat(category));
static cl::opt<std::string>
    output("o",
           cl::desc("Write to this file, - for standard output; text goes there "
                    "without it"),
           cl::cat(category));

namespace {
enum class Emit { AICF, AICFRT, PlanIR, Plan, Help };
} // namespace

static cl::opt<Emit> emit(
    "emit", cl::desc("Stop at this stage"), cl::init(Emit::Plan), cl::cat(category),
    cl::values(clEnumValN(Emit::AICF, "aicf", "the whole step, as text"),
               clEnumValN(Emit::AICFRT, "aicf_rt",
                          "its calls, with kernels and streams, as text"),
               clEnumValN(Emit::PlanIR, "plan-ir", "aicf_rt.plan, as text"),
               clEnumValN(Emit::Plan, "plan", "a plan file (default)"),
               clEnumValN(Emit::Help, "help", "print these and stop")));

static cl::opt<aicf::OptLevel> optimization("O", cl::desc("Is --opt-level"),
                                            cl::Prefix, cl::cat(category),
                                            aicf::optLevelValues());

/// The pipeline's options as flags of the tool: declared once, there.
static aicf::LowerToBackendOptions &pipelineOptions() {
  static auto &options = *new aicf::LowerToBackendOptions;
  return options;
}

static cl::opt<bool>
    stripDebug("strip-debug",
               cl::desc("Leave out labels, source locations and counts"),
               cl::cat(category));
static cl::opt<bool>
    report("report",
           cl::desc("Print one screen: kernels with their costs, memory, what "
                    "was fused, and what was not, with the reason"),
           cl::cat(category));
static cl::opt<bool>
    remarks("remarks",
            cl::desc("Print every remark of the passes at its line"),
            cl::cat(category));

static cl::opt<bool>
    verifyEach("verify-each",
               cl::desc("Run MLIR's verifier after each pass, not only at the "
                        "end; each phase has its own check, too"),
               cl::cat(category));

/// The bytes of the output: a plan file, or the module as text. Fills `plan`,
/// if one was made.
static mlir::FailureOr<std::vector<uint8_t>>
emitted(mlir::ModuleOp module, std::optional<aicf::Plan> &plan) {
  if (emit == Emit::Plan || (emit == Emit::PlanIR && report)) {
    mlir::FailureOr<aicf::Plan> made = aicf::translateToPlan(module);
    if (failed(made))
      return mlir::failure();
    plan = std::move(*made);
  }
  if (emit == Emit::Plan)
    return plan->serialize(!stripDebug);
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, mlir::OpPrintingFlags().enableDebugInfo(!stripDebug));
  return std::vector<uint8_t>(text.begin(), text.end());
}

static int refuse(const llvm::Twine &why) {
  llvm::errs() << "aicf-compile: " << why << "\n";
  return 2;
}

/// What the flags say together; 0 to go on.
static int checkFlags() {
  auto &options = pipelineOptions();
  if (input.empty())
    return refuse("no input: aicf-compile step.mlir -o step.plan, or - for "
                  "standard input");
  if (output.empty() && output.getNumOccurrences() > 0)
    return refuse("-o: the value is empty");
  if (output.empty() && emit == Emit::Plan)
    return refuse(
        "no output: -o step.plan (a plan is binary; -o - writes it to "
        "standard output)");
  if (output.empty())
    output = "-";
  bool isSame = false;
  if (input != "-" && !llvm::sys::fs::equivalent(input, output, isSame) &&
      isSame)
    return refuse("-o: '" + output + "' is the input, and would be overwritten");
  if (options.profile.getNumOccurrences() > 0 && options.profile.empty())
    return refuse("--profile: the value is empty");
  if (optimization.getNumOccurrences() == 0)
    return 0;
  if (options.optLevel.getNumOccurrences() > 0 &&
      options.optLevel != optimization)
    return refuse(
        "-O" + llvm::Twine(int(optimization.getValue())) +
        " and --opt-level=" + llvm::Twine(int(options.optLevel.getValue())) +
        " contradict each other: give one of them");
  options.optLevel = optimization;
  return 0;
}

/// Linalg comes in through a pass of aicf-opt: this tool links none of it.
static void hintAtLinalg(const llvm::SourceMgr &sources) {
  if (sources.getMemoryBuffer(1)->getBuffer().contains("linalg."))
    llvm::errs() << "aicf-compile: linalg is converted first: aicf-opt "
                 << input << " --convert-linalg-to-aicf | aicf-compile - -o "
                 << output << "\n";
}

static mlir::LogicalResult compile(mlir::MLIRContext &context,
                                   llvm::SourceMgr &sources) {
  // As the context, never freed.
  static mlir::ModuleOp module;
  module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context).release();
  if (!module) {
    hintAtLinalg(sources);
    return mlir::failure();
  }
  if ((report || remarks) && failed(aicf::enableRemarks(context)))
    return mlir::failure();
  aicf::Report seen;
  std::optional<mlir::ScopedDiagnosticHandler> counter;
  if (report && !remarks)
    counter.emplace(&context,
                    [&](mlir::Diagnostic &d) { return seen.take(d); });
  mlir::PassManager pm(&context);
  pm.enableVerifier(verifyEach);
  aicf::buildLowerToBackendPipeline(pm, pipelineOptions(),
                                    emit == Emit::AICF ? aicf::LoweredTo::AICF
                                    : emit == Emit::AICFRT
                                        ? aicf::LoweredTo::AICFRT
                                        : aicf::LoweredTo::Plan);
  if (failed(pm.run(module)) || (!verifyEach && failed(mlir::verify(module))))
    return mlir::failure();
  std::optional<aicf::Plan> plan;
  mlir::FailureOr<std::vector<uint8_t>> bytes = emitted(module, plan);
  if (failed(bytes))
    return mlir::failure();
  if (report)
    llvm::errs() << seen.toString(plan ? &*plan : nullptr);
  std::string error;
  if (mlir::succeeded(aicf::writeToolOutput(output, *bytes, error)))
    return mlir::success();
  llvm::errs() << "aicf-compile: " << error << "\n";
  return mlir::failure();
}

int aicfCompileMain(int argc, char **argv);
int aicfCompileMain(int argc, char **argv) {
  pipelineOptions().addToCommandLine(category);
  cl::HideUnrelatedOptions(category);
  aicf::addVersionPrinter("aicf-compile");
  // With a stream for its errors it returns instead of exiting with 1.
  if (!cl::ParseCommandLineOptions(
          argc, argv, "Compiles a training step to a plan\n", &llvm::errs()))
    return 2;
  if (emit == Emit::Help) {
    const cl::Option &option = emit;
    option.printOptionInfo(option.getOptionWidth());
    llvm::outs().flush();
    return 0;
  }
  if (int code = checkFlags())
    return code;
  std::string error;
  auto file = mlir::openInputFile(input, &error);
  if (!file)
    return refuse(error);
  mlir::DialectRegistry registry;
  aicf::registerAllDialects(registry);
  // The process ends with it: taking a long step apart would be some
  // 15 % of the time that compiling it takes.
  // A step is one function or two: threads would only lock.
  static mlir::MLIRContext &context = *new mlir::MLIRContext(
      registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(*sources, &context);
  return succeeded(compile(context, *sources)) ? 0 : 2;
}
