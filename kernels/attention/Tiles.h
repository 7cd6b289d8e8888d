//===- Tiles.h - small products near the processor --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Blocks of attention are too small for a library's packing. Each element of a result
// is a sum in order of k of fused multiply-adds, whatever the instruction set: all of
// them give the same bits.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ATTENTION_TILES_H
#define AICF_KERNELS_ATTENTION_TILES_H

#include "kernels/cpu/Parallel.h"

#include <cstdint>

namespace aicf::cpu {

/// Columns of a product are a multiple of this: whole vectors of every set.
inline constexpr int64_t kTileColumns = 16;
inline int64_t wholeColumns(int64_t n) {
  return (n + kTileColumns - 1) / kTileColumns * kTileColumns;
}

/// c[m,n] = a · b, or c + a · b where it `adds`; n is a multiple of kTileColumns. Element
/// [i,k] of a is a[i · rowOfA + k · columnOfA], so that a may be transposed; b and c have
/// rows.
template <typename C> struct SmallProduct {
  int64_t m, n, k;
  const C *a;
  int64_t rowOfA, columnOfA;
  const C *b;
  int64_t rowOfB;
  C *c;
  int64_t rowOfC;
  bool adds;
};
void multiply(InstructionSet set, const SmallProduct<float> &product);
void multiply(InstructionSet set, const SmallProduct<double> &product);

} // namespace aicf::cpu

#endif // AICF_KERNELS_ATTENTION_TILES_H
