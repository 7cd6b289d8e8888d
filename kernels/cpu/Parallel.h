//===- Parallel.h - loops over threads --------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// How work is split never depends on the number of threads: a loop's iterations
// are independent, and reductions combine a fixed number of partial results in
// a fixed order. So 1 and 2 threads give the same bits.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CPU_PARALLEL_H
#define AICF_KERNELS_CPU_PARALLEL_H

#include "kernels/cpu/ThreadPool.h"

#include <cstdint>

namespace aicf::cpu {

/// Elements below which starting threads costs more than it gains.
inline constexpr int64_t kParallelElements = 32768;

/// Calls body(begin, end) over blocks of [0, n), which depend on `n` and
/// `blockSize` only.
template <typename Body>
void parallelFor(int64_t n, int64_t blockSize, int numThreads,
                 int64_t totalElements, Body body) {
  auto run = [&](int64_t block) {
    int64_t begin = block * blockSize;
    body(begin, begin + blockSize < n ? begin + blockSize : n);
  };
  int64_t numBlocks = (n + blockSize - 1) / blockSize;
  if (numThreads > 1 && numBlocks > 1 && totalElements >= kParallelElements)
    return runBlocks(numBlocks, numThreads,
                     {[](const void *context, int64_t block) {
                        (*static_cast<const decltype(run) *>(context))(block);
                      },
                      &run});
  for (int64_t block = 0; block < numBlocks; ++block)
    run(block);
}

/// body(begin, end) over the elements [0, n) of an elementwise kernel.
template <typename Body>
void parallelElements(int64_t n, int numThreads, Body body) {
  parallelFor(n, 16384, numThreads, n, body);
}

/// Sum over [0, n), of `totalElements` in all, in kPartials partial sums, each
/// by `partial(begin, end)`.
template <typename Partial>
double parallelSum(int64_t n, int numThreads, int64_t totalElements,
                   Partial partial) {
  constexpr int64_t kPartials = 64;
  double sums[kPartials];
  parallelFor(kPartials, 1, numThreads, totalElements, [&](int64_t p, int64_t) {
    sums[p] = partial(p * n / kPartials, (p + 1) * n / kPartials);
  });
  double total = 0;
  for (double sum : sums)
    total += sum;
  return total;
}

} // namespace aicf::cpu

#endif // AICF_KERNELS_CPU_PARALLEL_H
