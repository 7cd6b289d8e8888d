//===- RowSum.h - the sum and the maximum of a row on the CPU ---*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// In lanes that advance side by side, since a sum in one variable waits for
// each addition. The width of a row alone decides the order.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CPU_ROWSUM_H
#define AICF_KERNELS_CPU_ROWSUM_H

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"

#include <algorithm>

namespace aicf::cpu {

inline constexpr int64_t kRowLanes = 8;

/// The sum in f64 of value(j), which is a C, for j in [0, width).
template <typename C, typename Value>
double rowSum(int64_t width, Value value) {
  constexpr int64_t kPiece = 32 * kRowLanes;
  C piece[kPiece];
  double lanes[kRowLanes] = {};
  for (int64_t first = 0; first < width; first += kPiece) {
    const int64_t count = std::min(kPiece, width - first);
    AICF_INDEPENDENT_LOOP
    for (int64_t j = 0; j < count; ++j)
      piece[j] = value(first + j);
    const int64_t whole = count / kRowLanes * kRowLanes;
    for (int64_t j = 0; j < whole; j += kRowLanes)
      for (int64_t lane = 0; lane < kRowLanes; ++lane)
        lanes[lane] += double(piece[j + lane]);
    for (int64_t j = whole; j < count; ++j)
      lanes[j - whole] += double(piece[j]);
  }
  double sum = 0;
  for (double lane : lanes)
    sum += lane;
  return sum;
}

/// The largest element. NaN counts for nothing, but in the first lanes.
template <typename T> Compute<T> rowMost(const T *x, int64_t width) {
  using C = Compute<T>;
  C lanes[kRowLanes];
  for (int64_t lane = 0; lane < kRowLanes; ++lane)
    lanes[lane] = C(x[lane < width ? lane : 0]);
  const int64_t whole = width / kRowLanes * kRowLanes;
  for (int64_t j = kRowLanes; j < whole; j += kRowLanes)
    for (int64_t lane = 0; lane < kRowLanes; ++lane)
      lanes[lane] = C(x[j + lane]) > lanes[lane] ? C(x[j + lane]) : lanes[lane];
  C most = lanes[0];
  for (C lane : lanes)
    most = lane > most ? lane : most;
  for (int64_t j = whole; j < width; ++j)
    most = C(x[j]) > most ? C(x[j]) : most;
  return most;
}

} // namespace aicf::cpu

#endif // AICF_KERNELS_CPU_ROWSUM_H
