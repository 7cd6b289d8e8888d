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
inline void addToLanes(const T *x, int64_t count, double *lanes) {
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
inline int64_t partBegin(int64_t part, int64_t n, int64_t parts = kPartials) {
  return part * n / parts;
}
/// Rows of so many elements are sums of kPartials parts: all threads add one.
inline constexpr int64_t kVeryLongRow = 65536;

/// Columns whose sums stand side by side, at most.
inline constexpr int64_t kMostColumns = 512;
/// A column of many elements is the sum of parts, too.
inline constexpr int64_t kMostColumnParts = 32;
inline int64_t columnParts(int64_t size) {
  return std::clamp<int64_t>(size / kLongRow, 1, kMostColumnParts);
}

/// `count` sums of `n` elements each, in order of the parts that each has.
/// add(begin, end, to) puts the sums of elements [begin, end) there.
template <int64_t kMostParts, int64_t kMostSums, typename Add>
void sumOfParts(int64_t n, int64_t parts, int64_t count, int numThreads,
                const Add &add, double *sums) {
  if (parts == 1)
    return add(int64_t(0), n, sums);
  auto addTo = [&](int64_t part, double *to) {
    add(partBegin(part, n, parts), partBegin(part + 1, n, parts), to);
  };
  std::fill_n(sums, count, 0.0);
  auto take = [&](const double *more) {
    for (int64_t j = 0; j < count; ++j)
      sums[j] += more[j];
  };
  if (numThreads > 1) {
    double all[kMostParts][kMostSums];
    parallelFor(parts, 1, numThreads, n * count,
                [&](int64_t part, int64_t) { addTo(part, all[part]); });
    for (int64_t part = 0; part < parts; ++part)
      take(all[part]);
    return;
  }
  double one[kMostSums];
  for (int64_t part = 0; part < parts; ++part) {
    addTo(part, one);
    take(one);
  }
}

/// Adds `rows` rows, `pitch` elements apart, to `width` sums of columns.
template <typename T>
void addColumns(const T *from, int64_t pitch, int64_t rows, int64_t width,
                double *sums) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4, from += 4 * pitch)
    for (int64_t j = 0; j < width; ++j) {
      double sum = sums[j];
      for (int64_t k = 0; k < 4; ++k)
        sum += double(from[k * pitch + j]);
      sums[j] = sum;
    }
  for (; r < rows; ++r, from += pitch)
    for (int64_t j = 0; j < width; ++j)
      sums[j] += double(from[j]);
}

/// Sum of n terms, of `totalElements` in all, in kPartials partial sums: each
/// as a row where it is long, else in order, some of them side by side, since
/// additions that wait for each other cost four times as much.
/// fill(count, at, to) writes the terms of at(0), ..., at(count - 1).
template <typename Fill>
double parallelSumOf(int64_t n, int numThreads, int64_t totalElements,
                     const Fill &fill) {
  constexpr int64_t kSideBySide = 8;
  double sums[kPartials];
  auto first = [n](int64_t p) { return partBegin(p, n); };
  auto inLanes = [&](int64_t p, int64_t) {
    constexpr int64_t kPiece = 8 * kRowLanes;
    double terms[kPiece], lanes[kRowLanes] = {};
    const int64_t end = first(p + 1);
    for (int64_t i = first(p); i < end; i += kPiece) {
      const int64_t count = std::min(kPiece, end - i);
      fill(count, [=](int64_t k) { return i + k; }, terms);
      addToLanes(terms, count, lanes);
    }
    sums[p] = sumOfLanes(lanes);
  };
  auto inOrder = [&](int64_t begin, int64_t) {
    double s[kSideBySide] = {}, terms[kSideBySide];
    for (int64_t i = 0; i < n / kPartials; ++i) {
      fill(kSideBySide, [=](int64_t q) { return first(begin + q) + i; }, terms);
      for (int64_t q = 0; q < kSideBySide; ++q)
        s[q] += terms[q];
    }
    for (int64_t q = 0; q < kSideBySide; ++q) {
      // Of the rest, a partial sum has one term at most.
      const int64_t rest = first(begin + q) + n / kPartials;
      if (rest < first(begin + q + 1)) {
        fill(1, [=](int64_t) { return rest; }, terms);
        s[q] += terms[0];
      }
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
/// The same of term(i) over [0, n).
template <typename Term>
double parallelSum(int64_t n, int numThreads, int64_t totalElements,
                   Term term) {
  return parallelSumOf(n, numThreads, totalElements,
                       [=](int64_t count, auto at, double *to) {
                         AICF_INDEPENDENT_LOOP
                         for (int64_t k = 0; k < count; ++k)
                           to[k] = term(at(k));
                       });
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
