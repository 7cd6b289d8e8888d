//===- Version.h - which AICF this is ---------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_VERSION_H
#define AICF_VERSION_H

#include <string>

namespace aicf {

/// "0.1.0", as the CMake package says it.
std::string version();
/// What tools print for --version: the version, and the versions of plan files
/// that this build writes and reads.
std::string versionText();

} // namespace aicf

#endif // AICF_VERSION_H
