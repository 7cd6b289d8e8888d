//===- Scalars.h - the scalar opcodes of pointwise primitives ---*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One function an opcode of include/aicf/Dialect/Scalar.td, for f32 and
// f64, on both devices. No contraction: each rounds once (-ffp-contract=off,
// -fmad=false in device code that includes this).
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_POINTWISE_SCALARS_H
#define AICF_KERNELS_POINTWISE_SCALARS_H

#include "lib/Base/HostDevice.h"

#include <cmath>

namespace aicf::scalar {

template <typename C> AICF_HOST_DEVICE inline C same(C x) { return x; }
template <typename C> AICF_HOST_DEVICE inline C add(C a, C b) { return a + b; }
template <typename C> AICF_HOST_DEVICE inline C sub(C a, C b) { return a - b; }
template <typename C> AICF_HOST_DEVICE inline C mul(C a, C b) { return a * b; }
/// IEEE: x/0 is an infinity or NaN.
template <typename C> AICF_HOST_DEVICE inline C div(C a, C b) { return a / b; }
/// False where either is NaN; -0 equals 0.
template <typename C> AICF_HOST_DEVICE inline bool less(C a, C b) {
  return a < b;
}
template <typename C> AICF_HOST_DEVICE inline bool greater(C a, C b) {
  return a > b;
}
/// NaN stays NaN in all of these; exp overflows to infinity.
template <typename C> AICF_HOST_DEVICE inline C exp(C x) { return std::exp(x); }
template <typename C> AICF_HOST_DEVICE inline C erfc(C x) {
  return std::erfc(x);
}
template <typename C> AICF_HOST_DEVICE inline C tanh(C x) {
  return std::tanh(x);
}

} // namespace aicf::scalar

#endif // AICF_KERNELS_POINTWISE_SCALARS_H
