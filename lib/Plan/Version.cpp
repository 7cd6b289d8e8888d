//===- Version.cpp - which AICF this is -----------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Version.h"
#include "aicf/Plan.h"

std::string aicf::version() { return AICF_VERSION; }

std::string aicf::versionText() {
  return version() + " (plan files of version " + std::to_string(kPlanMajor) +
         ".0 to " + std::to_string(kPlanMajor) + "." +
         std::to_string(kPlanMinor) + ")";
}
