//===- Mma.cuh - products of warps on tensor cores --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Instructions of sm_80 and later: mma.m16n8k16 for 16-bit elements and mma.m16n8k8 for
// tf32, with sums of f32, ldmatrix, cp.async. "PTX ISA", chapter "Matrix
// multiply-accumulate instructions", says which element each thread of a warp has: of a
// 16 x 8 tile of sums, thread t has columns 2 (t mod 4) and one more of rows t / 4 and
// t / 4 + 8.
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

/// What scores are multiplied by before a power is taken of them. Those of f32 stay as they
/// are: the larger they are, the more a product would round away.
template <typename T>
constexpr float kOfScores = std::is_same_v<T, float> ? 1.0f : kLog2e;
/// The exponential of a score, less another one.
template <typename T> __device__ inline float exponentialOf(float x) {
  return powerOf2(std::is_same_v<T, float> ? x * kLog2e : x);
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

/// sums += a · b, of 16 x 16 and 16 x 8 elements of T.
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
/// The same of 16 x 8 and 8 x 8 elements, of whose bits tf32 has the first 19.
__device__ inline void mmaTf32(float (&sums)[4], const uint32_t (&a)[4], uint32_t b0,
                               uint32_t b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Tiles of sums in registers: kN tiles of 8 columns of 16 rows.
template <int kN> using WarpTile = float[kN][4];

/// What a thread has of 16 rows of a first factor, and of two second factors of 8 columns
/// each: four words of kDepth elements that are summed over.
template <typename T> struct Fragments {
  static constexpr int kDepth = 16;
  using Word = uint32_t;

  /// low += a · b's first factor, and high += a · its other one.
  __device__ static void multiply(const Word (&a)[4], const Word (&b)[4], float (&low)[4],
                                  float (&high)[4]) {
    mma<T>(low, a, b[0], b[1]);
    mma<T>(high, a, b[2], b[3]);
  }
  /// The same where sums are of a few terms.
  __device__ static void add(const Word (&a)[4], const Word (&b)[4], float (&low)[4],
                             float (&high)[4]) {
    multiply(a, b, low, high);
  }
  /// Columns [16 · k, 16 · k + 16) of sums, rounded to T, as a first factor.
  template <int kN>
  __device__ static void round(const WarpTile<kN> &sums, int k, Word (&a)[4]) {
    const float(&low)[4] = sums[2 * k], (&high)[4] = sums[2 * k + 1];
    a[0] = packed<T>(low[0], low[1]), a[1] = packed<T>(low[2], low[3]);
    a[2] = packed<T>(high[0], high[1]), a[3] = packed<T>(high[2], high[3]);
  }
};

/// Elements of f32 are sums of two numbers of tf32, and a product has three of their four:
/// what is left out is some 2^-23 of it. Tensor cores cut off what a sum has no bits for,
/// so that sums are of few terms, and are added to others to the nearest. NaNs and infinities
/// have a rest that is NaN, and so are products with them.
template <> struct Fragments<float> {
  static constexpr int kDepth = 8;
  using Word = float;

  template <int kCount>
  __device__ static void split(const Word (&x)[kCount], uint32_t (&high)[kCount],
                               uint32_t (&low)[kCount]) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      high[i] = (__float_as_uint(x[i]) + 0x1000u) & 0xffffe000u; // to the nearest
      low[i] = __float_as_uint(x[i] - __uint_as_float(high[i]));
    }
  }
  __device__ static void multiply(const Word (&a)[4], const Word (&b)[4], float (&low)[4],
                                  float (&high)[4]) {
    uint32_t mostOfA[4], restOfA[4], mostOfB[4], restOfB[4];
    split(a, mostOfA, restOfA);
    split(b, mostOfB, restOfB);
    mmaTf32(low, restOfA, mostOfB[0], mostOfB[1]);
    mmaTf32(high, restOfA, mostOfB[2], mostOfB[3]);
    mmaTf32(low, mostOfA, restOfB[0], restOfB[1]);
    mmaTf32(high, mostOfA, restOfB[2], restOfB[3]);
    mmaTf32(low, mostOfA, mostOfB[0], mostOfB[1]);
    mmaTf32(high, mostOfA, mostOfB[2], mostOfB[3]);
  }
  __device__ static void add(const Word (&a)[4], const Word (&b)[4], float (&low)[4],
                             float (&high)[4]) {
    float own[2][4] = {};
    multiply(a, b, own[0], own[1]);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      low[r] += own[0][r];
      high[r] += own[1][r];
    }
  }
  /// A thread has columns 2t and 2t + 1 of sums, where a factor has t and t + 4. So these
  /// are the ones that secondOfColumns takes as such.
  template <int kN>
  __device__ static void round(const WarpTile<kN> &sums, int k, Word (&a)[4]) {
    a[0] = sums[k][0], a[1] = sums[k][2], a[2] = sums[k][1], a[3] = sums[k][3];
  }
};

/// Rows of kD elements in shared memory, in pieces of 16 bytes. The pieces of a row of 16
/// bits are exchanged, and rows of f32 are one piece longer, so that a warp reads all banks.
template <typename T, int kD> struct SharedRows {
  using F = Fragments<T>;
  using Word = typename F::Word;
  static constexpr int kOfPiece = 16 / sizeof(T), kPieces = kD / kOfPiece;
  static constexpr bool kIsF32 = std::is_same_v<T, float>;
  static constexpr int kPitch = kD * int(sizeof(T)) + (kIsF32 ? 16 : 0); ///< bytes
  const char *memory;

  __device__ explicit SharedRows(const void *start)
      : memory(static_cast<const char *>(start)) {}
  __device__ uint32_t at(int row, int piece) const {
    return uint32_t(__cvta_generic_to_shared(memory)) +
           uint32_t(row * kPitch + ((kIsF32 ? piece : piece ^ (row & 7)) << 4));
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
    const bool isColumn = piece * kOfPiece < width;
    const T *source = from + first * pitch + piece * kOfPiece;
#pragma unroll
    for (int row = 0; row < kRows; row += kStep, source += kStep * pitch) {
      const bool isIn = isColumn && first + row < count;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                       at(first + row, piece)),
                   "l"(isIn ? source : from), "r"(isIn ? 16 : 0));
    }
  }

  /// The elements of 16 rows from `row` on, as the k-th first factor.
  __device__ void first(int row, int k, Word (&a)[4]) const {
    const int lane = int(threadIdx.x) % 32;
    if constexpr (kIsF32) {
      row += lane / 4, k = 8 * k + lane % 4;
      a[0] = element(row, k), a[1] = element(row + 8, k);
      a[2] = element(row, k + 4), a[3] = element(row + 8, k + 4);
    } else {
      load<false>(at(row + lane % 16, 2 * k + lane / 16), a);
    }
  }
  /// The k-th of two second factors: 16 rows from `row` on are their columns.
  __device__ void secondOfRows(int row, int k, Word (&b)[4]) const {
    const int lane = int(threadIdx.x) % 32;
    if constexpr (kIsF32) {
      row += lane / 4, k = 8 * k + lane % 4;
      b[0] = element(row, k), b[1] = element(row, k + 4);
      b[2] = element(row + 8, k), b[3] = element(row + 8, k + 4);
    } else {
      load<false>(at(row + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2), b);
    }
  }
  /// Two second factors: kDepth rows from `row` on are summed over, and 16 elements from
  /// the n-th 8 on are their columns.
  __device__ void secondOfColumns(int row, int n, Word (&b)[4]) const {
    const int lane = int(threadIdx.x) % 32;
    if constexpr (kIsF32) {
      row += lane % 4 * 2, n = 8 * n + lane / 4;
      b[0] = element(row, n), b[1] = element(row + 1, n);
      b[2] = element(row, n + 8), b[3] = element(row + 1, n + 8);
    } else {
      load<true>(at(row + lane % 16, n + lane / 16), b);
    }
  }

private:
  __device__ float element(int row, int column) const {
    return reinterpret_cast<const float *>(memory + row * kPitch)[column];
  }
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

template <int kN> __device__ inline void clear(WarpTile<kN> &tile) {
#pragma unroll
  for (int n = 0; n < kN; ++n)
#pragma unroll
    for (int r = 0; r < 4; ++r)
      tile[n][r] = 0;
}

/// Adds the products of the k-th factor with b's rows 8 · n to 8 · n + 15 to two tiles.
template <typename T, int kD, int kN>
__device__ inline void addProduct(const typename Fragments<T>::Word (&a)[4],
                                  const SharedRows<T, kD> &b, int n, int k,
                                  WarpTile<kN> &out) {
  using F = Fragments<T>;
  typename F::Word second[4];
  b.secondOfRows(8 * n, k, second);
  F::add(a, second, out[n], out[n + 1]);
}

/// out += a · bᵀ: `a` are the 16 rows of a warp, b's rows [0, 8 · kN) the columns.
template <typename T, int kD, int kN>
__device__ inline void
multiplyRows(const typename Fragments<T>::Word (&a)[kD / Fragments<T>::kDepth][4],
             const SharedRows<T, kD> &b, WarpTile<kN> &out) {
  using F = Fragments<T>;
#pragma unroll
  for (int k = 0; k < kD / F::kDepth; ++k)
#pragma unroll
    for (int n = 0; n < kN; n += 2)
      addProduct(a[k], b, n, k, out);
}

/// sums += weights · rows, where weights are sums of a product, rounded to T.
template <typename T, int kD, int kN>
__device__ inline void addRows(const WarpTile<kN> &weights, const SharedRows<T, kD> &rows,
                               WarpTile<kD / 8> &sums) {
  using F = Fragments<T>;
  // Of f32, a tile has sums of its own: see Fragments<float>.
  constexpr bool kIsApart = std::is_same_v<T, float>;
  WarpTile<kIsApart ? kD / 8 : 1> own;
  clear<kIsApart ? kD / 8 : 1>(own);
#pragma unroll
  for (int k = 0; k < 8 * kN / F::kDepth; ++k) {
    typename F::Word a[4];
    F::template round<kN>(weights, k, a);
#pragma unroll
    for (int n = 0; n < kD / 8; n += 2) {
      typename F::Word second[4];
      rows.secondOfColumns(F::kDepth * k, n, second);
      if constexpr (kIsApart)
        F::multiply(a, second, own[n], own[n + 1]);
      else
        F::multiply(a, second, sums[n], sums[n + 1]);
    }
  }
  if constexpr (kIsApart)
#pragma unroll
    for (int n = 0; n < kD / 8; ++n)
#pragma unroll
      for (int r = 0; r < 4; ++r)
        sums[n][r] += own[n][r];
}

template <typename T> __device__ inline void storePair(T *to, float low, float high) {
  if constexpr (std::is_same_v<T, float>)
    *reinterpret_cast<float2 *>(to) = {low, high};
  else
    *reinterpret_cast<uint32_t *>(to) = packed<T>(low, high);
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
      storePair(start + row * pitch + column, sums[n][0] * low, sums[n][1] * low);
    if (row + 8 < count)
      storePair(start + (row + 8) * pitch + column, sums[n][2] * high, sums[n][3] * high);
  }
}

/// True if a call needs no more than the window to make scores of products, which are the
/// larger the larger the products are.
__device__ __host__ inline bool isPlain(const AttentionParams &p) {
  return p.e.scale > 0 && p.e.softcap <= 0 && p.maskKind == MaskKind::None && !p.segments && !p.e.drops();
}

} // namespace aicf::cuda

#endif // AICF_KERNELS_ATTENTION_MMA_CUH
