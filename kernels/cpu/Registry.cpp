//===- Registry.cpp - CPU kernels by KID ----------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"

#include <unordered_map>

namespace aicf::cpu {

CpuKernel findFunction(std::string_view kid) {
  static const std::unordered_map<std::string_view, CpuKernel> functions = {
#define AICF_ROWS_OF_CPU
#define AICF_ROW(KID, ...) {#KID, &KID},
#include "kernels/Rows.def"
  };
  auto it = functions.find(kid);
  return it == functions.end() ? nullptr : it->second;
}

} // namespace aicf::cpu
