//===- Interpret.cpp - `aicf-plan interpret` ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Runs a plan of any device in f64, without kernels; results are written as f64
// .npy files, so that nothing is rounded a second time.
//===----------------------------------------------------------------------===//

#include "tools/aicf-plan/Interpret.h"

#include "lib/Base/File.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Runtime/IO/Npy.h"
#include "tools/aicf-run/Arguments.h"
#include "tools/aicf-run/Validators.h"

#include <iomanip>
#include <iostream>

namespace aicf {

CLI::App *addInterpret(CLI::App &app, InterpretArguments &a) {
  CLI::App *command = app.add_subcommand(
      "interpret", "Compute a plan of any device in f64, without its kernels");
  command->add_option("file", a.plan, "The plan")->required();
  command->add_option("--entry", a.entry, "Run this entry; the first one is the default");
  command->add_option("--steps", a.steps, "Run the entry this many times")
      ->transform(wholeNumber(1, uint64_t(1) << 32));
  command->add_option("--seed", a.seed, "Seed the plan's initialisers")
      ->transform(wholeNumber(0, UINT64_MAX));
  CLI::Option *order =
      command
          ->add_option(
              "--order-seed", a.orderSeed,
              "Run calls in a random order that streams and events allow")
          ->transform(wholeNumber(0, UINT64_MAX));
  command->add_flag("--exact", a.isExact, "Do not round results to dtypes");
  command->add_option("--input", a.inputs,
                      "Give an input: NAME=@FILE.npy, or "
                      "NAME=2x3xf32=1,2,3,4,5,6");
  command->add_option("--set", a.sets, "Set a hyper: NAME=NUMBER");
  command
      ->add_option("--init", a.init,
                   "Start from the params and states in @FILE.safetensors")
      ->check(kNotEmpty);
  command->add_option("--output", a.outputs,
                      "Write an output, param or state as f64: NAME=@FILE.npy");
  command->parse_complete_callback(
      [&a, order] { a.isRandom = !order->empty(); });
  return command;
}

namespace {

std::vector<double> valuesOf(const HostTensor &tensor) {
  std::vector<double> values;
  for (size_t i = 0; i < size_t(tensor.desc.elements()); ++i)
    values.push_back(elementAsDouble(tensor, i));
  return values;
}

/// The entry whose input or output `name` is, or "" for what all entries share.
std::string ownerOf(const Interpreter &interpreter, const std::string &entry,
                    const std::string &name) {
  return interpreter.find(entry, name).ok() ? entry : std::string();
}

Status write(Interpreter &interpreter, const std::string &entry,
             const NamedTensor &named) {
  std::string owner = ownerOf(interpreter, entry, named.name);
  AICF_ASSIGN_OR_RETURN(TensorInfo tensor, interpreter.find(owner, named.name));
  if (tensor.desc != named.tensor.desc)
    return makeError(StatusCode::InvalidArgument, "\"", named.name, "\" is ",
                     tensor.desc.toString(), " in the plan, got ",
                     named.tensor.desc.toString());
  return interpreter.write(owner, named.name, valuesOf(named.tensor));
}

Status setUp(Interpreter &interpreter, const Plan &plan,
             const InterpretArguments &a, const std::string &entry) {
  if (!a.init.empty()) {
    std::string path = a.init[0] == '@' ? a.init.substr(1) : a.init;
    AICF_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, readFile(path));
    AICF_ASSIGN_OR_RETURN(auto weights, parseSafetensors(bytes));
    for (const auto &[name, tensor] : weights)
      AICF_RETURN_IF_ERROR(write(interpreter, "", {name, tensor}));
  }
  for (const std::string &argument : a.inputs) {
    AICF_ASSIGN_OR_RETURN(NamedTensor input, parseTensorArgument(argument));
    AICF_RETURN_IF_ERROR(write(interpreter, entry, input));
  }
  for (const std::string &argument : a.sets) {
    AICF_ASSIGN_OR_RETURN(NamedTensor hyper, parseSetArgument(plan, argument));
    AICF_RETURN_IF_ERROR(write(interpreter, "", hyper));
  }
  return {};
}

Status writeOutput(const Interpreter &interpreter, const std::string &entry,
                   const NamedFile &file) {
  std::string owner = ownerOf(interpreter, entry, file.name);
  AICF_ASSIGN_OR_RETURN(TensorInfo tensor, interpreter.find(owner, file.name));
  AICF_ASSIGN_OR_RETURN(std::vector<double> values,
                        interpreter.read(owner, file.name));
  AICF_ASSIGN_OR_RETURN(
      std::vector<uint8_t> bytes,
      serializeNpy(TensorDesc(DType::F64, tensor.desc.shape()),
                   {reinterpret_cast<const uint8_t *>(values.data()),
                    values.size() * sizeof(double)}));
  return writeFileAtomically(file.path, bytes);
}

} // namespace

Status interpret(const InterpretArguments &a) {
  AICF_ASSIGN_OR_RETURN(Plan loaded, Plan::load(a.plan));
  auto plan = std::make_shared<const Plan>(std::move(loaded));
  InterpreterOptions options;
  options.seed = a.seed;
  options.roundToDType = !a.isExact;
  if (a.isRandom)
    options.orderSeed = a.orderSeed;
  Interpreter interpreter(plan, options);
  std::string entry = a.entry.empty() ? plan->entries.front().name : a.entry;
  if (!plan->findEntry(entry))
    return makeError(StatusCode::InvalidArgument, "the plan has no entry \"",
                     entry, "\"");
  AICF_RETURN_IF_ERROR(setUp(interpreter, *plan, a, entry));
  std::vector<NamedFile> outputs; // what is wrong with them is said before
  for (const std::string &argument : a.outputs) {
    AICF_ASSIGN_OR_RETURN(NamedFile file, parseFileArgument(argument));
    std::string owner = ownerOf(interpreter, entry, file.name);
    AICF_RETURN_IF_ERROR(interpreter.find(owner, file.name).status());
    AICF_RETURN_IF_ERROR(checkWritable(file.path));
    outputs.push_back(std::move(file));
  }
  for (uint64_t step = 0; step < a.steps; ++step)
    AICF_RETURN_IF_ERROR(interpreter.run(entry));
  for (const NamedFile &file : outputs)
    AICF_RETURN_IF_ERROR(writeOutput(interpreter, entry, file));
  for (const TensorInfo &t : plan->tensors(*plan->findEntry(entry)))
    if (t.role == Role::Output && t.desc.rank == 0) {
      AICF_ASSIGN_OR_RETURN(std::vector<double> value,
                            interpreter.read(entry, t.name));
      std::cout << t.name << " = " << std::setprecision(17) << value[0] << "\n";
    }
  return {};
}

} // namespace aicf
