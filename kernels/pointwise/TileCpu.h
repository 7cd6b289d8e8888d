//===- TileCpu.h - squares of elements, turned in registers -----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A square's rows are cache lines. Vectors of 16 bytes are turned by log2 of
// their length rounds of interleaving halves (Stone, "Parallel Processing with
// the Perfect Shuffle", 1971); wider vectors turn several at once, and then
// the parts of 16 bytes among themselves by the same rounds. Element types do
// not matter, their size does. What memory the squares lie in is
// CopyViewCpu.h's.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_POINTWISE_TILECPU_H
#define AICF_KERNELS_POINTWISE_TILECPU_H

#include "kernels/cpu/Stream.h"

#include <cstring>
#include <utility>

namespace aicf::cpu {

/// Bytes of a vector.
constexpr int vectorBytes(InstructionSet set) {
  return set == InstructionSet::AVX512 ? 64
         : set == InstructionSet::AVX2 ? 32
                                       : 16;
}

/// A square of T, turned by vectors of `Bytes` bytes. Vectors are passed by
/// reference: how they are passed by value depends on the instruction set.
template <typename T, int Bytes> struct Square {
  using Vector [[gnu::vector_size(Bytes)]] = T;
  /// A vector in memory. A copy by memcpy may become two of half the size,
  /// which a processor reads back only after both are in the cache.
  using Anywhere [[gnu::vector_size(Bytes), gnu::aligned(1), gnu::may_alias]] =
      T;
  static constexpr int kSide = kLineBytes / sizeof(T);
  static constexpr int kWidth = Bytes / sizeof(T); ///< elements of a vector
  static constexpr int kPart = 16 / sizeof(T);     ///< elements of 16 bytes
  static constexpr int kParts = Bytes / 16;

  /// low[0], high[0], low[1], ... in each part, of its first or second half.
  template <int Half> struct Elements {
    template <size_t... I>
    static void interleave(Vector &to, const Vector &low, const Vector &high,
                           std::index_sequence<I...>) {
      to =
          __builtin_shufflevector(low, high,
                                  int(I / kPart * kPart + Half * (kPart / 2) +
                                      I % kPart / 2 + (I % 2 ? kWidth : 0))...);
    }
  };
  /// The same for parts.
  template <int Half> struct Parts {
    template <size_t... I>
    static void interleave(Vector &to, const Vector &low, const Vector &high,
                           std::index_sequence<I...>) {
      to = __builtin_shufflevector(
          low, high,
          int((Half * (kParts / 2) + I / kPart / 2) * kPart + I % kPart +
              (I / kPart % 2 ? kWidth : 0))...);
    }
  };
  /// The rounds that turn `N` vectors.
  template <int N, template <int> class What> static void turn(Vector *rows) {
    using Each = std::make_index_sequence<kWidth>;
    for (int round = 1; round < N; round *= 2) {
      Vector before[N];
      for (int k = 0; k < N; ++k)
        before[k] = rows[k];
      for (int k = 0; k < N / 2; ++k) {
        What<0>::interleave(rows[2 * k], before[k], before[k + N / 2], Each());
        What<1>::interleave(rows[2 * k + 1], before[k], before[k + N / 2],
                            Each());
      }
    }
  }

  /// A square of 16 bytes, where vectors have as many. Rows of `from`, which
  /// are `pitch` elements apart, become the columns of `to`.
  static void transposePart(const T *from, int64_t pitch, T *to,
                            int64_t toPitch) {
    Vector rows[kPart];
    for (int k = 0; k < kPart; ++k)
      rows[k] = *reinterpret_cast<const Anywhere *>(from + k * pitch);
    turn<kPart, Elements>(rows);
    for (int k = 0; k < kPart; ++k)
      *reinterpret_cast<Anywhere *>(to + k * toPitch) = rows[k];
  }

  /// The same for a whole square, where `to` is dense.
  static void transpose(const T *from, int64_t pitch, T *to) {
    constexpr int groups = kSide / kPart;
    for (int first = 0; first < kSide; first += kWidth) {
      Vector turned[groups][kPart];
      for (int i = 0; i < groups; ++i) {
        for (int k = 0; k < kPart; ++k)
          turned[i][k] = *reinterpret_cast<const Anywhere *>(
              from + (i * kPart + k) * pitch + first);
        turn<kPart, Elements>(turned[i]);
      }
      for (int k = 0; k < kPart; ++k)
        for (int i = 0; i < groups; i += kParts) {
          Vector rows[kParts];
          for (int j = 0; j < kParts; ++j)
            rows[j] = turned[i + j][k];
          turn<kParts, Parts>(rows);
          for (int j = 0; j < kParts; ++j)
            *reinterpret_cast<Anywhere *>(to + (first + j * kPart + k) * kSide +
                                          i * kPart) = rows[j];
        }
    }
  }
};

} // namespace aicf::cpu

#endif // AICF_KERNELS_POINTWISE_TILECPU_H
