//===- aicf-plan.cpp - look at plan files ---------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//   aicf-plan dump [--json] [--lifetimes] FILE
//   aicf-plan verify FILE...
//   aicf-plan diff A B
//   aicf-plan view [--with B] [--profile JSON] A -o PAGE.html
//   aicf-plan costs [NAME]
//   aicf-plan interpret [--input ...] [--output ...] FILE
// Exit codes: 0 ok (for diff: equal), 1 different, 2 bad usage or plan.
//===----------------------------------------------------------------------===//

#include "aicf/Plan.h"
#include "aicf/Version.h"
#include "lib/Base/BadAlloc.h"
#include "lib/Ops/Costs.h"
#include "tools/aicf-plan/Interpret.h"
#include "tools/aicf-plan/View.h"

#include <functional>
#include <iostream>

namespace {

/// Prints the error and returns nullopt, or the plan.
std::optional<aicf::Plan> load(const std::string &path) {
  aicf::StatusOr<aicf::Plan> plan = aicf::Plan::load(path);
  if (plan.ok())
    return std::move(*plan);
  std::cerr << "aicf-plan: " << plan.status().toString() << "\n";
  return std::nullopt;
}

int dump(const std::string &path, bool json, bool lifetimes) {
  std::optional<aicf::Plan> plan = load(path);
  if (!plan)
    return 2;
  std::cout << (json ? aicf::dumpPlanAsJson(*plan)
                     : aicf::dumpPlan(*plan, lifetimes));
  return std::cout.flush() ? 0 : 2;
}

int verify(const std::vector<std::string> &paths) {
  int code = 0;
  for (const std::string &path : paths)
    if (load(path))
      std::cout << path << ": ok\n";
    else
      code = 2;
  return code;
}

int diff(const std::string &a, const std::string &b) {
  std::optional<aicf::Plan> planA = load(a), planB = load(b);
  if (!planA || !planB)
    return 2;
  std::string text = aicf::diffPlans(*planA, *planB);
  std::cout << text;
  return text.empty() ? 0 : 1;
}

/// Prints one profile, or all.
int printCosts(const std::string &name) {
  if (!name.empty() && !aicf::findCosts(name)) {
    std::cerr << "aicf-plan: no profile is named \"" << name << "\", known are";
    for (const aicf::Costs &costs : aicf::allCosts())
      std::cerr << " " << costs.name;
    std::cerr << "\n";
    return 2;
  }
  for (const aicf::Costs &costs : aicf::allCosts())
    if (name.empty() || costs.name == name)
      std::cout << costs.toString();
  return 0;
}

/// What a subcommand did; prints its error.
int report(const std::function<aicf::Status()> &work) {
  aicf::Status status = aicf::catchBadAlloc(work);
  if (status.ok())
    return 0;
  std::cerr << "aicf-plan: " << status.toString() << "\n";
  return 2;
}

} // namespace

int aicfPlanMain(int argc, char **argv);
int aicfPlanMain(int argc, char **argv) {
  CLI::App app("Shows, checks and compares plan files", "aicf-plan");
  app.require_subcommand(1);
  app.set_version_flag("--version", "aicf-plan " + aicf::versionText());
  std::string path, other;
  std::vector<std::string> paths;
  bool json = false, lifetimes = false;
  CLI::App *dumpCommand = app.add_subcommand("dump", "Print a plan as text");
  dumpCommand->add_option("file", path, "The plan")->required();
  dumpCommand->add_flag("--json", json, "Print every field as JSON");
  dumpCommand->add_flag("--lifetimes", lifetimes,
                        "Add a chart of when each temp lives");
  CLI::App *verifyCommand = app.add_subcommand("verify", "Check plans as the loader does");
  verifyCommand->add_option("files", paths, "The plans")->required();
  CLI::App *diffCommand = app.add_subcommand("diff", "Print what differs between two plans");
  diffCommand->add_option("a", path, "The old plan")->required();
  diffCommand->add_option("b", other, "The new plan")->required();
  std::string profile;
  CLI::App *costsCommand = app.add_subcommand(
      "costs", "Print the numbers by which the compiler decides for a device");
  costsCommand->add_option("profile", profile, "One of them, such as h200");
  aicf::InterpretArguments arguments;
  CLI::App *interpretCommand = aicf::addInterpret(app, arguments);
  aicf::ViewArguments viewed;
  CLI::App *viewCommand = aicf::addView(app, viewed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (*dumpCommand)
    return dump(path, json, lifetimes);
  int code = *verifyCommand      ? verify(paths)
             : *interpretCommand ? report([&] { return aicf::interpret(arguments); })
             : *costsCommand     ? printCosts(profile)
             : *viewCommand      ? report([&] { return aicf::view(viewed); })
                                 : diff(path, other);
  return std::cout.flush() ? code : 2;
}
