//===- Cpu.cpp - dropout and random numbers on the CPU --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"
#include "kernels/random/Philox.h"
#include "lib/Base/Indices.h"

#include <algorithm>

namespace aicf::cpu {
namespace {

template <typename T> void dropout(DropoutArgs call) {
  using C = Compute<T>;
  DropoutAttrs attrs = call.attrs();
  const T *x = call.x().dense<T>();
  T *y = call.y().dense<T>();
  auto step = uint64_t(call.step().desc.dtype == DType::I32
                           ? *call.step().dense<int32_t>()
                           : *call.step().dense<int64_t>());
  uint64_t threshold = dropThreshold(attrs.p), seed = uint64_t(attrs.seed);
  C scale = C(1 / (1 - attrs.p));
  int64_t n = call.x().elements();
  const int64_t before = call->firstElement, firstGroup = before / 4;
  const int64_t groups = (before + n + 3) / 4 - firstGroup;
  parallelElements(groups, call->numThreads, [=](int64_t number) {
    const int64_t group = firstGroup + number;
    PhiloxWords words = philox(seed, uint64_t(group), step);
    const int64_t from = std::max(before - 4 * group, int64_t(0));
    const int64_t width = std::min<int64_t>(4, before + n - 4 * group);
    for (int64_t k = from; k < width; ++k) {
      int64_t i = 4 * group + k - before;
      bool isKept = words.at[k] >= threshold;
      y[i] = isKept ? T(C(x[i]) * scale) : T(0.0f);
    }
  });
}

/// y[i] = number(words of its group, i mod 4)
template <typename T, typename Number>
void draw(const TensorView &y, const TensorView &step, uint64_t seed,
          int numThreads, Number number) {
  T *to = y.dense<T>();
  auto count = uint64_t(Indices(step)[0]);
  int64_t n = y.elements();
  parallelElements((n + 3) / 4, numThreads, [=](int64_t group) {
    PhiloxWords words = philox(seed, uint64_t(group), count);
    int64_t width = std::min<int64_t>(4, n - 4 * group);
    for (int64_t k = 0; k < width; ++k)
      to[4 * group + k] = T(number(words, int(k)));
  });
}

template <typename T> void uniform(UniformArgs call) {
  using C = Compute<T>;
  UniformAttrs attrs = call.attrs();
  int bits = uniformBits(call.y().desc.dtype);
  C low = C(attrs.low), range = C(attrs.high - attrs.low);
  C most = C(greatestUniform(call.y().desc.dtype, attrs.low, attrs.high));
  draw<T>(call.y(), call.step(), uint64_t(attrs.seed), call->numThreads,
          [=](const PhiloxWords &words, int k) {
            return std::min(low + range * uniformOf<C>(words.at[k], bits),
                            most);
          });
}

template <typename T> void normal(NormalArgs call) {
  using C = Compute<T>;
  NormalAttrs attrs = call.attrs();
  C mean = C(attrs.mean), deviation = C(attrs.std);
  draw<T>(call.y(), call.step(), uint64_t(attrs.seed), call->numThreads,
          [=](const PhiloxWords &words, int k) {
            int first = k / 2 * 2;
            return mean + deviation * normalOf<C>(words.at[first],
                                                  words.at[first + 1], k % 2);
          });
}

} // namespace

#define AICF_KERNELS_OF_random_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
