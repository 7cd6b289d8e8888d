//===- View.cpp - aicf-plan view ------------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/aicf-plan/View.h"
#include "aicf/PlanView.h"
#include "lib/Base/File.h"

#include <cmath>
#include <filesystem>
#include <iostream>

namespace aicf {

static const CLI::Validator kRate(
    [](std::string &text) {
      char *end = nullptr;
      double value = std::strtod(text.c_str(), &end);
      bool isLegal = !text.empty() && !*end && std::isfinite(value) && value > 0;
      return isLegal ? std::string()
                     : "\"" + text + "\" is not a positive number";
    },
    "NUMBER");

CLI::App *addView(CLI::App &app, ViewArguments &arguments) {
  CLI::App *command =
      app.add_subcommand("view", "Write a page that shows a plan in a browser");
  command->add_option("file", arguments.plan, "The plan")->required();
  command->add_option("-o,--output", arguments.output,
                      "Write this page, - for standard output")
      ->required();
  CLI::Option *with = command->add_option(
      "--with", arguments.with, "Show this plan beside it");
  command->add_option("--profile", arguments.profile,
                      "Show the times that aicf-run --profile wrote");
  command
      ->add_option("--with-profile", arguments.withProfile,
                   "Show such times for the other plan")
      ->needs(with);
  command
      ->add_option("--gigabytes-per-second", arguments.gigabytesPerSecond,
                   "Say what the device copies in a second, for the least time "
                   "that a call can take")
      ->check(kRate);
  command
      ->add_option("--gigaflops", arguments.gigaflopsPerSecond,
                   "Say what the device computes in a second, likewise")
      ->check(kRate);
  return command;
}

static StatusOr<std::string> readText(const std::string &path) {
  if (path.empty())
    return std::string();
  AICF_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, readFile(path));
  if (bytes.empty())
    return makeError(StatusCode::InvalidFile, "'", path, "' is empty");
  return std::string(bytes.begin(), bytes.end());
}

static std::string fileName(const std::string &path) {
  return path.substr(path.find_last_of('/') + 1);
}

/// A page must not replace what it shows.
static Status checkOutput(const ViewArguments &arguments) {
  for (const std::string &input : {arguments.plan, arguments.with,
                                   arguments.profile, arguments.withProfile}) {
    std::error_code error;
    if (!input.empty() &&
        std::filesystem::equivalent(input, arguments.output, error))
      return makeError(StatusCode::InvalidArgument, "-o: '", arguments.output,
                       "' is an input, and would be overwritten");
  }
  return {};
}

Status view(const ViewArguments &arguments) {
  AICF_RETURN_IF_ERROR(checkOutput(arguments));
  std::vector<Plan> plans;
  std::vector<ViewedPlan> viewed;
  plans.reserve(2);
  for (const auto &[path, profile] :
       {std::pair(arguments.plan, arguments.profile),
        std::pair(arguments.with, arguments.withProfile)}) {
    if (path.empty())
      continue;
    AICF_ASSIGN_OR_RETURN(Plan plan, Plan::load(path));
    AICF_ASSIGN_OR_RETURN(std::string times, readText(profile));
    plans.push_back(std::move(plan));
    viewed.push_back({&plans.back(), fileName(path), std::move(times)});
  }
  AICF_ASSIGN_OR_RETURN(
      std::string page,
      viewPlans(viewed, {arguments.gigabytesPerSecond * 1e9,
                         arguments.gigaflopsPerSecond * 1e9}));
  if (arguments.output == "-") {
    std::cout << page;
    return std::cout.flush() ? Status()
                             : makeError(StatusCode::FileError,
                                         "cannot write standard output");
  }
  return writeFileAtomically(
      arguments.output,
      {reinterpret_cast<const uint8_t *>(page.data()), page.size()});
}

} // namespace aicf
