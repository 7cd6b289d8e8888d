//===- ClipFactor.h - what clips gradients ----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_COUNTER_CLIPFACTOR_H
#define AICF_KERNELS_COUNTER_CLIPFACTOR_H

#include "lib/Base/HostDevice.h"

namespace aicf {

/// What multiplies gradients of the global norm `norm`, which `inverse`
/// multiplies anyway, so that it is `maxNorm` at most (PyTorch's
/// clip_grad_norm_, 1e-6 included). NaN stays NaN.
AICF_HOST_DEVICE inline double clipFactorOf(double norm, double inverse,
                                            double maxNorm) {
  double clip = maxNorm / (norm * inverse + 1e-6);
  return inverse * (clip > 1 ? 1 : clip);
}

} // namespace aicf

#endif // AICF_KERNELS_COUNTER_CLIPFACTOR_H
