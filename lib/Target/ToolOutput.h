//===- ToolOutput.h - what a tool leaves behind ---------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TARGET_TOOLOUTPUT_H
#define AICF_LIB_TARGET_TOOLOUTPUT_H

#include "mlir/Support/LLVM.h"

namespace aicf {
using namespace mlir;

/// Writes what a tool made, all or nothing: to standard output where `path` is
/// "-", else as writeFileAtomically(). Says why not in `error`.
LogicalResult writeToolOutput(StringRef path, ArrayRef<uint8_t> bytes,
                              std::string &error);

/// --version of a tool says which AICF it is, then which LLVM.
void addVersionPrinter(const char *tool);

/// Leaves the options that were registered so far, which are LLVM's own, out of
/// --help; --help-hidden shows them. Call it before a tool registers its own.
void hideRegisteredOptions();

} // namespace aicf

#endif // AICF_LIB_TARGET_TOOLOUTPUT_H
