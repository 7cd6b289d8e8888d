//===- Cpu.cpp - softmax and argmax on the CPU ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/RowSum.h"
#include "kernels/pointwise/Scalars.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

namespace aicf::cpu {
namespace {

/// Calls body(first) with the first element of each row of `desc`. Short rows
/// go together: a block is worth the way to it.
template <typename Body>
void forRows(const TensorDesc &desc, int numThreads, Body body) {
  constexpr int64_t kBlockElements = 4096;
  int64_t width = desc.width();
  parallelFor(desc.rows(), std::max<int64_t>(4, kBlockElements / width),
              numThreads, desc.elements(), [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row)
                  body(row * width);
              });
}

template <typename T> void softmax(SoftmaxArgs call) {
  using C = Compute<T>;
  int64_t width = call.x().desc.width();
  forRows(call.x().desc, call->numThreads, [&](int64_t first) {
    const T *x = call.x().dense<T>() + first;
    T *y = call.y().dense<T>() + first;
    const C most = rowMost(x, width);
    auto power = [=](int64_t j) { return scalar::exp(C(x[j]) - most); };
    if constexpr (std::is_same_v<T, C>) {
      // The result has room for the powers, bit for bit.
      AICF_INDEPENDENT_LOOP
      for (int64_t j = 0; j < width; ++j)
        y[j] = power(j);
      const C inverse = C(1 / rowSum(y, width));
      for (int64_t j = 0; j < width; ++j)
        y[j] *= inverse;
    } else {
      const C inverse = C(1 / rowSum<C>(width, power));
      AICF_INDEPENDENT_LOOP
      for (int64_t j = 0; j < width; ++j)
        y[j] = T(power(j) * inverse);
    }
  });
}

template <typename T> void softmaxBwd(SoftmaxBwdArgs call) {
  using C = Compute<T>;
  int64_t width = call.dy().desc.width();
  forRows(call.dy().desc, call->numThreads, [&](int64_t first) {
    const T *dy = call.dy().dense<T>() + first,
            *y = call.y().dense<T>() + first;
    T *dx = call.dx().dense<T>() + first;
    const double sum = rowSum<double>(
        width, [=](int64_t j) { return double(dy[j]) * double(y[j]); });
    AICF_INDEPENDENT_LOOP
    for (int64_t j = 0; j < width; ++j)
      dx[j] = T(C(y[j]) * (C(dy[j]) - C(sum)));
  });
}

template <typename T> void logSoftmax(LogSoftmaxArgs call) {
  using C = Compute<T>;
  int64_t width = call.x().desc.width();
  forRows(call.x().desc, call->numThreads, [&](int64_t first) {
    const T *x = call.x().dense<T>() + first;
    T *y = call.y().dense<T>() + first;
    const C most = rowMost(x, width);
    const C rest = C(std::log(rowSum<C>(
        width, [=](int64_t j) { return scalar::exp(C(x[j]) - most); })));
    AICF_INDEPENDENT_LOOP
    for (int64_t j = 0; j < width; ++j)
      y[j] = T((C(x[j]) - most) - rest);
  });
}

template <typename T> void logSoftmaxBwd(LogSoftmaxBwdArgs call) {
  using C = Compute<T>;
  int64_t width = call.dy().desc.width();
  forRows(call.dy().desc, call->numThreads, [&](int64_t first) {
    const T *dy = call.dy().dense<T>() + first,
            *y = call.y().dense<T>() + first;
    T *dx = call.dx().dense<T>() + first;
    const double sum = rowSum(dy, width);
    AICF_INDEPENDENT_LOOP
    for (int64_t j = 0; j < width; ++j)
      dx[j] = T(C(dy[j]) - scalar::exp(C(y[j])) * C(sum));
  });
}

template <typename T> void argmax(ArgmaxArgs call) {
  using C = Compute<T>;
  int64_t width = call.x().desc.width();
  forRows(call.x().desc, call->numThreads, [&](int64_t first) {
    const T *x = call.x().dense<T>() + first;
    int32_t best = 0;
    for (int64_t j = 1; j < width; ++j)
      if (C(x[j]) > C(x[best]) ||
          (std::isnan(C(x[j])) && !std::isnan(C(x[best]))))
        best = int32_t(j);
    call.index().dense<int32_t>()[first / width] = best;
  });
}

template <typename T> void topK(TopKArgs call) {
  using C = Compute<T>;
  int64_t width = call.x().desc.width(), k = call.attrs().k;
  forRows(call.x().desc, call->numThreads, [&](int64_t first) {
    const T *x = call.x().dense<T>() + first;
    int32_t *index = call.index().dense<int32_t>() + first / width * k;
    // A heap of the best so far, the worst of them on top: k numbers, no
    // memory.
    auto isBefore = [x](int32_t a, int32_t b) {
      C mine = C(x[a]), other = C(x[b]);
      if (std::isnan(mine) != std::isnan(other))
        return std::isnan(mine);
      return mine > other || (!(mine < other) && a < b);
    };
    std::iota(index, index + k, 0);
    std::make_heap(index, index + k, isBefore);
    for (int32_t j = int32_t(k); j < width; ++j) {
      if (!isBefore(j, index[0]))
        continue;
      std::pop_heap(index, index + k, isBefore);
      index[k - 1] = j;
      std::push_heap(index, index + k, isBefore);
    }
    std::sort_heap(index, index + k, isBefore);
  });
}

} // namespace

#define AICF_KERNELS_OF_softmax_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
