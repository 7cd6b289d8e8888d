//===- Reference.cpp - losses in f64 --------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

#include <algorithm>
#include <cmath>

namespace aicf::reference {
void compute(const MseLossView<Call> &c) {
  double sum = 0;
  for (size_t i = 0; i < c.pred().size(); ++i)
    sum += std::pow(c.pred()[i] - c.target()[i], 2);
  c.loss()[0] = sum / double(c.pred().size());
}

void compute(const MseGradView<Call> &c) {
  double scale = c.attrs().scale * valueOr(c.loss_scale(), 1);
  fill(c.dpred(),
       [&](size_t i) { return scale * (c.pred()[i] - c.target()[i]); });
}

/// -t·log σ(x) - (1-t)·log(1 - σ(x)), with -log σ(x) = log(1 + exp(-x)).
void compute(const BceWithLogitsView<Call> &c) {
  double sum = 0;
  for (size_t i = 0; i < c.pred().size(); ++i) {
    double x = c.pred()[i], t = c.target()[i];
    auto minusLog = [](double z) { // of σ(z)
      return z > 0 ? std::log1p(std::exp(-z)) : std::log1p(std::exp(z)) - z;
    };
    sum += t * minusLog(x) + (1 - t) * minusLog(-x);
  }
  c.loss()[0] = sum / double(c.pred().size());
}

void compute(const BceWithLogitsGradView<Call> &c) {
  double scale = c.attrs().scale * valueOr(c.loss_scale(), 1);
  fill(c.dpred(), [&](size_t i) {
    return scale * (1 / (1 + std::exp(-c.pred()[i])) - c.target()[i]);
  });
}

void compute(const L1LossView<Call> &c) {
  double sum = 0;
  for (size_t i = 0; i < c.pred().size(); ++i)
    sum += std::abs(c.pred()[i] - c.target()[i]);
  c.loss()[0] = sum / double(c.pred().size());
}

void compute(const L1GradView<Call> &c) {
  double scale = c.attrs().scale * valueOr(c.loss_scale(), 1);
  fill(c.dpred(), [&](size_t i) {
    double d = c.pred()[i] - c.target()[i];
    return scale * (std::isnan(d) ? d : (d > 0) - (d < 0));
  });
}

void compute(const MeanView<Call> &c) {
  double sum = 0;
  for (double value : c.x().values)
    sum += value;
  c.y()[0] = sum / double(c.x().size());
}

void compute(const CountEqualView<Call> &c) {
  double count = 0;
  for (size_t i = 0; i < c.a().size(); ++i)
    count += c.a()[i] == c.b()[i];
  c.count()[0] = count;
}

namespace {

/// -log softmax(x)[j] of one row.
struct Row {
  const Tensor &logits;
  size_t first, width;
  double most, logSum;

  Row(const Tensor &logits, size_t row)
      : logits(logits), width(size_t(logits.dim(logits.desc.rank - 1))) {
    first = row * width;
    double sum = 0;
    most = logits[first];
    for (size_t j = 0; j < width; ++j)
      most = std::max(most, logits[first + j]);
    for (size_t j = 0; j < width; ++j)
      sum += std::exp(logits[first + j] - most);
    logSum = std::log(sum);
  }
  double minusLog(size_t j) const {
    return logSum - (logits[first + j] - most);
  }
};

template <typename View> double rowsThatCount(const View &c) {
  double count = 0;
  for (double label : c.labels().values)
    count += label != double(c.attrs().ignore_index);
  return count;
}

} // namespace

void compute(const SoftmaxCrossEntropyView<Call> &c) {
  SoftmaxCrossEntropyAttrs attrs = c.attrs();
  double sum = 0, s = attrs.label_smoothing;
  for (size_t r = 0; r < c.labels().size(); ++r) {
    double label = c.labels()[r];
    Row row(c.logits(), r);
    if (label == double(attrs.ignore_index))
      continue;
    if (!(label >= 0 && label < double(row.width))) { // NaN too
      sum = std::nan("");
      continue;
    }
    double mean = 0; // a masked class is infinite, but 0 times it nothing
    for (size_t j = 0; s > 0 && j < row.width; ++j)
      mean += row.minusLog(j) / double(row.width);
    sum += (1 - s) * row.minusLog(size_t(label)) + s * mean;
  }
  c.loss()[0] = sum / rowsThatCount(c);
}

void compute(const SoftmaxCrossEntropyGradView<Call> &c) {
  SoftmaxCrossEntropyGradAttrs attrs = c.attrs();
  double scale = valueOr(c.loss_scale(), 1) / rowsThatCount(c);
  for (size_t r = 0; r < c.labels().size(); ++r) {
    double label = c.labels()[r], s = attrs.label_smoothing;
    Row row(c.logits(), r);
    for (size_t j = 0; j < row.width; ++j) {
      double target = s / double(row.width) + (double(j) == label ? 1 - s : 0);
      double d = scale * (std::exp(-row.minusLog(j)) - target);
      if (label == double(attrs.ignore_index))
        d = 0;
      else if (!(label >= 0 && label < double(row.width)))
        d = std::nan("");
      c.dlogits()[row.first + j] = d;
    }
  }
}

} // namespace aicf::reference
