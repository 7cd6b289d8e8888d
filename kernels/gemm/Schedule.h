//===- Schedule.h - how small products are partitioned ----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// It decides bits: see kernels/Schedule.h.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GEMM_SCHEDULE_H
#define AICF_KERNELS_GEMM_SCHEDULE_H

#include "kernels/Schedule.h"
#include "kernels/gemm/Product.h"

namespace aicf::cuda {

inline constexpr int kTileThreads = 256;

/// A tile of c of kTile x kTile. 16 gives a small c four times the blocks, each
/// with a quarter of the work.
template <typename C, int kTile> struct Sizes {
  /// k steps between barriers; f64 takes twice the shared memory.
  static constexpr int kChunk = kTile == 16 && sizeof(C) < 8 ? 128 : 64;
  static constexpr int kGroups = 4;             ///< share a chunk
  static constexpr int kThreads = kGroups * 64; ///< 8x8 a group
  static_assert(kThreads == kTileThreads);
  static constexpr int kEach = kTile / 8;  ///< rows and columns a thread
  static constexpr int kPitch = kTile + 4; ///< keeps vectors of 4 aligned
};

inline int64_t tilesOf(int64_t size, int64_t tile) {
  return (size + tile - 1) / tile;
}
/// The rows and columns of a block's tile. They decide the order of sums, so
/// they are the same for every card.
inline int tileOf(const Product &s) {
  return tilesOf(s.m, 32) * tilesOf(s.n, 32) * s.batches.count <
                 families::kMultiprocessors
             ? 16
             : 32;
}

} // namespace aicf::cuda

#endif // AICF_KERNELS_GEMM_SCHEDULE_H
