//===- Cpu.cpp - matrix products on the CPU -------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// c[M,N] = op(a)[M,K] · op(b)[K,N], row-major, through CBLAS where the build
// found OpenBLAS, else a plain loop. The product is cut into tiles along the
// longer of M and N by a rule that looks at the shape only; each tile is one
// single-threaded BLAS call, so that threads do not change the bits.
// Why OpenBLAS, and why its pthread build: docs/Rationale.md.
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"
#include "kernels/gemm/Product.h"

#ifdef AICF_HAVE_OPENBLAS
#include <cblas.h>
#endif

namespace aicf::cpu {
namespace {

#ifdef AICF_HAVE_OPENBLAS
void multiply(const Product &s, int64_t m, int64_t n, const float *a,
              const float *b, float *c) {
  cblas_sgemm(CblasRowMajor, s.transA ? CblasTrans : CblasNoTrans,
              s.transB ? CblasTrans : CblasNoTrans, int(m), int(n), int(s.k),
              1.0f, a, int(s.lda), b, int(s.ldb), 0.0f, c, int(s.n));
}
void multiply(const Product &s, int64_t m, int64_t n, const double *a,
              const double *b, double *c) {
  cblas_dgemm(CblasRowMajor, s.transA ? CblasTrans : CblasNoTrans,
              s.transB ? CblasTrans : CblasNoTrans, int(m), int(n), int(s.k),
              1.0, a, int(s.lda), b, int(s.ldb), 0.0, c, int(s.n));
}
#else
template <typename T>
void multiply(const Product &s, int64_t m, int64_t n, const T *a, const T *b,
              T *c) {
  for (int64_t i = 0; i < m; ++i) {
    T *row = c + i * s.n;
    for (int64_t j = 0; j < n; ++j)
      row[j] = 0;
    for (int64_t k = 0; k < s.k; ++k) {
      T x = s.transA ? a[k * s.lda + i] : a[i * s.lda + k];
      for (int64_t j = 0; j < n; ++j)
        row[j] += x * (s.transB ? b[j * s.ldb + k] : b[k * s.ldb + j]);
    }
  }
}
#endif

/// Tiles by work: below half a million multiply-adds a thread does not pay.
int64_t numTiles(const Product &s) {
  double work = double(s.m) * double(s.n) * double(s.k);
  return work < 2.5e5 ? 1 : work < 4e6 ? 2 : 4;
}

template <typename T> void gemm(GemmArgs call) {
  Product s(call);
  const T *a = s.a.as<T>(), *b = s.b.as<T>();
  T *c = s.c.as<T>();
  bool splitRows = s.m >= s.n;
  int64_t length = splitRows ? s.m : s.n;
  // Multiples of 16 keep the library's micro-kernels full.
  int64_t tile = (length + numTiles(s) - 1) / numTiles(s);
  tile = (tile + 15) / 16 * 16;
  parallelFor(length, tile, call->numThreads, kParallelElements,
              [&](int64_t begin, int64_t end) {
                if (splitRows)
                  multiply(s, end - begin, s.n,
                           a + begin * (s.transA ? 1 : s.lda), b,
                           c + begin * s.n);
                else
                  multiply(s, s.m, end - begin, a,
                           b + begin * (s.transB ? s.ldb : 1), c + begin);
              });
}

/// 16-bit operands, f32 sums in order of k: obvious, not fast.
template <typename T, typename Out> void gemmHalf(GemmArgs call) {
  Product s(call);
  const T *a = s.a.as<T>(), *b = s.b.as<T>();
  Out *c = s.c.as<Out>();
  parallelFor(
      s.m, 1, call->numThreads, s.m * s.n * s.k, [&](int64_t i, int64_t) {
        for (int64_t j = 0; j < s.n; ++j) {
          float sum = 0;
          for (int64_t k = 0; k < s.k; ++k)
            sum += float(s.transA ? a[k * s.lda + i] : a[i * s.lda + k]) *
                   float(s.transB ? b[j * s.ldb + k] : b[k * s.ldb + j]);
          c[i * s.n + j] = sum;
        }
      });
}

} // namespace

#define AICF_KERNELS_OF_gemm_CPU
#include "kernels/Definitions.inc"

std::string_view gemmLibrary() {
#ifdef AICF_HAVE_OPENBLAS
  return "openblas, one thread a tile";
#else
  return "plain loop";
#endif
}

void initialize() {
#ifdef AICF_HAVE_OPENBLAS
  openblas_set_num_threads(1);
#endif
}

} // namespace aicf::cpu
