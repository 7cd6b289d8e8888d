//===- Cpu.cpp - elementary functions and arithmetic on the CPU ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What they compute stands in the records.
//===----------------------------------------------------------------------===//

#include "kernels/pointwise/Pointwise.h"

namespace aicf::cpu {

#define AICF_KERNELS_OF_math_CPU
#include "kernels/Definitions.inc"

Span<const ElementsRow> mathElements() {
  static const ElementsRow rows[] = {
#define AICF_KERNEL(KID, ...) {#KID, elementsOf(__VA_ARGS__)},
#include "kernels/Definitions.inc"
  };
  return {rows, std::size(rows)};
}

} // namespace aicf::cpu
