//===- Attention.cu - attention on CUDA, for all types --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A block has a tile of queries of one head, and goes over tiles of keys with the largest
// score and the sum of each row so far (Dao et al. 2022). Where values are wide, blocks
// share their columns.
//===----------------------------------------------------------------------===//

#include "kernels/attention/BlockTiles.cuh"

namespace aicf::cuda {
namespace {

template <typename T, int kColumnsOfThread>
__global__ void __launch_bounds__(kTileThreads)
    attentionKernel(const __grid_constant__ AttentionParams p) {
  using B = BlockTiles<T, kColumnsOfThread>;
  using C = typename B::C;
  __shared__ C stage[B::kStage];
  __shared__ typename B::Tile weights;
  const AttentionExtents &e = p.e;
  const int64_t head = blockIdx.x / p.tiles, first = blockIdx.x % p.tiles * B::kTile;
  const int64_t b = head / e.heads, h = head % e.heads, kv = h / e.group();
  const int64_t column = int64_t(blockIdx.y) * B::kColumns;
  const auto queries = B::rowsOf(p.q, b, first, h, e.queries);
  const int64_t last = first + queries.count - 1;
  C most[B::kSide], total[B::kSide] = {};
  typename B::Sums sums = {};
#pragma unroll
  for (int m = 0; m < B::kSide; ++m)
    most[m] = hidden<C>();
  const int64_t endKey = e.endKey(last);
  for (int64_t j = e.firstKey(first) / B::kTile * B::kTile; j < endKey; j += B::kTile) {
    const auto keys = B::rowsOf(p.k, b, j, kv, e.keys);
    typename B::Side scores;
    B::multiply(queries, keys, e.size, stage, scores);
#pragma unroll
    for (int m = 0; m < B::kSide; ++m) {
      const int64_t i = first + B::y() * B::kSide + m;
      C now = most[m], slope = 1;
#pragma unroll
      for (int n = 0; n < B::kSide; ++n) {
        const int64_t key = j + B::x() + 16 * n;
        scores[m][n] = i <= last && key < e.keys
                           ? scoreOf<T>(p, b, h, i, key, scores[m][n], slope)
                           : hidden<C>();
        now = scores[m][n] > now ? scores[m][n] : now;
      }
      now = mostOfRow(now);
      const C base = now == hidden<C>() ? C(0) : now; // none is seen yet
      C sum = 0;
#pragma unroll
      for (int n = 0; n < B::kSide; ++n) {
        const C weight = exp(scores[m][n] - base);
        sum += weight;
        const int64_t key = j + B::x() + 16 * n;
        weights[B::y() * B::kSide + m][B::x() + 16 * n] =
            weight == 0 ? C(0) : weight * factorOf<C>(p, b, h, i, key);
      }
      const C shrink = exp(most[m] - base);
      total[m] = fma(total[m], shrink, sumOfRow(sum));
#pragma unroll
      for (int c = 0; c < kColumnsOfThread; ++c)
        sums[m][c] *= shrink;
      most[m] = now;
    }
    B::template addRows<false>(weights, B::rowsOf(p.v, b, j, kv, e.keys), column,
                               e.sizeOfValues, stage, sums);
  }
#pragma unroll
  for (int m = 0; m < B::kSide; ++m) {
    const int64_t i = first + B::y() * B::kSide + m;
    const C inverse = total[m] == 0 ? C(0) : 1 / total[m];
#pragma unroll
    for (int c = 0; c < kColumnsOfThread; ++c)
      sums[m][c] *= inverse;
    if (B::x() == 0 && blockIdx.y == 0 && i <= last)
      static_cast<C *>(p.lse)[e.rowAt(b, h, i)] =
          total[m] == 0 ? hidden<C>() : most[m] + log(total[m]);
  }
  B::store(sums, p.y.row<T>(b, first, h), p.y.strides.row, queries.count, column,
           e.sizeOfValues);
}

template <typename T, int kColumnsOfThread>
PlannedLaunch launchOf(AttentionParams p) {
  using B = BlockTiles<T, kColumnsOfThread>;
  p.tiles = (p.e.queries + B::kTile - 1) / B::kTile;
  PlannedLaunch made = plan(attentionKernel<T, kColumnsOfThread>,
                            p.tiles * p.e.heads * p.e.batches, kTileThreads, p);
  made.grid[1] = uint32_t((p.e.sizeOfValues + B::kColumns - 1) / B::kColumns);
  return made;
}

template <typename T> LaunchPlan attention(AttentionArgs call, const DeviceLimits &) {
  const AttentionParams p(call);
  return {p.e.sizeOfValues <= 64 ? launchOf<T, 4>(p) : launchOf<T, 8>(p)};
}

} // namespace

#define AICF_KERNELS_OF_attention_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
