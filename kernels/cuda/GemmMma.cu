//===- GemmMma.cu - 16-bit products of awkward shapes ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// f16 and bf16 on the tensor cores with f32 sums (wmma, any card from sm_80),
// for rows that are no multiple of 16 bytes: there libraries fall back to slow
// kernels, because their copies need aligned rows. One block computes a 64x64
// tile of c; elements are loaded one by one into shared memory, where every row
// is aligned.
//===----------------------------------------------------------------------===//

#include "Common.cuh"

#include <mma.h>

namespace aicf::cuda {
namespace {

namespace wmma = nvcuda::wmma;

constexpr int kTile = 64, kChunk = 64, kThreads = 256;
constexpr int kPitch = kChunk + 8; ///< 16-bit elements; rows stay 16-aligned
constexpr int kEach = kTile * kChunk / kThreads;

enum class Epilogue { None, Bias, ReluBwd, Reduce };

struct MmaParams {
  const void *a, *b;
  const void *extra; ///< Bias: bias [n]; ReluBwd: saved [m, n]
  void *c;
  void *sums; ///< Reduce: [m]
  int32_t m, n, k, lda, ldb;
  bool transA, transB, relu;
};

/// One operand's chunk: registers, then shared memory as [row][k].
template <typename T> struct ChunkLoader {
  T values[kEach];

  __device__ static void locate(int j, bool alongK, int &row, int &k) {
    int linear = threadIdx.x + j * kThreads;
    row = alongK ? linear / kChunk : linear % kTile;
    k = alongK ? linear % kChunk : linear / kTile;
  }
  __device__ void load(const T *from, int ld, bool alongK, int firstRow,
                       int rows, int firstK, int depth) {
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      int row, k;
      locate(j, alongK, row, k);
      row += firstRow;
      k += firstK;
      int64_t at = alongK ? int64_t(row) * ld + k : int64_t(k) * ld + row;
      values[j] = row < rows && k < depth ? from[at] : narrow<T>(0.0f);
    }
  }
  __device__ void store(T (*to)[kPitch], bool alongK) const {
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      int row, k;
      locate(j, alongK, row, k);
      to[row][k] = values[j];
    }
  }
};

template <typename T, typename Out, Epilogue kEpilogue>
__global__ void __launch_bounds__(kThreads)
    mmaKernel(const __grid_constant__ MmaParams p) {
  // The chunks, and after the last of them the tile of c.
  __shared__ __align__(32) unsigned char memory[2 * kTile * kPitch * sizeof(T)];
  static_assert(sizeof(memory) >= kTile * (kTile + 8) * sizeof(float));
  __shared__ float rowSums[kTile];
  auto *chunkA = reinterpret_cast<T(*)[kPitch]>(memory);
  auto *chunkB = chunkA + kTile;
  const T *a = static_cast<const T *>(p.a), *b = static_cast<const T *>(p.b);
  int firstRow = blockIdx.y * kTile, firstColumn = blockIdx.x * kTile;
  // 8 warps: 4 rows of 16 by 2 columns of 32.
  int warp = threadIdx.x / 32, row = warp % 4 * 16, column = warp / 4 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2];
  for (auto &fragment : acc)
    wmma::fill_fragment(fragment, 0.0f);
  float sum = 0; // of row threadIdx.x / 4, a quarter of every chunk
  ChunkLoader<T> loadA, loadB;
  auto load = [&](int k) {
    loadA.load(a, p.lda, !p.transA, firstRow, p.m, k, p.k);
    loadB.load(b, p.ldb, p.transB, firstColumn, p.n, k, p.k);
  };
  load(0);
  for (int k = 0; k < p.k; k += kChunk) {
    __syncthreads(); // everybody is done with the chunk before
    loadA.store(chunkA, !p.transA);
    loadB.store(chunkB, p.transB);
    __syncthreads();
    if (k + kChunk < p.k)
      load(k + kChunk); // under way while this chunk is multiplied
#pragma unroll
    for (int s = 0; s < kChunk; s += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> x;
      wmma::load_matrix_sync(x, &chunkA[row][s], kPitch);
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> y;
        wmma::load_matrix_sync(y, &chunkB[column + 16 * j][s], kPitch);
        wmma::mma_sync(acc[j], x, y, acc[j]);
      }
    }
    if constexpr (kEpilogue == Epilogue::Reduce)
      for (int s = 0; s < kChunk / 4; ++s)
        sum += widen(chunkA[threadIdx.x / 4][threadIdx.x % 4 + 4 * s]);
  }
  __syncthreads();
  auto *tile = reinterpret_cast<float(*)[kTile + 8]>(memory);
  for (int j = 0; j < 2; ++j)
    wmma::store_matrix_sync(&tile[row][column + 16 * j], acc[j], kTile + 8,
                            wmma::mem_row_major);
  if constexpr (kEpilogue == Epilogue::Reduce) {
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    if (threadIdx.x % 4 == 0)
      rowSums[threadIdx.x / 4] = sum;
  }
  __syncthreads();
  for (int e = threadIdx.x; e < kTile * kTile; e += kThreads) {
    int i = e / kTile, j = e % kTile;
    int64_t m = firstRow + i, n = firstColumn + j;
    if (m >= p.m || n >= p.n)
      continue;
    float value = tile[i][j];
    if constexpr (kEpilogue == Epilogue::Bias) {
      value += widen(static_cast<const Out *>(p.extra)[n]);
      if (p.relu)
        value = value < 0 ? 0.0f : value;
    }
    if constexpr (kEpilogue == Epilogue::ReluBwd)
      if (!(widen(static_cast<const Out *>(p.extra)[m * p.n + n]) > 0))
        value = 0;
    static_cast<Out *>(p.c)[m * p.n + n] = narrow<Out>(value);
  }
  int i = threadIdx.x;
  if (kEpilogue == Epilogue::Reduce && blockIdx.x == 0 && i < kTile &&
      firstRow + i < p.m)
    static_cast<Out *>(p.sums)[firstRow + i] = narrow<Out>(rowSums[i]);
}

template <typename T, typename Out, Epilogue kEpilogue>
LaunchPlan gemm(const LaunchArgs &args, const DeviceLimits &) {
  GemmAttrs attrs; // every gemm kind's attrs start with these
  std::memcpy(&attrs, args.attrs.data(), sizeof(attrs));
  const int64_t *a = args.ins[0].desc.dims, *b = args.ins[1].desc.dims;
  MmaParams p{};
  p.a = args.ins[0].data;
  p.b = args.ins[1].data;
  p.extra = args.ins.size() > 2 ? args.ins[2].data : nullptr;
  p.c = args.outs[0].data;
  p.sums = args.outs.size() > 1 ? args.outs[1].data : nullptr;
  p.m = int32_t(args.outs[0].desc.dims[0]);
  p.n = int32_t(args.outs[0].desc.dims[1]);
  p.k = int32_t(attrs.transA ? a[0] : a[1]);
  p.lda = int32_t(a[1]);
  p.ldb = int32_t(b[1]);
  p.transA = attrs.transA != 0;
  p.transB = attrs.transB != 0;
  if (kEpilogue == Epilogue::Bias)
    p.relu = args.attrsAs<GemmBiasAttrs>().relu != 0;
  PlannedLaunch launch = plan(mmaKernel<T, Out, kEpilogue>,
                              (p.n + kTile - 1) / kTile, kThreads, p);
  launch.grid[1] = uint32_t((p.m + kTile - 1) / kTile);
  return {launch};
}

} // namespace

#define AICF_MMA(T)                                                            \
  AICF_DEFINE_PLANNER(gemm_##T##_mma_v0, gemm<T, T, Epilogue::None>)           \
  AICF_DEFINE_PLANNER(gemm_##T##_f32_mma_v0, gemm<T, f32, Epilogue::None>)     \
  AICF_DEFINE_PLANNER(gemm_bias_##T##_mma_v0, gemm<T, T, Epilogue::Bias>)      \
  AICF_DEFINE_PLANNER(gemm_relu_bwd_##T##_mma_v0,                              \
                      gemm<T, T, Epilogue::ReluBwd>)                           \
  AICF_DEFINE_PLANNER(gemm_reduce_##T##_mma_v0, gemm<T, T, Epilogue::Reduce>)
AICF_MMA(f16)
AICF_MMA(bf16)

} // namespace aicf::cuda
