//===- Parallel.h - loops over threads --------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// How work is split never depends on the number of threads: a loop's iterations
// are independent, and reductions combine a fixed number of partial results in
// a fixed order. So 1 and 2 threads give the same bits.
// Bodies are compiled for any CPU, for AVX2 (with FMA and F16C) and for
// AVX-512, and the machine chooses: nothing is contracted or reassociated, so
// the bits are the same.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CPU_PARALLEL_H
#define AICF_KERNELS_CPU_PARALLEL_H

#include "kernels/cpu/ThreadPool.h"
#include "lib/Base/Walk.h"

#include <cstdint>
#include <type_traits>

namespace aicf::cpu {

/// What a body is compiled for; each is a part of the next one.
enum class InstructionSet { Baseline, AVX2, AVX512 };
/// The best one that the machine has, or AICF_CPU_ISA (baseline, avx2 or
/// avx512) where that is less.
InstructionSet bestInstructionSet();
/// The best one that the machine has.
InstructionSet instructionSetOfMachine();

/// body(begin, end), or body(begin, end, set) where a body asks what it is
/// compiled for: its third parameter is a type whose `value` says it.
template <InstructionSet set, typename Body>
void callFor(const Body &body, int64_t begin, int64_t end) {
  using Set = std::integral_constant<InstructionSet, set>;
  if constexpr (std::is_invocable_v<const Body &, int64_t, int64_t, Set>)
    body(begin, end, Set());
  else
    body(begin, end);
}

#if defined(__x86_64__) && defined(__GNUC__)
#if defined(__clang__)
#define AICF_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,fma,f16c"
#else
#define AICF_AVX512                                                            \
  "avx512f,avx512bw,avx512dq,avx512vl,fma,f16c,prefer-vector-width=512"
#endif
/// body(begin, end), inlined into a function that may use AVX2.
template <typename Body>
[[gnu::target("avx2,fma,f16c"), gnu::flatten]] void
runWithAVX2(const Body &body, int64_t begin, int64_t end) {
  callFor<InstructionSet::AVX2>(body, begin, end);
}
/// The same for AVX-512.
template <typename Body>
[[gnu::target(AICF_AVX512), gnu::flatten]] void
runWithAVX512(const Body &body, int64_t begin, int64_t end) {
  callFor<InstructionSet::AVX512>(body, begin, end);
}
#undef AICF_AVX512
/// body(begin, end) with a set that the machine has.
template <typename Body>
void runWith(InstructionSet set, const Body &body, int64_t begin, int64_t end) {
  if (set == InstructionSet::AVX512)
    runWithAVX512(body, begin, end);
  else if (set == InstructionSet::AVX2)
    runWithAVX2(body, begin, end);
  else
    callFor<InstructionSet::Baseline>(body, begin, end);
}
#else
template <typename Body>
void runWith(InstructionSet, const Body &body, int64_t begin, int64_t end) {
  callFor<InstructionSet::Baseline>(body, begin, end);
}
#endif
template <typename Body>
void runWithBestISA(const Body &body, int64_t begin, int64_t end) {
  static const InstructionSet best = bestInstructionSet();
  runWith(best, body, begin, end);
}

/// Before a loop whose iterations touch elements of their own: results may lie
/// where operands lie, but only element on element.
#if defined(__clang__)
#define AICF_INDEPENDENT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define AICF_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#else
#define AICF_INDEPENDENT_LOOP
#endif

/// Elements (of simple work, some 0.2 ns each) below which waking a thread
/// costs more than it gains.
inline constexpr int64_t kParallelElements = 32768;

/// Calls body(begin, end) over blocks of [0, n), which depend on `n` and
/// `blockSize` only.
template <typename Body>
void parallelFor(int64_t n, int64_t blockSize, int numThreads,
                 int64_t totalElements, Body body) {
  auto run = [&](int64_t block) {
    int64_t begin = block * blockSize;
    runWithBestISA(body, begin, begin + blockSize < n ? begin + blockSize : n);
  };
  const int64_t numBlocks = (n + blockSize - 1) / blockSize;
  if (numThreads > 1 && numBlocks > 1 && totalElements >= kParallelElements)
    runBlocks(numBlocks, numThreads, BlockFunction::of(run));
  else
    runInOrder(numBlocks, BlockFunction::of(run));
}

/// body(i) for the elements [0, n) of an elementwise kernel, which may work in
/// place; `weight` is the work of one in simple elements.
template <typename Body>
void parallelElements(int64_t n, int numThreads, Body body,
                      int64_t weight = 1) {
  parallelFor(n, 16384, numThreads, n * weight,
              [=](int64_t begin, int64_t end) {
                // A copy, which cannot be what the body stores to.
                const Body own = body;
                AICF_INDEPENDENT_LOOP
                for (int64_t i = begin; i < end; ++i)
                  own(i);
              });
}

/// Calls row(at, width) for each turn of the innermost loop of some tensors
/// that are walked side by side; `at` has the place of its first element in
/// each.
template <size_t N, typename Row>
void parallelRows(const Walks<N> &walks, int64_t elements, int numThreads,
                  Row row) {
  const int64_t width = walks.dims[walks.rank - 1];
  parallelFor(elements / width, width >= 16384 ? 1 : 16384 / width, numThreads,
              elements, [&](int64_t begin, int64_t end) {
                for (int64_t r = begin; r < end; ++r) {
                  int64_t at[N];
                  walks.at(r * width, at);
                  row(at, width);
                }
              });
}

} // namespace aicf::cpu

#endif // AICF_KERNELS_CPU_PARALLEL_H
