//===- Reference.cpp - softmax and argmax in f64 --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace aicf::reference {

void compute(const SoftmaxView<Call> &c) {
  size_t width = size_t(c.x().desc.width());
  for (size_t first = 0; first < c.x().size(); first += width) {
    double most = c.x()[first], sum = 0;
    for (size_t j = 0; j < width; ++j)
      most = std::max(most, c.x()[first + j]);
    for (size_t j = 0; j < width; ++j)
      sum += std::exp(c.x()[first + j] - most);
    for (size_t j = 0; j < width; ++j)
      c.y()[first + j] = std::exp(c.x()[first + j] - most) / sum;
  }
}

void compute(const SoftmaxBwdView<Call> &c) {
  size_t width = size_t(c.dy().desc.width());
  for (size_t first = 0; first < c.dy().size(); first += width) {
    double sum = 0;
    for (size_t j = first; j < first + width; ++j)
      sum += c.dy()[j] * c.y()[j];
    for (size_t j = first; j < first + width; ++j)
      c.dx()[j] = c.y()[j] * (c.dy()[j] - sum);
  }
}

void compute(const LogSoftmaxView<Call> &c) {
  size_t width = size_t(c.x().desc.width());
  for (size_t first = 0; first < c.x().size(); first += width) {
    double most = c.x()[first], sum = 0;
    for (size_t j = 0; j < width; ++j)
      most = std::max(most, c.x()[first + j]);
    for (size_t j = 0; j < width; ++j)
      sum += std::exp(c.x()[first + j] - most);
    for (size_t j = 0; j < width; ++j)
      c.y()[first + j] = c.x()[first + j] - most - std::log(sum);
  }
}

void compute(const LogSoftmaxBwdView<Call> &c) {
  size_t width = size_t(c.dy().desc.width());
  for (size_t first = 0; first < c.dy().size(); first += width) {
    double sum = 0;
    for (size_t j = first; j < first + width; ++j)
      sum += c.dy()[j];
    for (size_t j = first; j < first + width; ++j)
      c.dx()[j] = c.dy()[j] - std::exp(c.y()[j]) * sum;
  }
}

void compute(const ArgmaxView<Call> &c) {
  size_t width = size_t(c.x().desc.width());
  fill(c.index(), [&](size_t row) {
    size_t best = 0;
    for (size_t j = 1; j < width; ++j) {
      double value = c.x()[row * width + j], most = c.x()[row * width + best];
      if (value > most || (std::isnan(value) && !std::isnan(most)))
        best = j;
    }
    return double(best);
  });
}

void compute(const TopKView<Call> &c) {
  size_t width = size_t(c.x().desc.width()), k = size_t(c.attrs().k);
  for (size_t row = 0; row * width < c.x().size(); ++row) {
    std::vector<size_t> order(width);
    std::iota(order.begin(), order.end(), size_t(0));
    // A NaN is an infinity beyond infinity.
    auto key = [&](size_t j) {
      double value = c.x()[row * width + j];
      return std::pair(std::isnan(value), std::isnan(value) ? 0 : value);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return key(a) > key(b); });
    for (size_t i = 0; i < k; ++i)
      c.index()[row * k + i] = double(order[i]);
  }
}

} // namespace aicf::reference
