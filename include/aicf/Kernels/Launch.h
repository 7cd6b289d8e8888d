//===- Launch.h - what a kernel is called with ------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_LAUNCH_H
#define AICF_KERNELS_LAUNCH_H

#include "aicf/Support/OpRules.h"
#include "aicf/Support/TensorDesc.h"

namespace aicf {

/// A tensor in device memory. Row-major, dense. Not owned.
struct TensorView {
  void *data = nullptr;
  TensorDesc desc;
};

/// Arguments of one kernel launch; checked by resolve(), not by kernels.
struct LaunchArgs {
  Span<const TensorView> ins, outs;
  Span<const uint8_t> attrs;
  TensorView workspace;
  /// Threads a CPU kernel may use; results do not depend on it.
  int numThreads = 1;

  template <typename T> const T *in(size_t i) const {
    return static_cast<const T *>(ins[i].data);
  }
  template <typename T> T *out(size_t i) const {
    return static_cast<T *>(outs[i].data);
  }
  template <typename T> T attrsAs() const { return decodeAttrs<T>(attrs); }
  int64_t numElements(size_t operand) const {
    return ins[operand].desc.numElements();
  }
};

/// A CPU kernel: reads ins, writes outs, cannot fail, allocates nothing.
using CpuKernel = void (*)(const LaunchArgs &);

} // namespace aicf

#endif // AICF_KERNELS_LAUNCH_H
