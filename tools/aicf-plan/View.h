//===- View.h - aicf-plan view ----------------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_TOOLS_AICF_PLAN_VIEW_H
#define AICF_TOOLS_AICF_PLAN_VIEW_H

#include "aicf/Status.h"

#include <CLI/CLI.hpp>

namespace aicf {

struct ViewArguments {
  std::string plan, with, output, profile, withProfile;
  double gigabytesPerSecond = 0, gigaflopsPerSecond = 0;
};

/// Adds the subcommand "view", whose flags fill `arguments`.
CLI::App *addView(CLI::App &app, ViewArguments &arguments);
/// Writes the page. Errors: of the plans and profiles, DeviceError (a file that
/// cannot be read or written).
Status view(const ViewArguments &arguments);

} // namespace aicf

#endif // AICF_TOOLS_AICF_PLAN_VIEW_H
