//===- Reference.cpp - attention and its gradients in f64 -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace aicf::reference {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// The mask, which is there in one of the calls in any case.
const Tensor *present(const Tensor &tensor) { return &tensor; }
const Tensor *present(const Tensor *tensor) { return tensor; }

/// Element [b, t, h, d] of a tensor of rank 4.
size_t at(const Tensor &x, int64_t b, int64_t t, int64_t h, int64_t d) {
  return size_t(((b * x.dim(1) + t) * x.dim(2) + h) * x.dim(3) + d);
}
/// Element of the mask for a score, which repeats along dimensions of 1.
size_t maskAt(const Tensor &mask, int64_t b, int64_t h, int64_t i, int64_t j) {
  auto along = [&](size_t dim, int64_t index) {
    return mask.dim(dim) == 1 ? 0 : index;
  };
  return at(mask, along(0, b), along(1, h), along(2, i), along(3, j));
}

/// The word of Philox4x32-10 for one element: the definition of dropout.
uint32_t wordOf(uint64_t element, uint64_t step, uint64_t seed) {
  uint32_t c[4] = {uint32_t(element / 4), uint32_t(element / 4 >> 32),
                   uint32_t(step), uint32_t(step >> 32)};
  uint32_t key[2] = {uint32_t(seed), uint32_t(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t(0xd2511f53) * c[0],
                   b = uint64_t(0xcd9e8d57) * c[2];
    const uint32_t next[4] = {uint32_t(b >> 32) ^ c[1] ^ key[0], uint32_t(b),
                              uint32_t(a >> 32) ^ c[3] ^ key[1], uint32_t(a)};
    for (int i = 0; i < 4; ++i)
      c[i] = next[i];
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  return c[element % 4];
}

/// Row i of the scores of head h in batch b, and what follows from it.
struct Row {
  std::vector<double> scores;  ///< hidden ones are -inf
  std::vector<double> slope;   ///< d score / d (scale · q · k): softcap's
  std::vector<double> weights; ///< softmax of the scores; 0 where none is seen
  std::vector<double> factor;  ///< 0 where dropout drops, else 1/(1 - p)
  double lse = kHidden;
};

template <typename View>
Row rowOf(const View &c, int64_t b, int64_t h, int64_t i) {
  const auto attrs = c.attrs();
  const Tensor &q = c.q(), &k = c.k();
  const Tensor *mask = present(c.mask()), *segments = c.segments();
  const int64_t keys = k.dim(1), kv = h / (q.dim(2) / k.dim(2));
  Row row;
  double most = kHidden, sum = 0;
  for (int64_t j = 0; j < keys; ++j) {
    double score = 0, slope = 1;
    for (int64_t d = 0; d < q.dim(3); ++d)
      score += q[at(q, b, i, h, d)] * k[at(k, b, j, kv, d)];
    score *= attrs.scale;
    if (attrs.softcap > 0) {
      const double bent = std::tanh(score / attrs.softcap);
      score = attrs.softcap * bent;
      slope = 1 - bent * bent;
    }
    bool isSeen = (attrs.window_left < 0 || j >= i + attrs.offset - attrs.window_left) &&
                  (attrs.window_right < 0 || j <= i + attrs.offset + attrs.window_right);
    if (mask && mask->desc.dtype == DType::I1)
      isSeen = isSeen && (*mask)[maskAt(*mask, b, h, i, j)] != 0;
    else if (mask)
      score += (*mask)[maskAt(*mask, b, h, i, j)];
    if (segments)
      isSeen = isSeen && (*segments)[size_t(b * keys + i)] ==
                             (*segments)[size_t(b * keys + j)];
    row.scores.push_back(isSeen ? score : kHidden);
    row.slope.push_back(slope);
    const uint64_t element =
        uint64_t(((b * q.dim(2) + h) * q.dim(1) + i) * keys + j);
    const bool isKept =
        attrs.p == 0 ||
        double(wordOf(element, uint64_t(int64_t((*c.step())[0])),
                      uint64_t(attrs.seed))) >= std::floor(attrs.p * 0x1p32);
    row.factor.push_back(isKept ? 1 / (1 - attrs.p) : 0);
    if (!(row.scores.back() <= most)) // NaN, too
      most = row.scores.back();
  }
  if (most == kHidden) {
    row.weights.assign(size_t(keys), 0);
    return row;
  }
  for (double score : row.scores)
    sum += std::exp(score - most);
  for (double score : row.scores)
    row.weights.push_back(std::exp(score - most) / sum);
  row.lse = most + std::log(sum);
  return row;
}

/// Calls body(b, h, i, row) for each query of each head.
template <typename View, typename Body> void forRows(const View &c, Body body) {
  for (int64_t b = 0; b < c.q().dim(0); ++b)
    for (int64_t h = 0; h < c.q().dim(2); ++h)
      for (int64_t i = 0; i < c.q().dim(1); ++i)
        body(b, h, i, rowOf(c, b, h, i));
}

/// d loss / d scores of a row. Weights are those that lse gives, as in kernels.
template <typename View>
std::vector<double> gradientOfScores(const View &c, int64_t b, int64_t h,
                                     int64_t i, Row &row) {
  const Tensor &v = c.v(), &dy = c.dy(), &y = c.y();
  const int64_t kv = h / (c.q().dim(2) / c.k().dim(2));
  const double lse = c.lse()[size_t((b * c.q().dim(2) + h) * c.q().dim(1) + i)];
  double mean = 0;
  for (int64_t d = 0; d < v.dim(3); ++d)
    mean += dy[at(dy, b, i, h, d)] * y[at(y, b, i, h, d)];
  std::vector<double> slopes;
  for (int64_t j = 0; j < v.dim(1); ++j) {
    double slope = 0;
    for (int64_t d = 0; d < v.dim(3); ++d)
      slope += dy[at(dy, b, i, h, d)] * v[at(v, b, j, kv, d)];
    double &weight = row.weights[size_t(j)];
    weight = lse == kHidden || row.scores[size_t(j)] == kHidden
                 ? 0
                 : std::exp(row.scores[size_t(j)] - lse);
    slopes.push_back(weight == 0 ? 0
                                 : weight * (row.factor[size_t(j)] * slope - mean));
  }
  return slopes;
}

} // namespace

void compute(const AttentionView<Call> &c) {
  const Tensor &v = c.v();
  forRows(c, [&](int64_t b, int64_t h, int64_t i, const Row &row) {
    const int64_t kv = h / (c.q().dim(2) / c.k().dim(2));
    for (int64_t d = 0; d < v.dim(3); ++d) {
      double &y = c.y()[at(c.y(), b, i, h, d)];
      y = 0;
      for (int64_t j = 0; j < v.dim(1); ++j)
        if (row.scores[size_t(j)] != kHidden) // what is hidden may be NaN
          y += row.weights[size_t(j)] * row.factor[size_t(j)] *
               v[at(v, b, j, kv, d)];
    }
    c.lse()[size_t((b * c.q().dim(2) + h) * c.q().dim(1) + i)] = row.lse;
  });
}

void compute(const AttentionBwdView<Call> &c) {
  const Tensor &q = c.q(), &k = c.k(), &dy = c.dy();
  for (Tensor *gradient : {&c.dq(), &c.dk(), &c.dv()})
    fill(*gradient, [](size_t) { return 0.0; });
  forRows(c, [&](int64_t b, int64_t h, int64_t i, Row row) {
    const int64_t kv = h / (q.dim(2) / k.dim(2));
    const auto slopes = gradientOfScores(c, b, h, i, row);
    for (int64_t j = 0; j < k.dim(1); ++j) {
      const double score =
          slopes[size_t(j)] * row.slope[size_t(j)] * c.attrs().scale;
      if (row.weights[size_t(j)] == 0)
        continue; // infinite and NaN where nothing is seen do not count
      for (int64_t d = 0; d < q.dim(3); ++d) {
        c.dq()[at(q, b, i, h, d)] += score * k[at(k, b, j, kv, d)];
        c.dk()[at(k, b, j, kv, d)] += score * q[at(q, b, i, h, d)];
      }
      for (int64_t d = 0; d < dy.dim(3); ++d)
        c.dv()[at(c.dv(), b, j, kv, d)] += row.weights[size_t(j)] *
                                           row.factor[size_t(j)] *
                                           dy[at(dy, b, i, h, d)];
    }
  });
}

void compute(const AttentionMaskBwdView<Call> &c) {
  fill(c.dmask(), [](size_t) { return 0.0; });
  forRows(c, [&](int64_t b, int64_t h, int64_t i, Row row) {
    const auto slopes = gradientOfScores(c, b, h, i, row);
    for (int64_t j = 0; j < c.k().dim(1); ++j)
      c.dmask()[maskAt(c.dmask(), b, h, i, j)] += slopes[size_t(j)];
  });
}

} // namespace aicf::reference
