//===- Tiles.cpp - small products near the processor ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/attention/Tiles.h"

#include <cmath>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define AICF_HAVE_VECTOR_TILES
#endif

namespace aicf::cpu {
namespace {

template <typename C> C load(const C *from) { return *from; }
template <typename C> void store(C *to, C x) { *to = x; }
template <typename C> C each(C x) { return x; }

#define TILE_NAME baseline_f32
#define TILE_TARGET
#define TILE_TYPE float
#define TILE_VECTOR float
#define TILE_LOAD load
#define TILE_STORE store
#define TILE_EACH each
#define TILE_FMA std::fma
#define TILE_ROWS 4
#define TILE_VECTORS 2
#include "kernels/attention/Tiles.inc"

#define TILE_NAME baseline_f64
#define TILE_TARGET
#define TILE_TYPE double
#define TILE_VECTOR double
#define TILE_LOAD load
#define TILE_STORE store
#define TILE_EACH each
#define TILE_FMA std::fma
#define TILE_ROWS 4
#define TILE_VECTORS 2
#include "kernels/attention/Tiles.inc"

#ifdef AICF_HAVE_VECTOR_TILES
#define TILE_NAME avx2_f32
#define TILE_TARGET [[gnu::target("avx2,fma")]]
#define TILE_TYPE float
#define TILE_VECTOR __m256
#define TILE_LOAD _mm256_loadu_ps
#define TILE_STORE _mm256_storeu_ps
#define TILE_EACH _mm256_set1_ps
#define TILE_FMA _mm256_fmadd_ps
#define TILE_ROWS 4
#define TILE_VECTORS 2
#include "kernels/attention/Tiles.inc"

#define TILE_NAME avx2_f64
#define TILE_TARGET [[gnu::target("avx2,fma")]]
#define TILE_TYPE double
#define TILE_VECTOR __m256d
#define TILE_LOAD _mm256_loadu_pd
#define TILE_STORE _mm256_storeu_pd
#define TILE_EACH _mm256_set1_pd
#define TILE_FMA _mm256_fmadd_pd
#define TILE_ROWS 4
#define TILE_VECTORS 2
#include "kernels/attention/Tiles.inc"

#define TILE_NAME avx512_f32
#define TILE_TARGET [[gnu::target("avx512f,fma")]]
#define TILE_TYPE float
#define TILE_VECTOR __m512
#define TILE_LOAD _mm512_loadu_ps
#define TILE_STORE _mm512_storeu_ps
#define TILE_EACH _mm512_set1_ps
#define TILE_FMA _mm512_fmadd_ps
#define TILE_ROWS 8
#define TILE_VECTORS 2
#include "kernels/attention/Tiles.inc"

#define TILE_NAME avx512_f64
#define TILE_TARGET [[gnu::target("avx512f,fma")]]
#define TILE_TYPE double
#define TILE_VECTOR __m512d
#define TILE_LOAD _mm512_loadu_pd
#define TILE_STORE _mm512_storeu_pd
#define TILE_EACH _mm512_set1_pd
#define TILE_FMA _mm512_fmadd_pd
#define TILE_ROWS 8
#define TILE_VECTORS 2
#include "kernels/attention/Tiles.inc"
#endif

} // namespace

#ifdef AICF_HAVE_VECTOR_TILES
#define AICF_MULTIPLY(TYPE, NAME)                                              \
  void multiply(InstructionSet set, const SmallProduct<TYPE> &product) {       \
    if (set == InstructionSet::AVX512)                                         \
      avx512_##NAME::multiplyTiles(product);                                   \
    else if (set == InstructionSet::AVX2)                                      \
      avx2_##NAME::multiplyTiles(product);                                     \
    else                                                                       \
      baseline_##NAME::multiplyTiles(product);                                 \
  }
#else
#define AICF_MULTIPLY(TYPE, NAME)                                              \
  void multiply(InstructionSet, const SmallProduct<TYPE> &product) {           \
    baseline_##NAME::multiplyTiles(product);                                   \
  }
#endif
AICF_MULTIPLY(float, f32)
AICF_MULTIPLY(double, f64)
#undef AICF_MULTIPLY

} // namespace aicf::cpu
