//===- AttentionMma.cu - attention on tensor cores ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A block has a tile of queries of one head, a warp 16 rows of it. Queries stay in registers; keys and values of the next tile are fetched while one is computed (Dao
// 2023, "FlashAttention-2"). Weights are powers of 2, of scores times log2 e.
//===----------------------------------------------------------------------===//

#include "kernels/attention/Mma.cuh"

namespace aicf::cuda {
namespace {

/// Keys of a tile: 64 rows of 512 bytes would leave room for one block.
template <typename T, int kD> constexpr int kKeys = kD * sizeof(T) > 256 ? 32 : 64;

/// What a thread knows of its two rows: lane / 4 of its warp's, and the one eight below.
struct RowStates {
  float most[2], total[2];
  int firstKey[2], endKey[2];
};

/// Hides what the window hides, or makes scores by all that a call has. With kIsPlain,
/// scores are products; else they are times kOfScores.
template <typename T, int kN, bool kIsPlain>
__device__ void finishScores(const AttentionParams &p, int b, int h, int row, int j,
                             WarpTile<kN> &scores, const RowStates &rows) {
  const int lane = int(threadIdx.x) % 32;
#pragma unroll
  for (int n = 0; n < kN; ++n)
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int half = c / 2, i = row + 8 * half + lane / 4;
      const int key = j + 8 * n + lane % 4 * 2 + c % 2;
      const bool isSeen = key >= rows.firstKey[half] && key < rows.endKey[half];
      float &score = scores[n][c], slope;
      if (!isSeen)
        score = hidden<float>();
      else if constexpr (!kIsPlain)
        score = scoreOf<T>(p, b, h, i, key, score, slope) * kOfScores<T>;
    }
}

/// Makes weights of the scores of a tile of keys, and lets what was summed shrink.
template <typename T, int kD, int kN, bool kIsPlain>
__device__ void makeWeights(const AttentionParams &p, int b, int h, int row, int j,
                            WarpTile<kN> &scores, RowStates &rows,
                            WarpTile<kD / 8> &sums) {
  const float scale = kIsPlain ? float(p.e.scale) * kOfScores<T> : 1.0f;
  const int lane = int(threadIdx.x) % 32;
  const bool seesAll = kIsPlain && rows.firstKey[0] <= j && rows.firstKey[1] <= j &&
                       rows.endKey[0] >= j + 8 * kN && rows.endKey[1] >= j + 8 * kN;
  if (!__all_sync(0xffffffffu, seesAll))
    finishScores<T, kN, kIsPlain>(p, b, h, row, j, scores, rows);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float now = rows.most[half];
#pragma unroll
    for (int n = 0; n < kN; ++n)
      now = fmaxf(now, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
    now = fmaxf(now, __shfl_xor_sync(0xffffffffu, now, 1));
    now = fmaxf(now, __shfl_xor_sync(0xffffffffu, now, 2));
    const float base = now == hidden<float>() ? 0.0f : now * scale; // none is seen yet
    const float shrink = exponentialOf<T>(fmaf(rows.most[half], scale, -base));
    rows.most[half] = now;
    float sum = 0;
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int c = 2 * half; c < 2 * half + 2; ++c) {
        float &weight = scores[n][c];
        weight = exponentialOf<T>(fmaf(weight, scale, -base));
        sum += weight;
        if constexpr (!kIsPlain)
          if (p.e.drops() && weight != 0)
            weight *= factorOf<float>(p, b, h, row + 8 * half + lane / 4,
                                      j + 8 * n + lane % 4 * 2 + c % 2);
      }
    rows.total[half] = fmaf(rows.total[half], shrink, sum);
#pragma unroll
    for (int n = 0; n < kD / 8; ++n) {
      sums[n][2 * half] *= shrink;
      sums[n][2 * half + 1] *= shrink;
    }
  }
}

template <typename T, int kD, int kWarps, bool kIsPlain>
__global__ void __launch_bounds__(32 * kWarps)
    attentionKernel(const __grid_constant__ AttentionParams p) {
  constexpr int kThreads = 32 * kWarps, kRows = 16 * kWarps;
  constexpr int kTile = kKeys<T, kD>, kN = kTile / 8;
  constexpr int kTileBytes = kTile * SharedRows<T, kD>::kPitch;
  using F = Fragments<T>;
  extern __shared__ __align__(128) char memory[];
  const AttentionExtents &e = p.e;
  const int heads = int(e.heads), keys = int(e.keys), size = int(e.size),
            sizeOfValues = int(e.sizeOfValues);
  // Those that see most keys of a causal call come first.
  const int64_t head = blockIdx.x % (e.heads * e.batches);
  const int first =
      int(p.tiles - 1 - int64_t(blockIdx.x) / (e.heads * e.batches)) * kRows;
  const int b = int(head / heads), h = int(head % heads), kv = int(h / e.group());
  const int count = min(int(e.queries) - first, kRows);
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int row = first + warp * 16;

  typename F::Word queries[kD / F::kDepth][4];
  {
    const SharedRows<T, kD> shared(memory);
    shared.template fetch<kThreads, kRows>(p.q, b, first, h, count, size);
    commitFetches();
    waitForFetches<0>();
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kD / F::kDepth; ++k)
      shared.first(warp * 16, k, queries[k]);
    __syncthreads(); // the memory is free for keys
  }
  RowStates rows;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int i = row + 8 * half + lane / 4;
    rows.most[half] = hidden<float>();
    rows.total[half] = 0;
    rows.firstKey[half] = i < e.queries ? int(e.firstKey(i)) : 0;
    rows.endKey[half] = i < e.queries ? int(e.endKey(i)) : 0;
  }
  WarpTile<kD / 8> sums;
  clear<kD / 8>(sums);

  const int begin = int(e.firstKey(first)) / kTile * kTile,
            end = int(e.endKey(first + count - 1));
  auto fetch = [&](int j, int buffer) {
    char *start = memory + buffer * 2 * kTileBytes;
    const int there = min(keys - j, kTile);
    SharedRows<T, kD>(start).template fetch<kThreads, kTile>(p.k, b, j, kv, there, size);
    SharedRows<T, kD>(start + kTileBytes)
        .template fetch<kThreads, kTile>(p.v, b, j, kv, there, sizeOfValues);
    commitFetches();
  };
  if (begin < end)
    fetch(begin, 0);
  for (int j = begin, buffer = 0; j < end; j += kTile, buffer ^= 1) {
    if (j + kTile < end) {
      fetch(j + kTile, buffer ^ 1);
      waitForFetches<1>();
    } else {
      waitForFetches<0>();
    }
    __syncthreads();
    const SharedRows<T, kD> k(memory + buffer * 2 * kTileBytes);
    const SharedRows<T, kD> v(memory + buffer * 2 * kTileBytes + kTileBytes);
    WarpTile<kN> scores;
    clear<kN>(scores);
    multiplyRows<T, kD, kN>(queries, k, scores);
    makeWeights<T, kD, kN, kIsPlain>(p, b, h, row, j, scores, rows, sums);
    addRows<T, kD, kN>(scores, v, sums);
    __syncthreads(); // the buffer is free
  }
  const float scale = kIsPlain ? float(e.scale) * kOfScores<T> : 1.0f;
  float inverse[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int i = row + 8 * half + lane / 4;
    float total = rows.total[half];
    total += __shfl_xor_sync(0xffffffffu, total, 1);
    total += __shfl_xor_sync(0xffffffffu, total, 2);
    inverse[half] = total == 0 ? 0.0f : 1 / total;
    if (lane % 4 == 0 && i < e.queries)
      static_cast<float *>(p.lse)[e.rowAt(b, h, i)] =
          total == 0 ? hidden<float>()
          : std::is_same_v<T, float>
              ? fmaf(rows.most[half], scale, logf(total))
              : (rows.most[half] * scale + log2f(total)) * kLn2;
  }
  storeRows<T, kD / 8>(sums, inverse[0], inverse[1], p.y.row<T>(b, row, h),
                       p.y.strides.row, int(e.queries) - row, sizeOfValues);
}

template <typename T, int kD, int kWarps>
PlannedLaunch launchOf(AttentionParams p) {
  constexpr int kRows = 16 * kWarps;
  p.tiles = (p.e.queries + kRows - 1) / kRows;
  constexpr uint32_t bytes = std::max(4 * kKeys<T, kD>, kRows) * SharedRows<T, kD>::kPitch;
  return plan(isPlain(p) ? attentionKernel<T, kD, kWarps, true>
                         : attentionKernel<T, kD, kWarps, false>,
              p.tiles * p.e.heads * p.e.batches, 32 * kWarps, p, bytes);
}

template <typename T>
LaunchPlan attentionByMma(AttentionArgs call, const DeviceLimits &) {
  const AttentionParams p(call);
  const int64_t size = std::max(p.e.size, p.e.sizeOfValues);
  if constexpr (std::is_same_v<T, float>)
    return {size <= 32   ? launchOf<T, 32, 4>(p)
            : size <= 64 ? launchOf<T, 64, 4>(p)
                         : launchOf<T, 128, 4>(p)};
  else
    return {size <= 64 ? launchOf<T, 64, 4>(p) : launchOf<T, 128, 8>(p)};
}

} // namespace

#define AICF_KERNELS_OF_attention_mma_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
