//===- Register.cpp - all passes of AICF ----------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Here and not in lib/Transforms: who compiles plans alone links no bridge.
//===----------------------------------------------------------------------===//

#include "aicf/Compiler.h"

void aicf::registerAllPasses() { registerAICFPasses(); }
