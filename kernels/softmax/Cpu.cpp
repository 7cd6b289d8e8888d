//===- Cpu.cpp - softmax and argmax on the CPU ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"

#include <cmath>

namespace aicf::cpu {
namespace {

/// Calls body(first) with the first element of each row of `desc`.
template <typename Body>
void forRows(const TensorDesc &desc, int numThreads, Body body) {
  int64_t width = desc.width();
  parallelFor(desc.rows(), 4, numThreads, desc.elements(),
              [&](int64_t begin, int64_t end) {
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
    C most = C(x[0]);
    for (int64_t j = 1; j < width; ++j)
      most = C(x[j]) > most ? C(x[j]) : most;
    double sum = 0;
    for (int64_t j = 0; j < width; ++j)
      sum += double(std::exp(C(x[j]) - most));
    C inverse = C(1 / sum);
    for (int64_t j = 0; j < width; ++j)
      y[j] = T(std::exp(C(x[j]) - most) * inverse);
  });
}

template <typename T> void softmaxBwd(SoftmaxBwdArgs call) {
  using C = Compute<T>;
  int64_t width = call.dy().desc.width();
  forRows(call.dy().desc, call->numThreads, [&](int64_t first) {
    const T *dy = call.dy().dense<T>() + first,
            *y = call.y().dense<T>() + first;
    T *dx = call.dx().dense<T>() + first;
    double sum = 0;
    for (int64_t j = 0; j < width; ++j)
      sum += double(dy[j]) * double(y[j]);
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
    C most = C(x[0]);
    for (int64_t j = 1; j < width; ++j)
      most = C(x[j]) > most ? C(x[j]) : most;
    double sum = 0;
    for (int64_t j = 0; j < width; ++j)
      sum += double(std::exp(C(x[j]) - most));
    C rest = C(std::log(sum));
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
    double sum = 0;
    for (int64_t j = 0; j < width; ++j)
      sum += double(dy[j]);
    for (int64_t j = 0; j < width; ++j)
      dx[j] = T(C(dy[j]) - std::exp(C(y[j])) * C(sum));
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

} // namespace

#define AICF_KERNELS_OF_softmax_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
