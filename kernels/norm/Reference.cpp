//===- Reference.cpp - sums and layer norm in f64 -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

#include <cmath>
#include <vector>

namespace aicf::reference {

/// Element i of `large` belongs to this element of `small`, its sum along
/// `axis`.
static size_t summedAt(size_t i, const Tensor &large, const Tensor &small,
                       int64_t axis) {
  size_t inner = 1, size = large.size() / small.size();
  for (int64_t d = axis + 1; d < large.desc.rank; ++d)
    inner *= size_t(large.dim(d));
  return i / (inner * size) * inner + i % inner;
}

void sumOver(const Tensor &from, int64_t axis, Tensor &to) {
  fill(to, [](size_t) { return 0.0; });
  for (size_t i = 0; i < from.size(); ++i)
    to[summedAt(i, from, to, axis)] += from[i];
}

void compute(const ExpandView<Call> &c) {
  fill(c.y(), [&](size_t i) {
    return c.x()[summedAt(i, c.y(), c.x(), c.attrs().axis)];
  });
}

void compute(const ReduceSumView<Call> &c) {
  sumOver(c.x(), c.attrs().axis, c.y());
}

void compute(const ReduceMeanView<Call> &c) {
  sumOver(c.x(), c.attrs().axis, c.y());
  double count = double(c.x().size() / c.y().size());
  fill(c.y(), [&](size_t i) { return c.y()[i] / count; });
}

/// Element by element in row-major order, so that the first of equal ones
/// stays.
template <typename View, typename IsBetter>
static void findExtrema(const View &c, IsBetter isBetter) {
  int64_t axis = c.attrs().axis;
  std::vector<size_t> seen(c.y().size());
  for (size_t i = 0; i < c.x().size(); ++i) {
    size_t at = summedAt(i, c.x(), c.y(), axis);
    double value = c.x()[i], best = c.y()[at];
    size_t number = seen[at]++;
    if (number == 0 ||
        (!std::isnan(best) && (std::isnan(value) || isBetter(value, best)))) {
      c.y()[at] = value;
      c.index()[at] = double(number);
    }
  }
}
void compute(const ReduceMaxView<Call> &c) {
  findExtrema(c, [](double a, double b) { return a > b; });
}
void compute(const ReduceMinView<Call> &c) {
  findExtrema(c, [](double a, double b) { return a < b; });
}

void compute(const ExtremumBwdView<Call> &c) {
  std::vector<double> seen(c.dy().size());
  for (size_t i = 0; i < c.dx().size(); ++i) {
    size_t at = summedAt(i, c.dx(), c.dy(), c.attrs().axis);
    c.dx()[i] = seen[at]++ == c.index()[at] ? c.dy()[at] : 0;
  }
}

void compute(const LayerNormView<Call> &c) {
  double eps = c.attrs().eps;
  size_t width = c.gamma().size(), rows = c.x().size() / width;
  for (size_t r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (size_t j = 0; j < width; ++j)
      mean += c.x()[r * width + j] / double(width);
    for (size_t j = 0; j < width; ++j)
      variance += std::pow(c.x()[r * width + j] - mean, 2);
    double rstd = 1 / std::sqrt(variance / double(width) + eps);
    for (size_t j = 0; j < width; ++j)
      c.y()[r * width + j] =
          (c.x()[r * width + j] - mean) * rstd * c.gamma()[j] + c.beta()[j];
    c.mean()[r] = mean;
    c.rstd()[r] = rstd;
  }
}

void compute(const LayerNormBwdView<Call> &c) {
  size_t width = c.gamma().size(), rows = c.dy().size() / width;
  for (size_t j = 0; j < width; ++j)
    c.dgamma()[j] = c.dbeta()[j] = 0;
  for (size_t r = 0; r < rows; ++r) {
    double meanG = 0, meanGH = 0;
    auto h = [&](size_t j) {
      return (c.x()[r * width + j] - c.mean()[r]) * c.rstd()[r];
    };
    auto g = [&](size_t j) { return c.dy()[r * width + j] * c.gamma()[j]; };
    for (size_t j = 0; j < width; ++j) {
      meanG += g(j) / double(width);
      meanGH += g(j) * h(j) / double(width);
      c.dgamma()[j] += c.dy()[r * width + j] * h(j);
      c.dbeta()[j] += c.dy()[r * width + j];
    }
    for (size_t j = 0; j < width; ++j)
      c.dx()[r * width + j] = c.rstd()[r] * (g(j) - meanG - h(j) * meanGH);
  }
}

} // namespace aicf::reference
