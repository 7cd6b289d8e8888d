//===- Cpu.cpp - matrix products on the CPU -------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// c[M,N] = op(a)[M,K] · op(b)[K,N], row-major, through OpenBLAS and, for large
// f32 tiles, oneDNN, where the build found them, else a plain loop. The product
// is cut into tiles along the longer of M and N by a rule that looks at the
// shape only; each tile is one single-threaded library call, so that threads do
// not change the bits. Why these two libraries: docs/Rationale.md.
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"
#include "kernels/gemm/Product.h"

#include <cstdlib>

#ifdef AICF_HAVE_OPENBLAS
#include <cblas.h>
#endif
#ifdef AICF_HAVE_ONEDNN
#include <dnnl.h>
#include <omp.h>
#endif

namespace aicf::cpu {
namespace {

#ifdef AICF_HAVE_ONEDNN
/// Multiply-adds below which oneDNN's way into a call costs more than it gains.
constexpr double kOneDNNWork = 1e6;

/// oneDNN asks OpenMP how many threads to use: one, on whatever thread we are.
class OneOpenMPThread {
public:
  OneOpenMPThread() : before(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneOpenMPThread() { omp_set_num_threads(before); }

private:
  int before;
};

/// AICF_CPU_GEMM=openblas: the bits of a build without oneDNN, such as a wheel.
bool wantsOneDNN() {
  static const bool wants = [] {
    const char *library = std::getenv("AICF_CPU_GEMM");
    return !library || std::string_view(library) != "openblas";
  }();
  return wants;
}

bool multiplyWithOneDNN(const Product &s, int64_t m, int64_t n, const float *a,
                        const float *b, float *c) {
  if (!wantsOneDNN() || double(m) * double(n) * double(s.k) < kOneDNNWork)
    return false;
  OneOpenMPThread guard;
  return dnnl_sgemm(s.transA ? 'T' : 'N', s.transB ? 'T' : 'N', m, n, s.k, 1.0f,
                    a, s.lda, b, s.ldb, 0.0f, c, s.n) == dnnl_success;
}
#else
bool multiplyWithOneDNN(const Product &, int64_t, int64_t, const float *,
                        const float *, float *) {
  return false;
}
#endif

#ifdef AICF_HAVE_OPENBLAS
void multiply(const Product &s, int64_t m, int64_t n, const float *a,
              const float *b, float *c) {
  if (multiplyWithOneDNN(s, m, n, a, b, c))
    return;
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

/// Tiles by work: below a million multiply-adds a thread does not pay; more
/// tiles than threads keep the wait for the last one short.
int64_t numTiles(const Product &s) {
  double work = double(s.m) * double(s.n) * double(s.k);
  return work < 1e6 ? 1 : work < 4e6 ? 2 : 4;
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
#if defined(AICF_HAVE_ONEDNN)
  return wantsOneDNN() ? "onednn and openblas, one thread a tile"
                       : "openblas, one thread a tile";
#elif defined(AICF_HAVE_OPENBLAS)
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
