//===- Cpu.cpp - losses on the CPU ----------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Sums are kept in f64 and added in an order that does not depend on threads.
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/RowSum.h"
#include "kernels/pointwise/Scalars.h"
#include "lib/Base/Indices.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace aicf::cpu {
namespace {

/// What a mean adds for one element, and `slope` of it with respect to pred, of
/// which kSlopes make the gradient. Functors of the records' formulas.
struct Mse {
  /// The difference of halves is exact, and does not overflow where the product
  /// with the scale would not.
  static constexpr double kSlopes = 2;
  template <typename C> static double value(C x, C t) {
    double d = double(x) - double(t);
    return d * d;
  }
  template <typename C> static C slope(C x, C t) {
    return C(0.5f) * x - C(0.5f) * t;
  }
};
struct BceWithLogits {
  static constexpr double kSlopes = 1;
  template <typename C> static double value(C x, C t) {
    C most = x > 0 ? x : C(0);
    return double(most) - double(x) * double(t) +
           double(scalar::log1p(scalar::exp(-std::abs(x))));
  }
  template <typename C> static C slope(C x, C t) {
    return 1 / (1 + scalar::exp(-x)) - t;
  }
};
struct L1 {
  static constexpr double kSlopes = 1;
  template <typename C> static double value(C x, C t) {
    return std::abs(double(x) - double(t));
  }
  template <typename C> static C slope(C x, C t) {
    C d = x - t;
    return d > 0 ? C(1) : d < 0 ? C(-1) : d; // 0 or NaN
  }
};

template <typename Loss, typename Args, typename T, typename Target>
void meanLoss(Args call) {
  using C = std::common_type_t<Compute<T>, Compute<Target>>;
  const T *pred = call.pred().template dense<T>();
  const Target *target = call.target().template dense<Target>();
  int64_t n = call.pred().elements();
  double sum = parallelSum(n, call->numThreads, n, [=](int64_t i) {
    return Loss::value(C(pred[i]), C(target[i]));
  });
  *call.loss().template dense<Target>() = Target(sum / double(n));
}

/// scale · slope [· loss_scale]
template <typename Loss, typename Args, typename T, typename Target>
void lossGradOf(Args call) {
  using C = Compute<T>;
  const T *pred = call.pred().template dense<T>();
  const Target *target = call.target().template dense<Target>();
  T *grad = call.dpred().template dense<T>();
  double factor = call.attrs().scale;
  if (const TensorView *lossScale = call.loss_scale())
    factor *= double(*lossScale->template dense<Target>());
  C scale = C(Loss::kSlopes * factor);
  parallelElements(call.pred().elements(), call->numThreads, [=](int64_t i) {
    grad[i] = scale * Loss::slope(C(pred[i]), C(target[i]));
  });
}

/// A 16-bit pred has a target of its own type or of f32.
template <typename Loss, typename Args, typename T> void lossGrad(Args call) {
  if (sizeof(T) == 2 && call.target().desc.dtype == DType::F32)
    lossGradOf<Loss, Args, T, float>(call);
  else
    lossGradOf<Loss, Args, T, T>(call);
}

template <typename T, typename Mean> void mean(MeanArgs call) {
  const T *x = call.x().dense<T>();
  int64_t n = call.x().elements();
  double sum = parallelSum(n, call->numThreads, n,
                           [=](int64_t i) { return double(x[i]); });
  *call.y().dense<Mean>() = Mean(sum / double(n));
}

template <typename T> void countEqual(CountEqualArgs call) {
  const T *a = call.a().dense<T>();
  const Indices b(call.b());
  int32_t count = 0;
  for (int64_t i = 0; i < call.a().elements(); ++i)
    count += int64_t(a[i]) == b[i];
  *call.count().dense<int32_t>() = count;
}

/// A row's largest logit, and the log of the sum of exp(x - most): apart, since
/// their sum would round away the second. In f64 for what f32 would round away
/// in long rows.
struct LogSumExp {
  double most, logSum;
};

template <typename T> LogSumExp logSumExp(const T *x, int64_t width) {
  using C = Compute<T>;
  const C most = rowMost(x, width);
  const double sum = rowSum<C>(
      width, [=](int64_t j) { return scalar::exp(C(x[j]) - most); });
  return {double(most), std::log(sum)};
}

/// Elements of short rows that are taken together, at most.
constexpr int64_t kTogether = 1024;
/// How many rows are taken together: exp over one short row fills no vector.
int64_t rowsTogether(int64_t width) {
  return width < kLongRow ? kTogether / width : 1;
}
/// out[r * width + j] = exp(argument(r, j)), of all rows in one loop.
template <typename C, typename Argument>
void expOfRows(int64_t rows, int64_t width, const Argument &argument, C *out) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t j = 0; j < width; ++j)
      out[r * width + j] = argument(r, j);
  AICF_INDEPENDENT_LOOP
  for (int64_t i = 0; i < rows * width; ++i)
    out[i] = scalar::exp(out[i]);
}
/// Fills `out` for up to rowsTogether() rows, which begin at x[0], x[1], ...,
/// with the bits of logSumExp(). A function of its own, so that it is compiled
/// once.
template <typename T>
[[gnu::noinline]] void logSumExps(const T **x, int64_t rows, int64_t width,
                                  LogSumExp *out) {
  using C = Compute<T>;
  auto make = [=](int64_t, int64_t) {
    if (width >= kLongRow) {
      out[0] = logSumExp<T>(x[0], width);
      return;
    }
    C most[kTogether], powers[kTogether];
    for (int64_t r = 0; r < rows; ++r)
      most[r] = rowMost<T>(x[r], width);
    expOfRows(
        rows, width, [&](int64_t r, int64_t j) { return C(x[r][j]) - most[r]; },
        powers);
    for (int64_t r = 0; r < rows; ++r)
      out[r] = {double(most[r]), std::log(rowSum(powers + r * width, width))};
  };
  runWithBestISA(make, 0, rows);
}

/// Rows whose label is not `ignored`.
int64_t countRows(const TensorView &labels, int64_t ignored) {
  int64_t count = 0;
  const Indices each(labels);
  for (int64_t r = 0; r < labels.elements(); ++r)
    count += each[r] != ignored;
  return count;
}

template <typename T, typename Loss>
void crossEntropy(SoftmaxCrossEntropyArgs call) {
  SoftmaxCrossEntropyAttrs attrs = call.attrs();
  const T *logits = call.logits().dense<T>();
  const Indices labels(call.labels());
  int64_t rows = call.labels().elements();
  int64_t width = call.logits().elements() / rows;
  double s = attrs.label_smoothing;
  auto lossOf = [&](int64_t r, LogSumExp lse) {
    const T *x = logits + r * width;
    if (labels[r] == attrs.ignore_index)
      return 0.0;
    if (labels[r] < 0 || labels[r] >= width)
      return std::numeric_limits<double>::quiet_NaN();
    double even = 0; // what smoothing takes of every class
    if (s > 0)
      for (int64_t j = 0; j < width; ++j)
        even += s / double(width) * (double(x[j]) - lse.most);
    return lse.logSum - (1 - s) * (double(x[labels[r]]) - lse.most) - even;
  };
  auto losses = [&](int64_t count, auto at, double *to) {
    LogSumExp lse[kTogether];
    const T *x[kTogether];
    const int64_t together = rowsTogether(width);
    for (int64_t first = 0; first < count; first += together) {
      const int64_t some = std::min(together, count - first);
      for (int64_t k = 0; k < some; ++k)
        x[k] = logits + at(first + k) * width;
      logSumExps(x, some, width, lse);
      for (int64_t k = 0; k < some; ++k)
        to[first + k] = lossOf(at(first + k), lse[k]);
    }
  };
  double sum = parallelSumOf(rows, call->numThreads, rows * width, losses);
  *call.loss().dense<Loss>() =
      Loss(sum / double(countRows(call.labels(), attrs.ignore_index)));
}

template <typename T> void crossEntropyGrad(SoftmaxCrossEntropyGradArgs call) {
  using C = Compute<T>;
  SoftmaxCrossEntropyGradAttrs attrs = call.attrs();
  const T *logits = call.logits().dense<T>();
  T *dlogits = call.dlogits().dense<T>();
  const Indices labels(call.labels());
  int64_t rows = call.labels().elements();
  int64_t width = call.logits().elements() / rows;
  double factor = 1 / double(countRows(call.labels(), attrs.ignore_index));
  if (const TensorView *lossScale = call.loss_scale())
    factor *= double(*lossScale->dense<C>());
  double s = attrs.label_smoothing, even = s / double(width);
  const C scale = C(factor), own = C(even + 1 - s), other = C(even);
  auto isClass = [&](int64_t r) { return labels[r] >= 0 && labels[r] < width; };
  // dlogits may be logits: what the label's class needs is read first.
  auto finish = [&](int64_t r, C probabilityOfLabel) {
    T *d = dlogits + r * width;
    if (labels[r] == attrs.ignore_index)
      std::fill_n(d, width, T(0));
    else if (!isClass(r))
      std::fill_n(d, width, T(std::numeric_limits<C>::quiet_NaN()));
    else
      d[labels[r]] = T(scale * (probabilityOfLabel - own));
  };
  auto gradOfLong = [&](int64_t r) {
    const T *x = logits + r * width;
    T *d = dlogits + r * width;
    LogSumExp lse;
    logSumExps(&x, 1, width, &lse);
    const C most = C(lse.most), logSum = C(lse.logSum);
    auto probability = [=](int64_t j) {
      return scalar::exp(C(x[j]) - most - logSum);
    };
    const C ofLabel = isClass(r) ? probability(labels[r]) : C(0);
    AICF_INDEPENDENT_LOOP
    for (int64_t j = 0; j < width; ++j)
      d[j] = T(scale * (probability(j) - other));
    finish(r, ofLabel);
  };
  auto gradsOfShort = [&](int64_t first, int64_t some) {
    LogSumExp lse[kTogether];
    C probabilities[kTogether];
    const T *x = logits + first * width, *rowsOfX[kTogether];
    T *d = dlogits + first * width;
    for (int64_t k = 0; k < some; ++k)
      rowsOfX[k] = x + k * width;
    logSumExps(rowsOfX, some, width, lse);
    expOfRows(
        some, width,
        [&](int64_t k, int64_t j) {
          return C(x[k * width + j]) - C(lse[k].most) - C(lse[k].logSum);
        },
        probabilities);
    AICF_INDEPENDENT_LOOP
    for (int64_t i = 0; i < some * width; ++i)
      d[i] = T(scale * (probabilities[i] - other));
    for (int64_t k = 0; k < some; ++k)
      finish(first + k, isClass(first + k)
                            ? probabilities[k * width + labels[first + k]]
                            : C(0));
  };
  parallelFor(
      rows, 4, call->numThreads, rows * width, [&](int64_t begin, int64_t end) {
        const int64_t together = rowsTogether(width);
        for (int64_t r = begin; r < end; r += together)
          if (width < kLongRow)
            gradsOfShort(r, std::min(together, end - r));
          else
            gradOfLong(r);
      });
}

} // namespace

#define AICF_KERNELS_OF_loss_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
