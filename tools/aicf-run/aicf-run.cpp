//===- aicf-run.cpp - runs a plan -----------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Exit codes: 0 ok; 1 wrong result: --expected, --check, or a 0-d output that
// is not finite, which also ends the run where it is logged; 2 bad input or
// plan, said before the first step; 3 device error; 128 + the signal after
// Ctrl-C or SIGTERM. Needs no LLVM.
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Results.h"
#include "Validators.h"
#include "aicf/Checkpoint.h"
#include "aicf/EntryNames.h"
#include "aicf/Executor.h"
#include "aicf/Version.h"
#include "lib/Base/BadAlloc.h"
#include "lib/Base/File.h"
#include "lib/Runtime/IO/Npy.h"

#include <CLI/CLI.hpp>

#include <atomic>
#include <charconv>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <set>

using namespace aicf;

namespace {

struct Options {
  std::string plan, device = "cpu", entry, executor = "eager";
  std::string tune = "off", tuningFile, profile;
  uint64_t steps = 1, seed = 0, logEvery = 0;
  uint32_t batches = 0; ///< of an update; 0: as the plan says
  bool isLastBatch = false;
  int threads = 0;
  std::vector<std::string> inputs, sets, outputs, expected, accuracies, renames;
  std::string init, saveCheckpoint, resume, trace, log;
  bool ignoreExtra = false, cast = false, keepGoing = false;
  double tolerance = 1e-5;
  bool printStatistics = false, dumpSlots = false, check = false;
  bool poison = false, canary = false, separate = false;
  bool checkIndices = false;
};

/// A wrong result is not a Status: it has its own exit code.
constexpr int kOk = 0, kWrongResult = 1, kBadInput = 2, kDeviceError = 3;

bool isFileError(const Status &status) {
  return status.code() == StatusCode::FileNotFound ||
         status.code() == StatusCode::FileError;
}

/// What could not be written has the code of a device's error.
int exitCodeOf(const Status &status) {
  if (status.ok())
    return kOk;
  return status.code() == StatusCode::DeviceError || isFileError(status)
             ? kDeviceError
             : kBadInput;
}

/// Where --aicf-append-optimizer adds up gradients of batches without an
/// update.
std::string accumulatingEntry(const std::string &entry) {
  return entry + kAccumulateSuffix;
}

/// Files that cannot be read are bad input.
Status asInputError(const Status &status) {
  if (!isFileError(status))
    return status;
  return Status(StatusCode::InvalidFile, status.message());
}

// The signal that asked to stop: the step in flight ends, then outputs and
// checkpoint are written as if --steps had been reached. A second one kills.
std::atomic<int> interruptedBy{0};

void onInterrupt(int signal) {
  interruptedBy = signal;
  std::signal(signal, SIG_DFL);
}

/// Every path that will be written, each once and writable.
Status checkPaths(const Options &options) {
  std::vector<std::string> paths;
  for (const std::string &argument : options.outputs) {
    AICF_ASSIGN_OR_RETURN(NamedFile file, parseFileArgument(argument));
    paths.push_back(file.path);
  }
  for (const std::string &path : {options.trace, options.profile, options.log})
    if (!path.empty())
      paths.push_back(path);
  std::set<std::string> seen;
  for (const std::string &path : paths) {
    if (!seen.insert(path).second)
      return makeError(StatusCode::InvalidArgument, "'", path,
                       "' would be written twice");
    std::error_code none;
    if (std::filesystem::equivalent(path, options.plan, none))
      return makeError(StatusCode::InvalidArgument, "'", path,
                       "' is the plan, and would be overwritten");
    AICF_RETURN_IF_ERROR(asInputError(checkWritable(path)));
  }
  return {};
}

/// Finds out before the run what would otherwise fail after it. The executor is
/// set up: what has a value, or will have one after the entry, is known.
Status checkArguments(Executor &executor, const Options &options,
                      const std::string &entry,
                      const std::vector<NamedTensor> &expected,
                      const std::vector<NamedTensor> &labels) {
  for (const NamedTensor &l : labels)
    AICF_RETURN_IF_ERROR(checkAccuracy(executor, entry, l));
  for (const std::string &argument : options.outputs) {
    AICF_ASSIGN_OR_RETURN(NamedFile file, parseFileArgument(argument));
    std::string name = qualify(executor, entry, file.name);
    AICF_ASSIGN_OR_RETURN(TensorInfo tensor, executor.find(name));
    AICF_RETURN_IF_ERROR(serializeNpy(tensor.desc, {}).status());
    AICF_RETURN_IF_ERROR(executor.checkRead(name, entry));
  }
  for (const NamedTensor &e : expected) {
    std::string name = qualify(executor, entry, e.name);
    AICF_ASSIGN_OR_RETURN(TensorInfo tensor, executor.find(name));
    if (!tensor.desc.sameShape(e.tensor.desc))
      return makeError(StatusCode::InvalidArgument, "--expected ", e.name,
                       " is ", e.tensor.desc.toString(), ", the plan has ",
                       tensor.desc.toString());
    AICF_RETURN_IF_ERROR(executor.checkRead(name, entry));
  }
  if (!options.saveCheckpoint.empty())
    AICF_RETURN_IF_ERROR(
        asInputError(checkCheckpoint(executor, options.saveCheckpoint, entry)));
  return checkPaths(options);
}

Status writeInputs(Executor &executor, const Options &options,
                   const std::string &entry) {
  for (const std::string &argument : options.inputs) {
    AICF_ASSIGN_OR_RETURN(NamedTensor input, parseTensorArgument(argument));
    const std::string name = input.name;
    input.name = qualify(executor, entry, name);
    AICF_RETURN_IF_ERROR(writeTensor(executor, input));
    if (options.batches == 1)
      continue;
    input.name = qualify(executor, accumulatingEntry(entry), name);
    AICF_RETURN_IF_ERROR(writeTensor(executor, input));
  }
  for (const std::string &argument : options.sets) {
    AICF_ASSIGN_OR_RETURN(NamedTensor hyper,
                          parseSetArgument(executor.plan(), argument));
    AICF_RETURN_IF_ERROR(writeTensor(executor, hyper));
  }
  return {};
}

StatusOr<WeightFileOptions> weightFileOptions(const Options &options) {
  WeightFileOptions result;
  result.ignoreExtra = options.ignoreExtra;
  result.cast = options.cast;
  for (const std::string &argument : options.renames) {
    size_t equals = argument.find('=');
    if (equals == 0 || equals == std::string::npos ||
        equals + 1 == argument.size())
      return makeError(StatusCode::InvalidArgument, "--rename \"", argument,
                       "\" is not OLD=NEW");
    result.renames.emplace_back(argument.substr(0, equals),
                                argument.substr(equals + 1));
  }
  return result;
}

/// Where a checkpoint's metadata say after how many steps it was written.
constexpr const char *kSteps = "aicf-run.steps";

/// A checkpoint of a larger model resumes; what it has too much is said. Returns
/// after how many steps it was written: 0 where it does not say so.
StatusOr<uint64_t> resume(Executor &executor, const std::string &folder) {
  std::vector<std::string> extra;
  FileMetadata metadata;
  AICF_RETURN_IF_ERROR(loadCheckpoint(executor, folder, &extra, &metadata));
  uint64_t steps = 0;
  const std::string &text = metadata[kSteps];
  std::from_chars(text.data(), text.data() + text.size(), steps);
  if (extra.empty())
    return steps;
  std::cerr << "aicf-run: note: '" << folder << "' also holds";
  for (size_t i = 0; i < extra.size() && i < 5; ++i)
    std::cerr << (i ? ", \"" : " \"") << extra[i] << "\"";
  if (extra.size() > 5)
    std::cerr << " and " << extra.size() - 5 << " more";
  std::cerr << ", which the plan does not have\n";
  return steps;
}

/// Returns how many steps the state has behind it.
StatusOr<uint64_t> setUp(Executor &executor, const Options &options,
             const std::string &entry) {
  AICF_RETURN_IF_ERROR(executor.prepare());
  AICF_ASSIGN_OR_RETURN(WeightFileOptions weights, weightFileOptions(options));
  if (!options.init.empty())
    AICF_RETURN_IF_ERROR(
        asInputError(loadWeights(executor, options.init, weights)));
  uint64_t steps = 0;
  if (!options.resume.empty()) {
    StatusOr<uint64_t> resumed = resume(executor, options.resume);
    if (!resumed.ok())
      return asInputError(resumed.status());
    steps = *resumed;
  }
  AICF_RETURN_IF_ERROR(writeInputs(executor, options, entry));
  return steps;
}

/// What a step's results say: whether to go on.
using AfterStep = std::function<StatusOr<bool>(uint64_t done)>;

/// Runs the steps; stops early, between steps, when asked to. A profile needs
/// every call timed alone: those steps run eagerly.
Status runSteps(Executor &executor, const Options &options,
                const std::string &entry, uint64_t steps, uint64_t &done,
                const AfterStep &after = {}) {
  bool isGraph = options.executor == "graph" && options.profile.empty();
  auto run = [&](const std::string &name) {
    return isGraph ? executor.run(GraphKey{name, 1}) : executor.run(name);
  };
  bool goesOn = true;
  for (done = 0; done < steps && goesOn && !interruptedBy;) {
    for (uint64_t batch = 1; batch < options.batches; ++batch)
      AICF_RETURN_IF_ERROR(run(accumulatingEntry(entry)));
    AICF_RETURN_IF_ERROR(run(entry));
    ++done;
    if (after) {
      AICF_ASSIGN_OR_RETURN(goesOn, after(done));
    }
  }
  return executor.sync();
}

/// For --check: an executor of the other kind with the same start.
struct OtherExecutor {
  Options options;
  std::unique_ptr<Executor> executor;
};

StatusOr<OtherExecutor> makeOther(const Options &options,
                                  std::shared_ptr<const Plan> plan,
                                  std::shared_ptr<Device> device,
                                  ExecutorOptions executorOptions,
                                  const std::string &entry) {
  OtherExecutor other{options, nullptr};
  other.options.executor = options.executor == "graph" ? "eager" : "graph";
  other.options.profile.clear();
  executorOptions.poison = executorOptions.canary = false;
  AICF_ASSIGN_OR_RETURN(other.executor,
                        Executor::create(plan, device, executorOptions));
  AICF_RETURN_IF_ERROR(setUp(*other.executor, options, entry).status());
  return other;
}

/// --check: the other executor must give the same bits. Nothing if a signal
/// came in between.
StatusOr<std::optional<bool>> checkOther(Executor &executor,
                                         OtherExecutor &other,
                                         const std::string &entry,
                                         uint64_t steps) {
  uint64_t done = 0;
  AICF_RETURN_IF_ERROR(
      runSteps(*other.executor, other.options, entry, steps, done));
  if (done < steps)
    return std::optional<bool>();
  bool same = true;
  for (const std::string &name : comparableNames(executor.plan(), entry)) {
    // What has no value has none on both sides.
    if (!executor.checkRead(name, entry).ok())
      continue;
    AICF_ASSIGN_OR_RETURN(HostTensor a, readTensor(executor, name));
    AICF_ASSIGN_OR_RETURN(HostTensor b, readTensor(*other.executor, name));
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

Status writeText(const std::string &path, const std::string &text) {
  return writeFileAtomically(
      path, {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

/// Whether --save-checkpoint would write what --resume has read.
bool savesOverResumed(const Options &options) {
  std::error_code error;
  return !options.resume.empty() &&
         (options.resume == options.saveCheckpoint ||
          std::filesystem::equivalent(options.resume, options.saveCheckpoint,
                                      error));
}

/// Writes everything that was asked for, the checkpoint first: one failure does
/// not lose the rest. Returns the first error. The state of a run that stopped
/// because of its loss replaces no checkpoint, and one that ends in something
/// that is not finite not the one that it came from. `steps`: of all runs.
Status writeOutputs(Executor &executor, const Options &options,
                    const std::string &entry, uint64_t steps, bool hasStopped,
                    bool isFinite) {
  Status first;
  auto keep = [&](Status status) {
    if (first.ok())
      first = status;
  };
  bool mayReplace = !hasStopped && (isFinite || !savesOverResumed(options));
  if (!options.saveCheckpoint.empty() && mayReplace)
    keep(saveCheckpoint(executor, options.saveCheckpoint,
                        {{kSteps, std::to_string(steps)}}));
  else if (!options.saveCheckpoint.empty())
    std::cerr << "aicf-run: '" << options.saveCheckpoint
              << "' is left as it was\n";
  for (const std::string &argument : options.outputs)
    keep(writeOutput(executor, argument, entry));
  if (!options.trace.empty())
    keep(writeText(
        options.trace,
        traceToChromeJson(executor.trace(), executor.device().description())));
  if (!options.profile.empty())
    keep(writeText(
        options.profile,
        traceToProfileJson(executor.trace(), executor.device().description())));
  return first;
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
  std::cout << "entry buffer vid name segment offset bytes pointer\n";
  for (const SlotInfo &s : executor.slots())
    std::cout << (s.entry.empty() ? "-" : s.entry) << " " << s.buffer << " "
              << s.vid << " " << (s.name.empty() ? "-" : s.name) << " "
              << nameOf(s.segment) << " " << s.offset << " " << s.bytes << " "
              << s.pointer << "\n";
}

/// The device, only with the flags that are for it.
StatusOr<std::shared_ptr<Device>> makeDevice(const Options &options) {
  AICF_ASSIGN_OR_RETURN(DeviceName name, parseDeviceName(options.device));
  if (name.kind == DeviceKind::CPU) {
    if (options.tune != "off" || !options.tuningFile.empty())
      return makeError(StatusCode::InvalidArgument,
                       "--tune and --tuning-file are for cuda, the device is "
                       "cpu");
    return createCPUDevice({options.threads});
  }
  if (options.threads != 0)
    return makeError(StatusCode::InvalidArgument,
                     "--threads is for cpu, the device is ", options.device);
  return createCUDADevice({name.ordinal,
                           *parseEnum<Tuning>(options.tune, kNumTunings),
                           options.tuningFile});
}

StatusOr<std::vector<NamedTensor>>
parseTensors(const std::vector<std::string> &arguments) {
  std::vector<NamedTensor> tensors;
  for (const std::string &argument : arguments) {
    AICF_ASSIGN_OR_RETURN(NamedTensor tensor, parseTensorArgument(argument));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

/// The steps, logged as asked and counted from the `resumed` ones of earlier
/// runs; stops at a loss that is not a number. `done`: how many ran. Returns
/// whether all that was seen was finite.
StatusOr<bool> train(Executor &executor, const Options &options,
                     const std::string &entry,
                     const std::vector<NamedTensor> &expected, uint64_t resumed,
                     uint64_t &done) {
  TrainingLog log;
  AICF_RETURN_IF_ERROR(
      log.open(options.logEvery, options.log, !options.resume.empty()));
  bool finite = true;
  auto look = [&](uint64_t step) -> StatusOr<bool> {
    if (!log.isDue(step))
      return true;
    AICF_ASSIGN_OR_RETURN(auto scalars, readScalars(executor, entry));
    AICF_RETURN_IF_ERROR(log.write(resumed + step, scalars));
    finite = areFinite(executor, entry, scalars, expected, resumed + step);
    return finite || options.keepGoing;
  };
  AICF_RETURN_IF_ERROR(
      runSteps(executor, options, entry, options.steps, done, look));
  if (interruptedBy)
    std::cerr << "aicf-run: interrupted after " << done << " of "
              << options.steps << " steps\n";
  else if (done < options.steps)
    std::cerr << "aicf-run: stopped after " << done << " of " << options.steps
              << " steps\n";
  return finite;
}

/// Runs everything; the result is the exit code, or an error with its own.
StatusOr<int> runAll(Options options) {
  StatusOr<Plan> loaded = Plan::load(options.plan);
  if (!loaded.ok())
    return asInputError(loaded.status());
  auto plan = std::make_shared<const Plan>(std::move(*loaded));
  std::string entry =
      options.entry.empty() ? plan->entries.front().name : options.entry;
  AICF_ASSIGN_OR_RETURN(uint32_t batches,
                        plan->batchesPerUpdate(entry, options.batches));
  // A plan that does not say: one.
  options.batches = options.isLastBatch ? 1 : std::max(batches, 1u);
  AICF_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, makeDevice(options));
  ExecutorOptions executorOptions = ExecutorOptions::fromEnvironment();
  executorOptions.seed = options.seed;
  executorOptions.poison = options.poison;
  executorOptions.canary = options.canary;
  executorOptions.checkIndices = options.checkIndices;
  executorOptions.separateAllocations = options.separate;
  AICF_ASSIGN_OR_RETURN(auto executor,
                        Executor::create(plan, device, executorOptions));
  // Everything is read before anything is written: outputs may have the names
  // of inputs.
  AICF_ASSIGN_OR_RETURN(uint64_t resumed, setUp(*executor, options, entry));
  AICF_ASSIGN_OR_RETURN(auto expected, parseTensors(options.expected));
  AICF_ASSIGN_OR_RETURN(auto labels, parseTensors(options.accuracies));
  AICF_RETURN_IF_ERROR(
      checkArguments(*executor, options, entry, expected, labels));
  OtherExecutor other;
  if (options.check) {
    AICF_ASSIGN_OR_RETURN(
        other, makeOther(options, plan, device, executorOptions, entry));
  }
  AICF_RETURN_IF_ERROR(executor->enableTrace(!options.trace.empty() ||
                                             !options.profile.empty()));
  uint64_t done = 0;
  AICF_ASSIGN_OR_RETURN(bool isRight,
                        train(*executor, options, entry, expected, resumed, done));
  Status written;
  std::vector<Scalar> scalars;
  if (done > 0) {
    AICF_ASSIGN_OR_RETURN(scalars, readScalars(*executor, entry));
    bool hasStopped = !isRight && !options.keepGoing;
    bool isFinite = false;
    if (!hasStopped) // else it has been said
      isRight = isFinite =
          areFinite(*executor, entry, scalars, expected, resumed + done);
    written = writeOutputs(*executor, options, entry, resumed + done,
                           hasStopped, isFinite);
    for (const NamedTensor &l : labels)
      AICF_RETURN_IF_ERROR(showAccuracy(*executor, entry, l));
  }
  if (options.printStatistics)
    printStatistics(*executor, done);
  if (options.dumpSlots)
    dumpSlots(*executor);
  printScalars(scalars); // last: what a pipe's last line is for
  AICF_RETURN_IF_ERROR(written);
  if (interruptedBy)
    return 128 + interruptedBy;
  if (done < options.steps)
    return kWrongResult;
  AICF_ASSIGN_OR_RETURN(
      bool isExpected,
      compareExpected(*executor, entry, expected, options.tolerance));
  if (options.check) {
    AICF_ASSIGN_OR_RETURN(std::optional<bool> agree,
                          checkOther(*executor, other, entry, done));
    if (!agree)
      return 128 + interruptedBy;
    isRight &= *agree;
  }
  return isRight && isExpected ? kOk : kWrongResult;
}

const CLI::Validator kTolerance(
    [](std::string &text) {
      char *end = nullptr;
      double value = std::strtod(text.c_str(), &end);
      bool isLegal = !*end && !text.empty() && value >= 0 && value < INFINITY;
      return isLegal ? std::string()
                     : "\"" + text + "\" is not a finite number >= 0";
    },
    "NUMBER");

const CLI::Validator kTuning(
    [](std::string &text) {
      return parseEnum<Tuning>(text, kNumTunings)
                 ? std::string()
                 : "\"" + text + "\" is not off, fast or full";
    },
    "TUNING");

void addOptions(CLI::App &app, Options &o) {
  app.add_option("plan", o.plan, "The plan file")->required();
  app.add_option("--device", o.device, "Run on cpu, cuda or cuda:N");
  app.add_option("--tune", o.tune,
                 "Time the algorithms of CUDA's library and choose: off, "
                 "fast or full")
      ->check(kTuning);
  app.add_option("--tuning-file", o.tuningFile,
                 "Keep timed choices in this file (JSON)")
      ->check(kNotEmpty);
  app.add_option("--profile", o.profile,
                 "Write the microseconds of every kernel and problem to this "
                 "file (JSON), for aicf-compile and aicf-plan view; runs "
                 "eagerly, one call at a time")
      ->check(kNotEmpty);
  app.add_option("--entry", o.entry, "Run this entry; the first one is the default")
      ->check(kNotEmpty);
  app.add_option("--executor", o.executor,
                 "Run call by call (eager) or replay a graph")
      ->check(CLI::IsMember({"eager", "graph"}));
  app.add_option("--steps", o.steps, "Run the entry this many times")
      ->transform(wholeNumber(1, UINT64_MAX));
  CLI::Option *batches =
      app.add_option("--batches", o.batches,
                     "Say how many batches make an update, for plans before 3.1, "
                     "which do not say it; all but the last go through "
                     "ENTRY.accumulate")
          ->transform(wholeNumber(1, INT32_MAX));
  app.add_flag("--last-batch", o.isLastBatch,
               "Run only the last batch of an update: the checkpoint has the "
               "others")
      ->excludes(batches);
  app.add_option("--threads", o.threads,
                 "Use this many threads on the CPU; 0 uses all cores")
      ->transform(wholeNumber(0, INT32_MAX));
  app.add_option("--input", o.inputs,
                 "Give an input: NAME=@FILE.npy, or "
                 "NAME=2x3xf32=1,2,3,4,5,6");
  CLI::Option *init = app.add_option(
      "--init", o.init,
      "Start from the params and states in @FILE.safetensors");
  init->check(kNotEmpty);
  app.add_option("--rename", o.renames,
                 "Rename a tensor of --init, OLD=NEW, or all that begin "
                 "alike, OLD*=NEW*")
      ->needs(init);
  app.add_flag("--ignore-extra", o.ignoreExtra,
               "Allow tensors in --init that the plan does not have")
      ->needs(init);
  app.add_flag("--cast", o.cast, "Convert floats of --init to the plan's types")
      ->needs(init);
  app.add_option("--seed", o.seed, "Seed the plan's initialisers")
      ->transform(wholeNumber(0, UINT64_MAX));
  app.add_option("--set", o.sets,
                 "Set a hyper: NAME=NUMBER, or NAME=NUMBER,NUMBER,... for "
                 "one of several numbers");
  app.add_option("--output", o.outputs, "Write an output: NAME=@FILE.npy");
  app.add_option("--save-checkpoint", o.saveCheckpoint,
                 "Write a checkpoint to this folder")
      ->check(kNotEmpty);
  app.add_option("--resume", o.resume,
                 "Go on from the checkpoint in this folder")
      ->check(kNotEmpty)
      ->excludes(init);
  app.add_option("--expected", o.expected,
                 "Compare an output after the run: NAME=@FILE.npy or inline");
  app.add_option("--tolerance", o.tolerance,
                 "Let --expected accept ||a-e||/||e|| up to this")
      ->check(kTolerance);
  app.add_option("--accuracy", o.accuracies,
                 "Count the rows of an output whose largest value stands at "
                 "the label: NAME=@LABELS.npy or inline");
  CLI::Option *every =
      app.add_option("--log-every", o.logEvery,
                     "Print outputs of one number each time this many steps have run, "
                     "and stop when one of them is not finite")
          ->transform(wholeNumber(1, UINT64_MAX));
  app.add_flag("--keep-going", o.keepGoing,
               "Do not stop then: with a loss scale a step may be lost")
      ->needs(every);
  app.add_option("--log", o.log,
                 "Write them to this file as well, one JSON object per line; "
                 "--resume appends, and goes on counting steps")
      ->check(kNotEmpty)
      ->needs(every);
  app.add_option("--trace", o.trace, "Write a trace for Perfetto or Chrome to this file (JSON)")
      ->check(kNotEmpty);
  app.add_flag("--print-statistics", o.printStatistics,
               "Print how many bytes and runs there were");
  app.add_flag("--dump-slots", o.dumpSlots, "Print where every tensor lies");
  app.add_flag("--check", o.check,
               "Run the other executor too and compare all bits");
  app.add_flag("--poison", o.poison, "Overwrite dead temps with NaN (eager)");
  app.add_flag("--canary", o.canary, "Check bytes around each tensor (eager)");
  app.add_flag("--check-indices", o.checkIndices,
               "Refuse indices and labels that are out of range (eager)");
  app.add_flag("--separate-allocations", o.separate,
               "Allocate each tensor by itself");
}

} // namespace

int aicfRunMain(int argc, char **argv);
int aicfRunMain(int argc, char **argv) {
  CLI::App app("Runs an entry of a plan", "aicf-run");
  Options options;
  addOptions(app, options);
  app.set_version_flag("--version", "aicf-run " + versionText());
  // CLI11 would take the next argument as the value of "--trace=".
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument.substr(0, 2) == "--" && argument.back() == '=') {
      std::cerr << "aicf-run: " << argument << " has no value\n";
      return kBadInput;
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? kOk : kBadInput;
  }
  if (!options.init.empty() && options.init[0] == '@')
    options.init.erase(0, 1);
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
  std::signal(SIGPIPE, SIG_IGN); // a reader that goes away is an error
  StatusOr<int> code = catchBadAlloc([&] { return runAll(options); });
  if (code.ok() && !std::cout.flush())
    code = Status(StatusCode::FileError, "cannot write to standard output");
  if (code.ok())
    return *code;
  std::cerr << "aicf-run: " << code.status().toString() << "\n";
  return exitCodeOf(code.status());
}
