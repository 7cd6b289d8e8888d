//===- Cpu.cpp - graphs of elementwise primitives on the CPU --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/graph/CpuProgram.h"

namespace aicf::cpu {

static void graph(GraphView<LaunchArgs> call) {
  static_cast<const GraphProgram *>(call->prepared)
      ->run(call.values(), call->numThreads);
}

#define AICF_KERNELS_OF_graph_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
