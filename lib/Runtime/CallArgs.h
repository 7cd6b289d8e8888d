//===- CallArgs.h - a resolved call as kernels see it -----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Inline, because the runtime and libaicf_cuda.so both use it and neither links
// the other.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_CALLARGS_H
#define AICF_LIB_RUNTIME_CALLARGS_H

#include "aicf/OpCall.h"
#include "lib/Ops/KernelTable.h"
#include "lib/Ops/Launch.h"

namespace aicf {

inline LaunchArgs ResolvedCall::launchArgs() const {
  return {body(), values(), workspace};
}

} // namespace aicf

#endif // AICF_LIB_RUNTIME_CALLARGS_H
