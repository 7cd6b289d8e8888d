//===- Family.h - which products a tile or a library takes ------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GEMM_FAMILY_H
#define AICF_KERNELS_GEMM_FAMILY_H

#include "lib/Ops/Costs.h"
#include "lib/Ops/RuleCall.h"
#include "kernels/gemm/Extents.h"

namespace aicf::families {

/// Few 32x32 tiles, and few k steps: there the tile kernels took less time than
/// cuBLASLt (benchmarks/results).
inline bool isSmallProduct(int64_t m, int64_t n, int64_t k,
                           const Costs &costs) {
  int64_t tiles = (m + 31) / 32 * ((n + 31) / 32);
  return tiles <= costs.smallProductTiles * costs.multiprocessors &&
         k <= costs.smallProductDepth && tiles * k <= costs.smallProductWork;
}
inline bool isSmallProduct(const GemmView<rules::Call> &c,
                           const Costs &costs) {
  int64_t m = c.c()->rows();
  return isSmallProduct(m, c.c()->width(), c.a()->elements() / m, costs);
}

/// The same of all matrices together.
inline bool isSmallProduct(const BatchedGemmView<rules::Call> &c,
                           const Costs &costs) {
  int64_t n = c.c()->width(), m = c.c()->dims[c.c()->rank - 2];
  int64_t k = c.a()->elements() / (c.c()->elements() / n);
  int64_t tiles =
      (m + 31) / 32 * ((n + 31) / 32) * (c.c()->elements() / (m * n));
  return tiles <= costs.smallBatchTiles * costs.multiprocessors &&
         k <= costs.smallProductDepth;
}

template <typename Pattern>
bool isSmallProduct(const Pattern &c, const Costs &costs) {
  return isSmallProduct(c.gemm(), costs);
}

/// The batches of a launch go over two dimensions of its grid (TileGrid).
inline bool batchesFit(const BatchedGemmView<rules::Call> &c) {
  const TensorDesc &y = *c.c();
  return y.elements() / (y.dims[y.rank - 2u] * y.width()) <=
         kMostTileBatches;
}

/// cuBLASLt's kernels for tensor cores read 16 bytes at once: M, N and K of a
/// product of 16-bit matrices are multiples of 8 elements.
inline bool suitsTensorCores(const GemmView<rules::Call> &c) {
  ProductExtents extents(*c.a(), c.attrs().transA != 0, *c.b(),
                         c.attrs().transB != 0, *c.c(), /*bias=*/nullptr);
  return !rules::isHalf(c.a()->dtype) ||
         (extents.m % kPadElements == 0 && extents.n % kPadElements == 0 &&
          extents.k % kPadElements == 0);
}

/// The product writes every pad of its result.
inline bool coversPads(const GemmView<rules::Call> &c, const TensorDesc &result,
                       const TensorDesc *bias) {
  return ProductExtents(*c.a(), c.attrs().transA != 0, *c.b(),
                        c.attrs().transB != 0, result, bias)
      .cover(result);
}
inline bool coversPads(const GemmView<rules::Call> &c) {
  return coversPads(c, *c.c(), nullptr);
}
/// And the bias does not write to rows that are pads.
inline bool coversPads(const GemmBiasView<rules::Call> &c) {
  const TensorDesc &y = c.relu() ? *c.relu()->y() : *c.bias().out();
  return y.stored().rows() == y.rows() &&
         coversPads(c.gemm(), y, &*c.bias().b());
}

/// The bias lies along the columns of the product.
template <typename Pattern> bool isRowBias(const Pattern &c) {
  int64_t axis = c.bias().attrs().axis;
  return axis == -1 || axis == c.bias().y()->rank - 1;
}

/// cuBLASLt's gelu, whose operand has rows of a multiple of 16 bytes
/// (CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD).
inline bool hasLibraryGelu(const GemmBiasGeluView<rules::Call> &c) {
  return c.gelu().attrs().approximate != 0 && c.gemm().c()->width() % 8 == 0;
}
inline bool hasLibraryGelu(const GemmGeluBwdView<rules::Call> &c) {
  return c.bwd().attrs().approximate != 0 && c.gemm().c()->width() % 8 == 0;
}

/// The library's gradient of gelu saves a call, but takes 3.3 ps an element on an H200,
/// however deep the product is. Alone it takes 1.7, and goes with the sums for a bias.
inline bool isGeluBwdSmall(const GemmGeluBwdView<rules::Call> &c, const Costs &costs) {
  return int64_t(c.gemm().c()->spanBytes()) <= costs.callBytes;
}

/// The sums run over the product's K and drop it.
inline bool sumsOverK(const GemmReduceView<rules::Call> &c) {
  const TensorDesc &a = *c.sum().x();
  int64_t axis = a.rank - (c.gemm().attrs().transA ? 2 : 1);
  int64_t sums = c.gemm().attrs().transA ? a.width() : a.rows();
  return c.sum().attrs().axis == axis && c.sum().y()->rank == 1 &&
         c.sum().y()->elements() == sums;
}

/// What NVIDIA recommends for cuBLASLt on Hopper: its heuristic weighs split-K
/// only when offered as much, even where less would do. Calls of one stream
/// share the memory.
inline constexpr uint64_t kLibraryWorkspaceBytes = uint64_t(32) << 20;
template <typename View> uint64_t libraryWorkspace(const View &) {
  return kLibraryWorkspaceBytes;
}

} // namespace aicf::families

#endif // AICF_KERNELS_GEMM_FAMILY_H
