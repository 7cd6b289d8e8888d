//===- RowSum.h - sums and the maximum of a row on the CPU ------*- C++ -*-===//
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

/// Four additions of eight f64 are under way at once.
inline constexpr int64_t kRowLanes = 32;

/// Where the caller has many sums, those of fewer elements are better added in
/// order, some of them side by side.
inline constexpr int64_t kLongRow = 2 * kRowLanes;

/// Adds `count` elements from a multiple of kRowLanes on.
template <typename T>
inline void addToLanes(const T *x, int64_t count, double (&lanes)[kRowLanes]) {
  const int64_t whole = count / kRowLanes * kRowLanes;
  for (int64_t j = 0; j < whole; j += kRowLanes)
    for (int64_t lane = 0; lane < kRowLanes; ++lane)
      lanes[lane] += double(x[j + lane]);
  for (int64_t j = whole; j < count; ++j)
    lanes[j - whole] += double(x[j]);
}
/// Pairs of lanes, then pairs of pairs.
inline double sumOfLanes(double (&lanes)[kRowLanes]) {
  for (int64_t half = kRowLanes / 2; half > 0; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane)
      lanes[lane] += lanes[lane + half];
  return lanes[0];
}

/// The sum in f64 of value(j), which is a C, for j in [0, width).
template <typename C, typename Value>
double rowSum(int64_t width, Value value) {
  constexpr int64_t kPiece = 8 * kRowLanes;
  C piece[kPiece];
  double lanes[kRowLanes] = {};
  for (int64_t first = 0; first < width; first += kPiece) {
    const int64_t count = std::min(kPiece, width - first);
    AICF_INDEPENDENT_LOOP
    for (int64_t j = 0; j < count; ++j)
      piece[j] = value(first + j);
    addToLanes(piece, count, lanes);
  }
  return sumOfLanes(lanes);
}
/// The sum of what is there.
template <typename T> double rowSum(const T *x, int64_t width) {
  double lanes[kRowLanes] = {};
  addToLanes(x, width, lanes);
  return sumOfLanes(lanes);
}

/// A long sum is that of so many parts, in order.
inline constexpr int64_t kPartials = 64;
inline int64_t partBegin(int64_t part, int64_t n) {
  return part * n / kPartials;
}

/// Sum of term(i) over [0, n), of `totalElements` in all, in kPartials partial
/// sums: each as a row where it is long, else in order of i, some of them side
/// by side, since additions that wait for each other cost four times as much.
template <typename Term>
double parallelSum(int64_t n, int numThreads, int64_t totalElements,
                   Term term) {
  constexpr int64_t kSideBySide = 8;
  double sums[kPartials];
  auto first = [n](int64_t p) { return partBegin(p, n); };
  auto inLanes = [&](int64_t p, int64_t) {
    sums[p] = rowSum<double>(first(p + 1) - first(p),
                             [=](int64_t i) { return term(first(p) + i); });
  };
  auto inOrder = [&](int64_t begin, int64_t) {
    double s[kSideBySide] = {};
    for (int64_t i = 0; i < n / kPartials; ++i)
      for (int64_t q = 0; q < kSideBySide; ++q)
        s[q] += term(first(begin + q) + i);
    for (int64_t q = 0; q < kSideBySide; ++q) {
      // Of the rest, a partial sum has one term at most.
      for (int64_t i = first(begin + q) + n / kPartials;
           i < first(begin + q + 1); ++i)
        s[q] += term(i);
      sums[begin + q] = s[q];
    }
  };
  if (n >= kPartials * kLongRow)
    parallelFor(kPartials, 1, numThreads, totalElements, inLanes);
  else
    parallelFor(kPartials, kSideBySide, numThreads, totalElements, inOrder);
  double total = 0;
  for (double sum : sums)
    total += sum;
  return total;
}

/// The largest element. NaN counts for nothing, but in the first lanes, where
/// it may hide others of its lane.
template <typename T> Compute<T> rowMost(const T *x, int64_t width) {
  using C = Compute<T>;
  C lanes[kRowLanes];
  for (int64_t lane = 0; lane < kRowLanes; ++lane)
    lanes[lane] = C(x[lane < width ? lane : 0]);
  const int64_t whole = width / kRowLanes * kRowLanes;
  for (int64_t j = kRowLanes; j < whole; j += kRowLanes)
    for (int64_t lane = 0; lane < kRowLanes; ++lane)
      lanes[lane] = C(x[j + lane]) > lanes[lane] ? C(x[j + lane]) : lanes[lane];
  for (int64_t half = kRowLanes / 2; half > 0; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane)
      lanes[lane] =
          lanes[lane + half] > lanes[lane] ? lanes[lane + half] : lanes[lane];
  C most = lanes[0];
  for (int64_t j = whole; j < width; ++j)
    most = C(x[j]) > most ? C(x[j]) : most;
  return most;
}

} // namespace aicf::cpu

#endif // AICF_KERNELS_CPU_ROWSUM_H
