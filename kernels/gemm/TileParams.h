//===- TileParams.h - what the kernels of small products get ----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For the kernels of Tile.cuh and for whoever launches them.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GEMM_TILEPARAMS_H
#define AICF_KERNELS_GEMM_TILEPARAMS_H

#include "kernels/gemm/Product.h"
#include "kernels/gemm/Schedule.h"

#include <algorithm>

namespace aicf::cuda {

struct TileParams {
  const void *a, *b;
  const void *extra; ///< Bias: bias [n]; ReluBwd: saved [m, n]
  void *c;
  void *sums; ///< Reduce: [m]
  int32_t m, n, k, lda, ldb, ldc;
  bool transA, transB, relu;
  bool vectorA, vectorB; ///< see ChunkLoader::load
  Batches batches;

  TileParams() = default;
  explicit TileParams(const Product &s)
      : a(s.a.start()), b(s.b.start()),
        extra(s.epilogue == Product::Epilogue::Reduce ? nullptr
                                                      : s.extra.start()),
        c(s.c.start()),
        sums(s.epilogue == Product::Epilogue::Reduce ? s.extra.start()
                                                     : nullptr),
        m(int32_t(s.m)), n(int32_t(s.n)), k(int32_t(s.k)), lda(int32_t(s.lda)),
        ldb(int32_t(s.ldb)), ldc(int32_t(s.ldc)), transA(s.transA),
        transB(s.transB), relu(s.epilogue == Product::Epilogue::BiasRelu),
        vectorA(hasVectors(s, s.a, s.lda, &Batches::Offsets::a)),
        vectorB(hasVectors(s, s.b, s.ldb, &Batches::Offsets::b)),
        batches(s.batches) {}

private:
  /// True if rows can be read in vectors of 4 elements.
  static bool hasVectors(const Product &s, const TensorView &view,
                         int64_t pitch, int64_t Batches::Offsets::*stride) {
    bool holds = view.desc.width() % 4 == 0 && pitch % 4 == 0 &&
                 reinterpret_cast<uintptr_t>(view.start()) %
                         (4 * sizeOf(view.desc.dtype)) ==
                     0;
    for (int d = 0; d < s.batches.rank; ++d)
      holds &= s.batches.loops[d].stride.*stride % 4 == 0;
    return holds;
  }
};

/// The blocks of a launch: a tile each, and batches over y and z.
struct TileGrid {
  int64_t x;
  uint32_t y, z;
  TileGrid(const Product &s, int tile)
      : x(tilesOf(s.m, tile) * tilesOf(s.n, tile)),
        y(uint32_t(std::min(s.batches.count, kTileBatchesAcross))),
        z(uint32_t(tilesOf(s.batches.count, y))) {}
};

} // namespace aicf::cuda

#endif // AICF_KERNELS_GEMM_TILEPARAMS_H
