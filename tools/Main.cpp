//===- Main.cpp - a tool as a program of its own --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The Python package has the same tools without a second copy of what they are
// linked with: there AICF_TOOL is called by the console command.
//===----------------------------------------------------------------------===//

#ifdef AICF_TOOL_HAS_LLVM
#include "llvm/Support/InitLLVM.h"
#endif

int AICF_TOOL(int argc, char **argv);

int main(int argc, char **argv) {
#ifdef AICF_TOOL_HAS_LLVM
  llvm::InitLLVM prints(argc, argv); // where the tool was, if it crashes
#endif
  return AICF_TOOL(argc, argv);
}
