//===- Bias.h - a bias beside what it is added to ---------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For the kernels of bias_add that go by strides. Touches no memory.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_POINTWISE_BIAS_H
#define AICF_KERNELS_POINTWISE_BIAS_H

#include "aicf/TensorDesc.h"

namespace aicf {

/// The vector b of a call of bias_add as a tensor of y's shape that repeats b
/// along all dimensions but the call's axis.
template <typename BiasAddCall> TensorDesc repeatedBias(const BiasAddCall &call) {
  const TensorDesc &y = call.y().desc;
  int64_t axis = call.attrs().axis, strides[kMaxRank] = {};
  strides[axis < 0 ? y.rank - 1 : axis] = 1;
  return TensorDesc::strided(y.dtype, y.shape(), {strides, y.rank});
}

} // namespace aicf

#endif // AICF_KERNELS_POINTWISE_BIAS_H
