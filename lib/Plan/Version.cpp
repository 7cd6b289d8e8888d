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
  auto upTo = [](uint16_t major, uint16_t minor) {
    return std::to_string(major) + ".0 to " + std::to_string(major) + "." +
           std::to_string(minor);
  };
  return version() + " (plan files of version " +
         upTo(kOldPlanMajor, kOldPlanMinor) + " and " +
         upTo(kPlanMajor, kPlanMinor) + ")";
}
