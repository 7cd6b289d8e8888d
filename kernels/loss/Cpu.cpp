//===- Cpu.cpp - losses on the CPU ----------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Sums are kept in f64 and added in an order that does not depend on threads.
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"

#include <cmath>
#include <limits>

namespace aicf::cpu {
namespace {

/// mean((pred - target)^2)
template <typename T, typename Target> void mseLoss(MseLossArgs call) {
  const T *pred = call.pred().as<T>();
  const Target *target = call.target().as<Target>();
  int64_t n = call.pred().elements();
  double sum =
      parallelSum(n, call->numThreads, n, [&](int64_t begin, int64_t end) {
        double partial = 0;
        for (int64_t i = begin; i < end; ++i) {
          double d = double(pred[i]) - double(target[i]);
          partial += d * d;
        }
        return partial;
      });
  *call.loss().as<Target>() = Target(sum / double(n));
}

/// scale · (pred - target) [· loss_scale], as twice the scale times the
/// difference of halves: halving is exact, and the difference of two large
/// numbers does not overflow where the product would not.
template <typename T, typename Target> void mseGradOf(MseGradArgs call) {
  using C = Compute<T>;
  const T *pred = call.pred().as<T>();
  const Target *target = call.target().as<Target>();
  T *grad = call.dpred().as<T>();
  double factor = call.attrs().scale;
  if (const TensorView *lossScale = call.loss_scale())
    factor *= double(*lossScale->as<Target>());
  C scale = C(2 * factor), half = C(0.5f);
  parallelElements(call.pred().elements(), call->numThreads,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       grad[i] =
                           scale * (half * C(pred[i]) - half * C(target[i]));
                   });
}

/// A 16-bit pred has a target of its own type or of f32.
template <typename T> void mseGrad(MseGradArgs call) {
  if (sizeof(T) == 2 && call.target().desc.dtype == DType::F32)
    mseGradOf<T, float>(call);
  else
    mseGradOf<T, T>(call);
}

/// A row's largest logit, and the log of the sum of exp(x - most): apart, since
/// their sum would round away the second. In f64 for what f32 would round away
/// in long rows.
struct LogSumExp {
  double most, logSum;
};

template <typename T> LogSumExp logSumExp(const T *x, int64_t width) {
  using C = Compute<T>;
  C most = C(x[0]);
  for (int64_t j = 1; j < width; ++j)
    most = C(x[j]) > most ? C(x[j]) : most;
  double sum = 0;
  for (int64_t j = 0; j < width; ++j)
    sum += double(std::exp(C(x[j]) - most));
  return {double(most), std::log(sum)};
}

/// Rows whose label is not `ignored`.
int64_t countRows(const TensorView &labels, int64_t ignored) {
  int64_t count = 0;
  for (int64_t r = 0; r < labels.elements(); ++r)
    count += labels.as<int32_t>()[r] != ignored;
  return count;
}

template <typename T, typename Loss>
void crossEntropy(SoftmaxCrossEntropyArgs call) {
  SoftmaxCrossEntropyAttrs attrs = call.attrs();
  const T *logits = call.logits().as<T>();
  const int32_t *labels = call.labels().as<int32_t>();
  int64_t rows = call.labels().elements();
  int64_t width = call.logits().elements() / rows;
  double s = attrs.label_smoothing;
  auto lossOf = [&](int64_t r) {
    const T *x = logits + r * width;
    if (labels[r] == attrs.ignore_index)
      return 0.0;
    if (labels[r] < 0 || labels[r] >= width)
      return std::numeric_limits<double>::quiet_NaN();
    LogSumExp lse = logSumExp(x, width);
    double even = 0; // what smoothing takes of every class
    if (s > 0)
      for (int64_t j = 0; j < width; ++j)
        even += s / double(width) * (double(x[j]) - lse.most);
    return lse.logSum - (1 - s) * (double(x[labels[r]]) - lse.most) - even;
  };
  double sum = parallelSum(rows, call->numThreads, rows * width,
                           [&](int64_t begin, int64_t end) {
                             double partial = 0;
                             for (int64_t r = begin; r < end; ++r)
                               partial += lossOf(r);
                             return partial;
                           });
  *call.loss().as<Loss>() =
      Loss(sum / double(countRows(call.labels(), attrs.ignore_index)));
}

template <typename T> void crossEntropyGrad(SoftmaxCrossEntropyGradArgs call) {
  using C = Compute<T>;
  SoftmaxCrossEntropyGradAttrs attrs = call.attrs();
  const T *logits = call.logits().as<T>();
  T *dlogits = call.dlogits().as<T>();
  const int32_t *labels = call.labels().as<int32_t>();
  int64_t rows = call.labels().elements();
  int64_t width = call.logits().elements() / rows;
  double factor = 1 / double(countRows(call.labels(), attrs.ignore_index));
  if (const TensorView *lossScale = call.loss_scale())
    factor *= double(*lossScale->as<C>());
  double s = attrs.label_smoothing, even = s / double(width);
  parallelFor(
      rows, 4, call->numThreads, rows * width, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          const T *x = logits + r * width;
          T *d = dlogits + r * width;
          int32_t label = labels[r];
          bool isIgnored = label == attrs.ignore_index;
          C rowFactor = C(isIgnored ? 0 : factor);
          if (!isIgnored && (label < 0 || label >= width))
            rowFactor = std::numeric_limits<C>::quiet_NaN();
          LogSumExp lse = logSumExp(x, width);
          for (int64_t j = 0; j < width; ++j) {
            C target = C(j == label ? even + 1 - s : even);
            C probability = std::exp(C(x[j]) - C(lse.most) - C(lse.logSum));
            d[j] = T(isIgnored ? C(0) : rowFactor * (probability - target));
          }
        }
      });
}

} // namespace

#define AICF_KERNELS_OF_loss_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
