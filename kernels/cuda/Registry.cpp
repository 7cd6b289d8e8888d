//===- Registry.cpp - CUDA kernels by KID ---------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cuda/KernelDecls.h"

#include <unordered_map>

namespace aicf::cuda {

Planner findPlanner(std::string_view kid) {
  static const std::unordered_map<std::string_view, Planner> planners = {
#define AICF_ROWS_OF_CUDA
#define AICF_ROW_Own(KID, ...) {#KID, &KID},
#include "kernels/Rows.def"
  };
  auto it = planners.find(kid);
  return it == planners.end() ? nullptr : it->second;
}

} // namespace aicf::cuda
