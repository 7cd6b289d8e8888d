//===- aicf-run.cpp - runs a plan -----------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Exit codes: 0 ok, 1 wrong result (--expected, --check), 2 bad input or plan,
// 3 device error. Needs no LLVM.
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "aicf/Runtime/Executor.h"
#include "aicf/Runtime/Npy.h"
#include "aicf/Runtime/Safetensors.h"
#include "aicf/Support/BadAlloc.h"
#include "aicf/Support/File.h"

#include <CLI/CLI.hpp>

#include <atomic>
#include <charconv>
#include <csignal>
#include <iomanip>
#include <iostream>
#include <optional>

using namespace aicf;

namespace {

struct Options {
  std::string plan, device = "cpu", entry, executor = "eager";
  std::string tune = "off", tuningFile, profile;
  uint64_t steps = 1, seed = 0;
  int threads = 0;
  std::vector<std::string> inputs, sets, outputs, expected;
  std::string init, saveCheckpoint, resume, trace;
  double tolerance = 1e-5;
  bool printStatistics = false, dumpSlots = false, check = false;
  bool poison = false, canary = false, separate = false;
};

/// A wrong result is no Status: it has its own exit code.
constexpr int kOk = 0, kWrongResult = 1, kBadInput = 2, kDeviceError = 3;

int exitCodeOf(const Status &status) {
  if (status.ok())
    return kOk;
  return status.code() == StatusCode::DeviceError ? kDeviceError : kBadInput;
}

/// Files that cannot be opened are bad input, not device errors.
Status asInputError(const Status &status) {
  if (status.code() != StatusCode::DeviceError)
    return status;
  return Status(StatusCode::InvalidFile, status.message());
}

// Set by Ctrl-C: the step in flight ends, then outputs and checkpoint are
// written as if --steps had been reached. A second Ctrl-C kills.
std::atomic<bool> interrupted{false};

void onInterrupt(int) {
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

/// Finds a wrong argument before the run, not after it.
Status checkArguments(const Executor &executor, const Options &options,
                      const std::string &entry) {
  for (const std::string &argument : options.outputs) {
    AICF_ASSIGN_OR_RETURN(NamedFile file, parseFileArgument(argument));
    AICF_ASSIGN_OR_RETURN(PlanTensor tensor,
                          executor.find(qualify(executor, entry, file.name)));
    AICF_RETURN_IF_ERROR(serializeNpy(tensor.desc, {}).status());
  }
  for (const std::string &argument : options.expected) {
    AICF_ASSIGN_OR_RETURN(NamedTensor expected, parseTensorArgument(argument));
    AICF_ASSIGN_OR_RETURN(
        PlanTensor tensor,
        executor.find(qualify(executor, entry, expected.name)));
    if (!tensor.desc.sameShape(expected.tensor.desc))
      return makeError(StatusCode::InvalidArgument, "--expected ",
                       expected.name, " is ", expected.tensor.desc.toString(),
                       ", the plan has ", tensor.desc.toString());
  }
  if (!options.saveCheckpoint.empty())
    return asInputError(checkCheckpointFolder(options.saveCheckpoint));
  return {};
}

Status writeInputs(Executor &executor, const Options &options,
                   const std::string &entry) {
  for (const std::string &argument : options.inputs) {
    AICF_ASSIGN_OR_RETURN(NamedTensor input, parseTensorArgument(argument));
    input.name = qualify(executor, entry, input.name);
    AICF_RETURN_IF_ERROR(writeTensor(executor, input));
  }
  for (const std::string &argument : options.sets) {
    AICF_ASSIGN_OR_RETURN(NamedTensor hyper,
                          parseSetArgument(executor.plan(), argument));
    AICF_RETURN_IF_ERROR(writeTensor(executor, hyper));
  }
  return {};
}

Status setUp(Executor &executor, const Options &options,
             const std::string &entry) {
  AICF_RETURN_IF_ERROR(executor.prepare());
  if (!options.init.empty())
    AICF_RETURN_IF_ERROR(asInputError(loadWeights(executor, options.init)));
  if (!options.resume.empty())
    AICF_RETURN_IF_ERROR(
        asInputError(loadCheckpoint(executor, options.resume)));
  return writeInputs(executor, options, entry);
}

/// Runs the steps; stops early, between steps, on Ctrl-C.
Status runSteps(Executor &executor, const Options &options,
                const std::string &entry, uint64_t &done) {
  GraphKey key{entry, 1};
  for (done = 0; done < options.steps && !interrupted; ++done)
    AICF_RETURN_IF_ERROR(options.executor == "graph" ? executor.run(key)
                                                     : executor.run(entry));
  return executor.sync();
}

/// --check: the other executor, from the same start, must give the same bits.
/// Nothing if Ctrl-C came in between.
StatusOr<std::optional<bool>>
checkOtherExecutor(Executor &executor, const Options &options,
                   std::shared_ptr<const Plan> plan,
                   std::shared_ptr<Device> device,
                   const ExecutorOptions &executorOptions,
                   const std::string &entry, uint64_t steps) {
  Options other = options;
  other.executor = options.executor == "graph" ? "eager" : "graph";
  other.steps = steps;
  ExecutorOptions plain = executorOptions;
  plain.poison = plain.canary = false;
  AICF_ASSIGN_OR_RETURN(auto second, Executor::create(plan, device, plain));
  AICF_RETURN_IF_ERROR(setUp(*second, other, entry));
  uint64_t done = 0;
  AICF_RETURN_IF_ERROR(runSteps(*second, other, entry, done));
  if (done < steps)
    return std::optional<bool>();
  bool same = true;
  for (const std::string &name : comparableNames(*plan, entry)) {
    AICF_ASSIGN_OR_RETURN(HostTensor a, readTensor(executor, name));
    AICF_ASSIGN_OR_RETURN(HostTensor b, readTensor(*second, name));
    if (a.bytes == b.bytes)
      continue;
    std::cerr << "aicf-run: --check: \"" << name
              << "\" differs between eager and graph\n";
    same = false;
  }
  return std::optional<bool>(same);
}

Status writeOutput(Executor &executor, const std::string &argument,
                   const std::string &entry) {
  AICF_ASSIGN_OR_RETURN(NamedFile file, parseFileArgument(argument));
  AICF_ASSIGN_OR_RETURN(
      HostTensor tensor,
      readTensor(executor, qualify(executor, entry, file.name)));
  AICF_ASSIGN_OR_RETURN(auto bytes, serializeNpy(tensor.desc, tensor.bytes));
  return writeFileAtomically(file.path, bytes);
}

/// Writes everything that was asked for, the checkpoint first: one failure does
/// not lose the rest. Returns the first error.
Status writeOutputs(Executor &executor, const Options &options,
                    const std::string &entry) {
  Status first;
  auto keep = [&](Status status) {
    if (first.ok())
      first = status;
  };
  if (!options.saveCheckpoint.empty())
    keep(saveCheckpoint(executor, options.saveCheckpoint));
  for (const std::string &argument : options.outputs)
    keep(writeOutput(executor, argument, entry));
  if (!options.trace.empty()) {
    std::string json = traceToChromeJson(executor.trace_get());
    keep(writeFileAtomically(
        options.trace,
        {reinterpret_cast<const uint8_t *>(json.data()), json.size()}));
  }
  if (!options.profile.empty()) {
    std::string json = traceToProfileJson(executor.trace_get(),
                                          executor.device().description());
    keep(writeFileAtomically(
        options.profile,
        {reinterpret_cast<const uint8_t *>(json.data()), json.size()}));
  }
  // Scalars of the entry, so that a run shows something.
  for (const std::string &name : scalarOutputs(executor.plan(), entry)) {
    AICF_ASSIGN_OR_RETURN(HostTensor tensor, readTensor(executor, name));
    std::cout << name << " = " << std::setprecision(9)
              << elementAsDouble(tensor, 0) << "\n";
  }
  return first;
}

/// Compares --expected files; prints what differs.
StatusOr<bool> compareExpected(Executor &executor, const Options &options,
                               const std::string &entry) {
  bool same = true;
  for (const std::string &argument : options.expected) {
    AICF_ASSIGN_OR_RETURN(NamedTensor expected, parseTensorArgument(argument));
    AICF_ASSIGN_OR_RETURN(
        HostTensor actual,
        readTensor(executor, qualify(executor, entry, expected.name)));
    AICF_ASSIGN_OR_RETURN(double error, relativeError(actual, expected.tensor));
    if (error <= options.tolerance)
      continue;
    std::cerr << "aicf-run: \"" << expected.name
              << "\" differs from what is expected: relative error " << error
              << " is above " << options.tolerance << "\n";
    same = false;
  }
  return same;
}

void printStatistics(const Executor &executor, uint64_t steps) {
  ExecutorStatistics s = executor.statistics();
  DeviceCounters c = executor.device().counters();
  std::cout << "persistent " << s.persistentBytes << " bytes, io " << s.ioBytes
            << " bytes, temp " << s.tempBytes << " bytes\n"
            << "steps " << steps << ", eager runs " << s.runs << ", captures "
            << s.captures << ", graph launches " << s.launches
            << ", graph nodes " << s.graphNodes << "\n"
            << "device allocations " << c.allocations << ", kernel look-ups "
            << c.lookups << "\n";
}

void dumpSlots(const Executor &executor) {
  std::cout << "entry tid vid name segment offset bytes pointer\n";
  for (const SlotInfo &s : executor.slots())
    std::cout << (s.entry.empty() ? "-" : s.entry) << " " << s.tid << " "
              << s.vid << " " << (s.name.empty() ? "-" : s.name) << " "
              << nameOf(s.segment) << " " << s.offset << " " << s.bytes << " "
              << s.pointer << "\n";
}

/// "cpu", "cuda" or "cuda:N".
StatusOr<std::shared_ptr<Device>> makeDevice(const Options &options) {
  if (options.device == "cpu")
    return createCPUDevice({options.threads});
  CUDADeviceOptions cuda;
  cuda.tuning = options.tune == "full"   ? Tuning::Full
                : options.tune == "fast" ? Tuning::Fast
                                         : Tuning::Off;
  cuda.tuningFile = options.tuningFile;
  std::string_view name = options.device;
  if (name.substr(0, 5) == "cuda:" && name.size() > 5) {
    auto [end, error] = std::from_chars(name.data() + 5,
                                        name.data() + name.size(), cuda.ordinal);
    if (error == std::errc() && end == name.data() + name.size())
      return createCUDADevice(cuda);
  }
  if (name == "cuda")
    return createCUDADevice(cuda);
  return makeError(StatusCode::InvalidArgument, "device \"", name,
                   "\" is not known; known: cpu, cuda, cuda:N");
}

/// Runs everything; the result is the exit code, or an error with its own.
StatusOr<int> runAll(const Options &options) {
  StatusOr<Plan> loaded = Plan::load(options.plan);
  if (!loaded.ok())
    return asInputError(loaded.status());
  auto plan = std::make_shared<const Plan>(std::move(*loaded));
  std::string entry =
      options.entry.empty() ? plan->entries.front().name : options.entry;
  if (!plan->findEntry(entry))
    return makeError(StatusCode::InvalidArgument, "the plan has no entry \"",
                     entry, "\"");
  AICF_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, makeDevice(options));
  ExecutorOptions executorOptions = ExecutorOptions::fromEnvironment();
  executorOptions.seed = options.seed;
  executorOptions.poison = options.poison;
  executorOptions.canary = options.canary;
  executorOptions.separateAllocations = options.separate;
  AICF_ASSIGN_OR_RETURN(auto executor,
                        Executor::create(plan, device, executorOptions));
  AICF_RETURN_IF_ERROR(executor->prepare());
  AICF_RETURN_IF_ERROR(checkArguments(*executor, options, entry));
  AICF_RETURN_IF_ERROR(setUp(*executor, options, entry));
  executor->trace_enable(!options.trace.empty() || !options.profile.empty());
  uint64_t done = 0;
  AICF_RETURN_IF_ERROR(runSteps(*executor, options, entry, done));
  if (interrupted)
    std::cerr << "aicf-run: interrupted after " << done << " of "
              << options.steps << " steps\n";
  if (done > 0)
    AICF_RETURN_IF_ERROR(writeOutputs(*executor, options, entry));
  if (options.printStatistics)
    printStatistics(*executor, done);
  if (options.dumpSlots)
    dumpSlots(*executor);
  if (interrupted)
    return 128 + SIGINT;
  AICF_ASSIGN_OR_RETURN(bool same, compareExpected(*executor, options, entry));
  if (options.check) {
    AICF_ASSIGN_OR_RETURN(std::optional<bool> agree,
                          checkOtherExecutor(*executor, options, plan, device,
                                             executorOptions, entry, done));
    if (!agree)
      return 128 + SIGINT;
    same &= *agree;
  }
  return same ? kOk : kWrongResult;
}

void addOptions(CLI::App &app, Options &o) {
  app.add_option("plan", o.plan, "The plan file")->required();
  app.add_option("--device", o.device, "cpu, cuda or cuda:N");
  app.add_option("--tune", o.tune,
                 "How library algorithms are chosen: off, fast or full")
      ->check(CLI::IsMember({"off", "fast", "full"}));
  app.add_option("--tuning-file", o.tuningFile,
                 "Where timed choices are kept (JSON)");
  app.add_option("--profile", o.profile,
                 "Microseconds of every kernel and problem to write (JSON); "
                 "runs eagerly, a call at a time");
  app.add_option("--entry", o.entry, "Entry to run; default: the first");
  app.add_option("--executor", o.executor, "eager or graph")
      ->check(CLI::IsMember({"eager", "graph"}));
  app.add_option("--steps", o.steps, "How often to run the entry")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", o.threads,
                 "Threads of the CPU device; 0: all cores")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--input", o.inputs,
                 "NAME=@FILE.npy, or NAME=2x3xf32=1,2,3,4,5,6");
  CLI::Option *init = app.add_option(
      "--init", o.init, "@FILE.safetensors with params and states");
  app.add_option("--seed", o.seed, "Seed of the plan's initialisers");
  app.add_option("--set", o.sets, "NAME=NUMBER for a hyper");
  app.add_option("--output", o.outputs, "NAME=@FILE.npy to write");
  app.add_option("--save-checkpoint", o.saveCheckpoint, "Folder to write");
  app.add_option("--resume", o.resume, "Folder of a checkpoint")
      ->excludes(init);
  app.add_option("--expected", o.expected,
                 "NAME=@FILE.npy or inline: compare after the run");
  app.add_option("--tolerance", o.tolerance,
                 "Largest ||a-e||/||e|| that --expected accepts")
      ->check(CLI::Range(0.0, 1e300));
  app.add_option("--trace", o.trace, "Chrome trace to write (JSON)");
  app.add_flag("--print-statistics", o.printStatistics, "Bytes and counts");
  app.add_flag("--dump-slots", o.dumpSlots, "Where every tensor lives");
  app.add_flag("--check", o.check,
               "Run the other executor too and compare all bits");
  app.add_flag("--poison", o.poison, "Overwrite dead temps with NaN (eager)");
  app.add_flag("--canary", o.canary, "Guard bytes around tensors (eager)");
  app.add_flag("--separate-allocations", o.separate,
               "One allocation per tensor");
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Runs an entry of a plan", "aicf-run");
  Options options;
  addOptions(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? kOk : kBadInput;
  }
  if (!options.init.empty() && options.init[0] == '@')
    options.init.erase(0, 1);
  std::signal(SIGINT, onInterrupt);
  StatusOr<int> code = catchBadAlloc([&] { return runAll(options); });
  if (code.ok() && !std::cout.flush())
    code = Status(StatusCode::DeviceError, "cannot write to standard output");
  if (code.ok())
    return *code;
  std::cerr << "aicf-run: " << code.status().toString() << "\n";
  return exitCodeOf(code.status());
}
