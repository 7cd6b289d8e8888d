//===- Stream.h - stores past the caches ------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A store to a line that no cache holds fetches it first, so that a result
// moves twice its bytes. Stores past the caches do not, if they write whole
// lines.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CPU_STREAM_H
#define AICF_KERNELS_CPU_STREAM_H

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"

#include <algorithm>
#include <cstring>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace aicf::cpu {

inline constexpr int64_t kLineBytes = 64;

/// Larger results go past the caches, where they would leave nothing. Behind
/// smaller ones, a reader loses more than the stores gain: with 32 MiB of L3, a
/// turned matrix of 16 MiB and a sum of it take 837 us through the caches and
/// 1,386 past them, of 20 MiB as long, of 28 MiB 2,671 and 2,164.
inline constexpr int64_t kStreamedBytes = 20 << 20;

/// Writes a line. `to` is a multiple of kLineBytes.
template <InstructionSet> struct LineStream {
  static void write(void *to, const void *from) {
#ifdef __SSE2__
    for (int i = 0; i < 4; ++i)
      _mm_stream_si128(static_cast<__m128i *>(to) + i,
                       _mm_loadu_si128(static_cast<const __m128i *>(from) + i));
#else
    std::memcpy(to, from, kLineBytes);
#endif
  }
};
#ifdef __SSE2__
// One store for a line, which never waits for its other parts.
template <> struct LineStream<InstructionSet::AVX512> {
  [[gnu::target("avx512f")]] static void write(void *to, const void *from) {
    _mm512_stream_si512(static_cast<__m512i *>(to), _mm512_loadu_si512(from));
  }
};
#endif

/// Behind the last of them: no later store may be seen before such lines are.
inline void endStreaming() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

/// Bytes that lie anywhere: those of whole lines go past the caches.
void streamBytes(void *to, const void *from, int64_t bytes);

inline bool shareBytes(const TensorView &a, const TensorView &b) {
  auto begin = [](const TensorView &view) {
    return reinterpret_cast<uintptr_t>(view.start());
  };
  return begin(a) < begin(b) + b.desc.spanBytes() &&
         begin(b) < begin(a) + a.desc.spanBytes();
}

/// Whether a result goes past the caches: a large one that lies over no
/// operand, whose lines a cache would hold.
inline bool goesPastCaches(const TensorView &result,
                           Span<const TensorView *const> operands) {
  return result.desc.isDense() &&
         int64_t(result.desc.spanBytes()) >= kStreamedBytes &&
         std::none_of(
             operands.begin(), operands.end(),
             [&](const TensorView *x) { return shareBytes(*x, result); });
}

/// Elements [begin, end) of y go past the caches. make(at, count, to) makes
/// some of them in the first cache, from element `at` on: so few that a
/// processor reads the next ones while it stores these.
template <typename T, typename Make>
void makeStreamed(T *y, int64_t begin, int64_t end, const Make &make) {
  constexpr int64_t kMost = 2048 / sizeof(T);
  alignas(kLineBytes) char bytes[kMost * sizeof(T)];
  for (int64_t at = begin, count; at < end; at += count) {
    count = std::min(kMost, end - at);
    make(at, count, reinterpret_cast<T *>(bytes));
    streamBytes(y + at, bytes, count * int64_t(sizeof(T)));
  }
  endStreaming();
}

} // namespace aicf::cpu

#endif // AICF_KERNELS_CPU_STREAM_H
