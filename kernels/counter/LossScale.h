//===- LossScale.h - the range of a dynamic loss scale ----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// PyTorch's GradScaler has no lower bound: after some 145 bad steps 1/scale is
// Inf, every f16 gradient 0, and 0 * Inf makes all weights NaN while the step
// counts as good. Nor has it a way back from Inf. Kernels of both devices and
// the compiler ask here.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_COUNTER_LOSSSCALE_H
#define AICF_KERNELS_COUNTER_LOSSSCALE_H

#include "lib/Base/HostDevice.h"

namespace aicf {

/// f16's smallest number: below it a gradient of 1 vanishes. 1/scale is finite.
inline constexpr double kLeastLossScale = 0x1p-24;
/// 1/scale is still a normal f32.
inline constexpr double kMostLossScale = 0x1p126;

/// The nearest scale in the range; NaN becomes the least.
template <typename T> AICF_HOST_DEVICE T clampLossScale(T scale) {
  constexpr T least = T(kLeastLossScale), most = T(kMostLossScale);
  return !(scale > least) ? least : scale > most ? most : scale;
}

} // namespace aicf

#endif // AICF_KERNELS_COUNTER_LOSSSCALE_H
