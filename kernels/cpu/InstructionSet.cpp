//===- InstructionSet.cpp - what the CPU's kernels may use ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/Parallel.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace aicf::cpu {

#if defined(__x86_64__) && defined(__GNUC__)
InstructionSet instructionSetOfMachine() {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("f16c"))
    return InstructionSet::Baseline;
  return __builtin_cpu_supports("avx512f") &&
                 __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512vl")
             ? InstructionSet::AVX512
             : InstructionSet::AVX2;
}
#else
InstructionSet instructionSetOfMachine() { return InstructionSet::Baseline; }
#endif

InstructionSet bestInstructionSet() {
  static const InstructionSet best = [] {
    const char *text = std::getenv("AICF_CPU_ISA");
    const std::string_view most = text ? text : "";
    const InstructionSet allowed = most == "baseline" ? InstructionSet::Baseline
                                   : most == "avx2"   ? InstructionSet::AVX2
                                                      : InstructionSet::AVX512;
    return std::min(allowed, instructionSetOfMachine());
  }();
  return best;
}

} // namespace aicf::cpu
