//===- Interpret.h - `aicf-plan interpret` ----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_TOOLS_AICF_PLAN_INTERPRET_H
#define AICF_TOOLS_AICF_PLAN_INTERPRET_H

#include "aicf/Status.h"

#include <CLI/CLI.hpp>

namespace aicf {

struct InterpretArguments {
  std::string plan, entry, init;
  uint64_t steps = 1, seed = 0, orderSeed = 0;
  bool isRandom = false, isExact = false;
  std::vector<std::string> inputs, sets, outputs;
};

/// The subcommand, which fills `arguments`.
CLI::App *addInterpret(CLI::App &app, InterpretArguments &arguments);
/// Runs it: outputs go to their files, 0-d outputs to standard output.
Status interpret(const InterpretArguments &arguments);

} // namespace aicf

#endif // AICF_TOOLS_AICF_PLAN_INTERPRET_H
