//===- Mma.cuh - products of warps on tensor cores --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Instructions of sm_80 and later: mma.m16n8k16 for 16-bit elements with sums of f32,
// ldmatrix, cp.async. "PTX ISA", chapter "Matrix multiply-accumulate instructions", says
// which element each thread of a warp has: of a 16 x 8 tile of sums, thread t has columns
// 2 (t mod 4) and one more of rows t / 4 and t / 4 + 8.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ATTENTION_MMA_CUH
#define AICF_KERNELS_ATTENTION_MMA_CUH

#include "kernels/attention/Scores.cuh"

namespace aicf::cuda {

constexpr float kLog2e = 1.4426950408889634f, kLn2 = 0.6931471805599453f;

/// 2^x; subnormal results are 0.
__device__ inline float powerOf2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

template <typename T> __device__ inline uint32_t packed(float low, float high);
template <> __device__ inline uint32_t packed<bf16>(float low, float high) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const uint32_t *>(&both);
}
template <> __device__ inline uint32_t packed<f16>(float low, float high) {
  const __half2 both = __floats2half2_rn(low, high);
  return *reinterpret_cast<const uint32_t *>(&both);
}

/// sums += a · b, of 16 x 16 and 16 x 8.
template <typename T>
__device__ inline void mma(float (&sums)[4], const uint32_t (&a)[4], uint32_t b0,
                           uint32_t b1) {
  if constexpr (std::is_same_v<T, bf16>)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Rows of kD elements in shared memory. The 16-byte pieces of a row are exchanged, so
/// that eight rows of a column of pieces lie in different banks.
template <typename T, int kD> struct SharedRows {
  static constexpr int kPieces = kD / 8;
  uint32_t start; ///< a shared address

  __device__ explicit SharedRows(const void *memory)
      : start(uint32_t(__cvta_generic_to_shared(memory))) {}
  __device__ uint32_t at(int row, int piece) const {
    return start + uint32_t(row * kD * 2 + ((piece ^ (row & 7)) << 4));
  }

  /// Fetches kRows rows of a head, from row t on, without waiting. Behind `count` rows and
  /// behind `width` elements there are zeros.
  template <int kThreads, int kRows>
  __device__ void fetch(const HeadTensor &x, int64_t b, int64_t t, int64_t h, int count,
                        int width) const {
    const T *from = x.row<const T>(b, t, h);
    const int64_t pitch = x.strides.row;
    // A thread has one column of pieces.
    constexpr int kStep = kThreads / kPieces;
    static_assert(kThreads % kPieces == 0 && kRows % kStep == 0);
    const int first = int(threadIdx.x) / kPieces, piece = int(threadIdx.x) % kPieces;
    const bool isColumn = piece * 8 < width;
    const T *source = from + first * pitch + piece * 8;
#pragma unroll
    for (int row = 0; row < kRows; row += kStep, source += kStep * pitch) {
      const bool isIn = isColumn && first + row < count;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                       at(first + row, piece)),
                   "l"(isIn ? source : from), "r"(isIn ? 16 : 0));
    }
  }

  /// The 16 x 16 elements of a from row `row` and element 16 · k on, as the first factor.
  __device__ void first(int row, int k, uint32_t (&a)[4]) const {
    const int lane = int(threadIdx.x) % 32;
    load<false>(at(row + lane % 16, 2 * k + lane / 16), a);
  }
  /// Two second factors, each of 16 x 8: rows [row, row + 16) of this are their columns,
  /// and elements from 16 · k on are summed over.
  __device__ void secondOfRows(int row, int k, uint32_t (&b)[4]) const {
    const int lane = int(threadIdx.x) % 32;
    load<false>(at(row + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2), b);
  }
  /// Two second factors: rows from `row` on are summed over, and elements
  /// [8 · piece, 8 · piece + 16) are their columns.
  __device__ void secondOfColumns(int row, int piece, uint32_t (&b)[4]) const {
    const int lane = int(threadIdx.x) % 32;
    load<true>(at(row + lane % 16, piece + lane / 16), b);
  }

private:
  template <bool kTransposed>
  __device__ static void load(uint32_t address, uint32_t (&r)[4]) {
    if constexpr (kTransposed)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                   : "r"(address));
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                   : "r"(address));
  }
};

__device__ inline void commitFetches() { asm volatile("cp.async.commit_group;"); }
/// Waits until all but the last `kPending` groups of fetches are there.
template <int kPending> __device__ inline void waitForFetches() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending));
}

/// Tiles of sums in registers: kN tiles of 8 columns of 16 rows.
template <int kN> using WarpTile = float[kN][4];

/// out += a · bᵀ: `a` are the 16 rows of a warp, b's rows [0, 8 · kN) the columns.
template <typename T, int kD, int kN>
__device__ inline void multiplyRows(const uint32_t (&a)[kD / 16][4],
                                    const SharedRows<T, kD> &b, WarpTile<kN> &out) {
#pragma unroll
  for (int k = 0; k < kD / 16; ++k)
#pragma unroll
    for (int n = 0; n < kN; n += 2) {
      uint32_t second[4];
      b.secondOfRows(8 * n, k, second);
      mma<T>(out[n], a[k], second[0], second[1]);
      mma<T>(out[n + 1], a[k], second[2], second[3]);
    }
}

/// sums += weights · rows, where weights are sums of a product, rounded to T.
template <typename T, int kD, int kN>
__device__ inline void addRows(const WarpTile<kN> &weights, const SharedRows<T, kD> &rows,
                               WarpTile<kD / 8> &sums) {
#pragma unroll
  for (int k = 0; k < kN / 2; ++k) {
    const float(&low)[4] = weights[2 * k], (&high)[4] = weights[2 * k + 1];
    const uint32_t a[4] = {packed<T>(low[0], low[1]), packed<T>(low[2], low[3]),
                           packed<T>(high[0], high[1]), packed<T>(high[2], high[3])};
#pragma unroll
    for (int n = 0; n < kD / 8; n += 2) {
      uint32_t second[4];
      rows.secondOfColumns(16 * k, n, second);
      mma<T>(sums[n], a, second[0], second[1]);
      mma<T>(sums[n + 1], a, second[2], second[3]);
    }
  }
}

template <int kN> __device__ inline void clear(WarpTile<kN> &tile) {
#pragma unroll
  for (int n = 0; n < kN; ++n)
#pragma unroll
    for (int r = 0; r < 4; ++r)
      tile[n][r] = 0;
}

/// Writes the sums of a warp, times `factor` of each half of its rows, to rows from
/// `start` on, of which there are `count`.
template <typename T, int kN>
__device__ inline void storeRows(const WarpTile<kN> &sums, float low, float high, T *start,
                                 int64_t pitch, int count, int width) {
  const int lane = int(threadIdx.x) % 32, row = lane / 4;
#pragma unroll
  for (int n = 0; n < kN; ++n) {
    const int column = 8 * n + lane % 4 * 2;
    if (column >= width)
      continue;
    if (row < count)
      *reinterpret_cast<uint32_t *>(start + row * pitch + column) =
          packed<T>(sums[n][0] * low, sums[n][1] * low);
    if (row + 8 < count)
      *reinterpret_cast<uint32_t *>(start + (row + 8) * pitch + column) =
          packed<T>(sums[n][2] * high, sums[n][3] * high);
  }
}

/// True if a call needs no more than the window to make scores of products, which are the
/// larger the larger the products are.
__device__ __host__ inline bool isPlain(const AttentionParams &p) {
  return p.e.scale > 0 && p.e.softcap <= 0 && p.maskKind == MaskKind::None && !p.segments && !p.e.drops();
}

} // namespace aicf::cuda

#endif // AICF_KERNELS_ATTENTION_MMA_CUH
