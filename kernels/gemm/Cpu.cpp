//===- Cpu.cpp - matrix products on the CPU -------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// c[M,N] = op(a)[M,K] · op(b)[K,N], row-major, through OpenBLAS and, for large
// f32 tiles and for bf16, oneDNN where the machine has it; in a build without
// OpenBLAS, a plain loop. Other 16-bit operands are widened in panels. The product is cut into tiles along the longer of M and N by a
// rule that looks at the shape and the machine only; each tile is one
// single-threaded library call, so that threads do not change the bits. Why
// these two libraries: docs/rationale/CPU.md.
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"
#include "kernels/gemm/OneDNN.h"
#include "kernels/gemm/OpenBLAS.h"
#include "kernels/gemm/Product.h"
#include "lib/Base/Machine.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#ifdef AICF_HAVE_OPENBLAS
#include <cblas.h>
#endif

namespace aicf::cpu {
namespace {

#ifdef AICF_HAVE_OPENBLAS
/// c = op(a) · op(b), or c += with `adds`.
void multiplyByBlas(const Tile &t, const float *a, const float *b, float *c,
                    bool adds) {
  cblas_sgemm(CblasRowMajor, t.transA ? CblasTrans : CblasNoTrans,
              t.transB ? CblasTrans : CblasNoTrans, int(t.m), int(t.n),
              int(t.k), 1.0f, a, int(t.lda), b, int(t.ldb), adds ? 1.0f : 0.0f,
              c, int(t.ldc));
}
void multiply(const Tile &t, const double *a, const double *b, double *c) {
  cblas_dgemm(CblasRowMajor, t.transA ? CblasTrans : CblasNoTrans,
              t.transB ? CblasTrans : CblasNoTrans, int(t.m), int(t.n),
              int(t.k), 1.0, a, int(t.lda), b, int(t.ldb), 0.0, c, int(t.ldc));
}
#else
template <typename T>
void multiplyByBlas(const Tile &t, const T *a, const T *b, T *c, bool adds) {
  for (int64_t i = 0; i < t.m; ++i) {
    T *row = c + i * t.ldc;
    if (!adds)
      std::fill_n(row, t.n, T(0));
    for (int64_t k = 0; k < t.k; ++k) {
      T x = t.transA ? a[k * t.lda + i] : a[i * t.lda + k];
      for (int64_t j = 0; j < t.n; ++j)
        row[j] += x * (t.transB ? b[j * t.ldb + k] : b[k * t.ldb + j]);
    }
  }
}
void multiply(const Tile &t, const double *a, const double *b, double *c) {
  multiplyByBlas(t, a, b, c, /*adds=*/false);
}
#endif
void multiply(const Tile &t, const float *a, const float *b, float *c) {
  if (!multiplyWithOneDNN(t, a, b, c))
    multiplyByBlas(t, a, b, c, /*adds=*/false);
}

/// A panel of 16-bit rows as f32.
template <typename T>
void widenPanel(const T *from, int64_t pitch, int64_t rows, int64_t columns,
                float *to) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      to[i * columns + j] = float(from[i * pitch + j]);
}

constexpr int64_t kRows = 256, kColumns = 256, kDepth = 512; // of panels

/// Memory for panels of both operands and their product, which a thread keeps; null where
/// there is none.
float *panelsOfThread() {
  thread_local std::unique_ptr<float[]> panels;
  if (!panels)
    panels.reset(new (std::nothrow) float[kRows * kDepth + kDepth * kColumns +
                                          kRows * kColumns]);
  return panels.get();
}

/// The product of a tile in panels that stay in a cache.
template <typename T, typename Out>
bool multiplyWidened(const Tile &t, const T *a, const T *b, Out *c) {
  float *const left = panelsOfThread();
  if (!left)
    return false;
  float *right = left + kRows * kDepth, *sums = right + kDepth * kColumns;
  for (int64_t i = 0; i < t.m; i += kRows)
    for (int64_t j = 0; j < t.n; j += kColumns) {
      const int64_t m = std::min(kRows, t.m - i), n = std::min(kColumns, t.n - j);
      for (int64_t from = 0; from < t.k; from += kDepth) {
        const int64_t k = std::min(kDepth, t.k - from);
        widenPanel(t.transA ? a + from * t.lda + i : a + i * t.lda + from, t.lda,
                   t.transA ? k : m, t.transA ? m : k, left);
        widenPanel(t.transB ? b + j * t.ldb + from : b + from * t.ldb + j, t.ldb,
                   t.transB ? n : k, t.transB ? k : n, right);
        multiplyByBlas({m, n, k, t.transA, t.transB, t.transA ? m : k,
                        t.transB ? k : n, n},
                       left, right, sums, /*adds=*/from > 0);
      }
      for (int64_t row = 0; row < m; ++row)
        for (int64_t column = 0; column < n; ++column)
          c[(i + row) * t.ldc + j + column] =
              t.k > 0 ? Out(sums[row * n + column]) : Out(0.0f);
    }
  return true;
}

/// 16-bit operands, f32 sums in order of k: obvious, not fast.
template <typename T, typename Out>
void multiplyPlainly(const Tile &t, const T *a, const T *b, Out *c) {
  for (int64_t i = 0; i < t.m; ++i)
    for (int64_t j = 0; j < t.n; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < t.k; ++k)
        sum += float(t.transA ? a[k * t.lda + i] : a[i * t.lda + k]) *
               float(t.transB ? b[j * t.ldb + k] : b[k * t.ldb + j]);
      c[i * t.ldc + j] = Out(sum);
    }
}

template <typename T, typename Out>
void multiply(const Tile &t, const T *a, const T *b, Out *c) {
  if constexpr (std::is_same_v<T, bf16>)
    if (multiplyWithOneDNN(t, a, b, c))
      return;
  if (!multiplyWidened(t, a, b, c)) // no memory: other bits, too
    multiplyPlainly(t, a, b, c);
}

/// Processors that the process may use, not threads of a device: how a product
/// is cut decides some of its bits. AICF_CPU_TILES says another number.
int64_t maxTiles() {
  static const int64_t most = [] {
    const char *text = std::getenv("AICF_CPU_TILES");
    int64_t number = text ? std::atoll(text) : 0;
    return std::clamp<int64_t>(number < 1 ? numAllowedProcessors() : number, 1,
                               256);
  }();
  return most;
}

/// Tiles by work, of a million multiply-adds or more each on average; below
/// that a thread does not pay. More than processors are slower: what all tiles
/// of a product read is packed for each of them.
int64_t numTiles(const Product &s) {
  double work = double(s.m) * double(s.n) * double(s.k);
  return std::max<int64_t>(1,
                           int64_t(std::min(work / 1e6, double(maxTiles()))));
}

/// How the matrices of a product are cut: along the longer of M and N, into
/// pieces of `width`.
struct Tiling {
  Tile whole;
  bool splitRows;
  int64_t length, width;

  Tiling(const Product &s, int64_t count)
      : whole{s.m, s.n, s.k, s.transA, s.transB, s.lda, s.ldb, s.ldc},
        splitRows(s.m >= s.n), length(splitRows ? s.m : s.n),
        width((length + count - 1) / count) {
    // Multiples of 16 keep the library's micro-kernels full.
    if (count > 1)
      width = (width + 15) / 16 * 16;
  }
  int64_t count() const { return (length + width - 1) / width; }
  Tile at(int64_t begin) const {
    Tile tile = whole;
    (splitRows ? tile.m : tile.n) = std::min(width, length - begin);
    return tile;
  }
  /// Elements from the start of a factor and of the result to those of a tile.
  int64_t startInA(int64_t begin) const {
    return !splitRows ? 0 : begin * (whole.transA ? 1 : whole.lda);
  }
  int64_t startInB(int64_t begin) const {
    return splitRows ? 0 : begin * (whole.transB ? whole.ldb : 1);
  }
  int64_t startInC(int64_t begin) const {
    return splitRows ? begin * whole.ldc : begin;
  }
};

/// The tiles of each product of a batch. Products are computed side by side,
/// each by a thread alone, but where there are fewer than processors.
Tiling tilingOf(const Product &s) {
  bool isMany = s.batches.count > 1 && s.batches.count >= maxTiles();
  return Tiling(s, isMany ? 1 : numTiles(s));
}

template <typename T, typename Out> void multiplyTiles(GemmArgs call) {
  Product s(call);
  const T *a = s.a.strided<T>(), *b = s.b.strided<T>();
  Out *c = s.c.strided<Out>();
  const Tiling tiles = tilingOf(s);
  const OneThreadOfOpenBLAS scope;
  parallelFor(tiles.length, tiles.width, call->numThreads, kParallelElements,
              [&](int64_t begin, int64_t) {
                multiply(tiles.at(begin), a + tiles.startInA(begin),
                         b + tiles.startInB(begin), c + tiles.startInC(begin));
              });
}
template <typename T> void gemm(GemmArgs call) { multiplyTiles<T, T>(call); }
template <typename T, typename Out> void gemmOfHalves(GemmArgs call) {
  multiplyTiles<T, Out>(call);
}

template <typename T> void batchedGemm(BatchedGemmArgs call) {
  Product s(call);
  const Tiling tiles = tilingOf(s);
  const OneThreadOfOpenBLAS scope;
  parallelFor(s.batches.count * tiles.count(), 1, call->numThreads,
              s.batches.count * s.m * s.n * s.k, [&](int64_t i, int64_t) {
                Batches::Offsets at = s.batches.at(i / tiles.count());
                int64_t begin = i % tiles.count() * tiles.width;
                multiply(tiles.at(begin),
                         s.a.strided<T>() + at.a + tiles.startInA(begin),
                         s.b.strided<T>() + at.b + tiles.startInB(begin),
                         s.c.strided<T>() + at.c + tiles.startInC(begin));
              });
}

template <typename T> void batchedGemmOfHalves(BatchedGemmArgs call) {
  batchedGemm<T>(call);
}

/// Kernels of version 0, a row of a product at a time.
template <typename T, typename Out>
void multiplyRows(const Product &s, int numThreads) {
  parallelFor(s.batches.count * s.m, 1, numThreads,
              s.batches.count * s.m * s.n * s.k, [&](int64_t row, int64_t) {
                const Batches::Offsets at = s.batches.at(row / s.m);
                const int64_t i = row % s.m;
                const Tiling tiles(s, 1);
                Tile one = tiles.at(0);
                one.m = 1;
                multiplyPlainly(
                    one, s.a.strided<T>() + at.a + i * (s.transA ? 1 : s.lda),
                    s.b.strided<T>() + at.b,
                    s.c.strided<Out>() + at.c + i * s.ldc);
              });
}
template <typename T, typename Out> void gemmHalf(GemmArgs call) {
  multiplyRows<T, Out>(Product(call), call->numThreads);
}
template <typename T> void batchedGemmHalf(BatchedGemmArgs call) {
  multiplyRows<T, T>(Product(call), call->numThreads);
}

} // namespace

#define AICF_KERNELS_OF_gemm_CPU
#include "kernels/Definitions.inc"

std::string gemmLibrary() {
#if defined(AICF_HAVE_OPENBLAS)
  return (hasOneDNN() ? "onednn and openblas for " : "openblas for ") +
         openBLASCore() + ", one thread per tile";
#else
  return "plain loop";
#endif
}

void initialize() { initializeOpenBLAS(); }

Status prepareProduct(const Body &body, Span<const TensorView> values,
                      int numThreads) {
  AICF_RETURN_IF_ERROR(
      reserveOpenBLAS(int(std::min<int64_t>(numThreads, maxTiles()))));
  const LaunchArgs call(body, values);
  const Product s = body.primitives.front().kind == OpKind::Gemm
                        ? Product(GemmArgs(call))
                        : Product(BatchedGemmArgs(call));
  const ProductTypes types = {s.a.desc.dtype, s.c.desc.dtype};
  const Tiling tiles = tilingOf(s);
  AICF_RETURN_IF_ERROR(prepareOneDNN(tiles.at(0), types));
  return prepareOneDNN(tiles.at((tiles.count() - 1) * tiles.width), types);
}

} // namespace aicf::cpu
