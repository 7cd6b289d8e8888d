//===- Launch.h - what a kernel is called with ------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_LAUNCH_H
#define AICF_LIB_OPS_LAUNCH_H

#include "aicf/TensorDesc.h"
#include "lib/Ops/OpViews.h"

#include <vector>

namespace aicf {

/// What a CPU kernel works out once for a call, before any launch of it.
class CpuPrepared {
public:
  virtual ~CpuPrepared() = default;
};

/// A call as kernels and their planners see it; checked by resolve(), not by
/// kernels. Operands by name: a view, such as GemmArgs or GemmBiasArgs, made
/// from it. Values that exist inside only have a type and no memory.
class LaunchArgs : public BodyCall<const TensorView> {
public:
  /// `values` in the order of the body's numbers. Both must outlive this.
  LaunchArgs(const Body &body, Span<const TensorView> values,
             TensorView workspace = {})
      : BodyCall(body, values), workspace(workspace) {}

  TensorView workspace;
  /// Threads a CPU kernel may use; results do not depend on it.
  int numThreads = 1;
  /// Where the tensors are pieces of longer ones, the number that their element
  /// 0 has there.
  int64_t firstElement = 0;
  /// What cpu::prepare() gave for the call.
  const CpuPrepared *prepared = nullptr;
};

#define AICF_ARGS(KIND) using KIND##Args = KIND##View<LaunchArgs>;
AICF_KINDS(AICF_ARGS)
AICF_PATTERNS(AICF_ARGS)
#undef AICF_ARGS

/// A CPU kernel: reads its operands, writes its results, cannot fail, allocates
/// nothing but what a library keeps for a shape that a thread meets first.
using CpuKernel = void (*)(const LaunchArgs &);

} // namespace aicf

#endif // AICF_LIB_OPS_LAUNCH_H
