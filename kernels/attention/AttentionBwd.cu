//===- AttentionBwd.cu - gradients of attention on CUDA, all types --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One launch has blocks of keys, for dk and dv, and one blocks of queries, for dq: sums
// are added in the order of tiles, always the same. Weights are computed again from lse.
//===----------------------------------------------------------------------===//

#include "kernels/attention/BlockTiles.cuh"

namespace aicf::cuda {
namespace {

/// A tile of weights, as values are multiplied by them, and of d loss / d (q · kᵀ), or
/// with !kOfProducts, d loss / d scores. `slopes` and `weights` are of thread's elements.
template <typename T, int kColumnsOfThread, bool kOfProducts>
__device__ void makeTile(const AttentionParams &p, int64_t b, int64_t h, int64_t first,
                         int64_t j, typename BlockTiles<T, kColumnsOfThread>::C *stage,
                         typename BlockTiles<T, kColumnsOfThread>::Side &weights,
                         typename BlockTiles<T, kColumnsOfThread>::Side &slopes) {
  using B = BlockTiles<T, kColumnsOfThread>;
  using C = typename B::C;
  const AttentionExtents &e = p.e;
  const int64_t kv = h / e.group();
  const auto queries = B::rowsOf(p.q, b, first, h, e.queries);
  B::multiply(queries, B::rowsOf(p.k, b, j, kv, e.keys), e.size, stage, weights);
  B::multiply(B::rowsOf(p.dy, b, first, h, e.queries), B::rowsOf(p.v, b, j, kv, e.keys),
              e.sizeOfValues, stage, slopes);
#pragma unroll
  for (int m = 0; m < B::kSide; ++m) {
    const int row = B::y() * B::kSide + m;
    const int64_t i = first + row;
    const bool isIn = row < queries.count;
    C mean = 0;
    for (int64_t d = B::x(); isIn && d < e.sizeOfValues; d += 16)
      mean = fma(widen(p.dy.row<const T>(b, i, h)[d]), widen(p.y.row<const T>(b, i, h)[d]),
                 mean);
    mean = sumOfRow(mean);
    const C lse = isIn ? static_cast<const C *>(p.lse)[e.rowAt(b, h, i)] : hidden<C>();
#pragma unroll
    for (int n = 0; n < B::kSide; ++n) {
      const int64_t key = j + B::x() + 16 * n;
      C slope = 1, weight = 0;
      if (isIn && key < e.keys && lse != hidden<C>())
        weight = exp(scoreOf<T>(p, b, h, i, key, weights[m][n], slope) - lse);
      const C factor = weight == 0 ? C(0) : factorOf<C>(p, b, h, i, key);
      const C ofScore =
          weight == 0 ? C(0) : weight * (factor * slopes[m][n] - mean);
      slopes[m][n] = kOfProducts ? ofScore * slope * C(e.scale) : ofScore;
      weights[m][n] = weight * factor;
    }
  }
}

template <typename B>
__device__ void share(const typename B::Side &from, typename B::Tile &to) {
#pragma unroll
  for (int m = 0; m < B::kSide; ++m)
#pragma unroll
    for (int n = 0; n < B::kSide; ++n)
      to[B::y() * B::kSide + m][B::x() + 16 * n] = from[m][n];
}

/// dk and dv of a tile of keys.
template <typename T, int kColumnsOfThread>
__global__ void __launch_bounds__(kTileThreads)
    keysKernel(const __grid_constant__ AttentionParams p) {
  using B = BlockTiles<T, kColumnsOfThread>;
  using C = typename B::C;
  __shared__ C stage[B::kStage];
  __shared__ typename B::Tile tile;
  const AttentionExtents &e = p.e;
  const int64_t head = blockIdx.x / p.tiles, j = blockIdx.x % p.tiles * B::kTile;
  const int64_t b = head / e.headsOfKeys, kv = head % e.headsOfKeys;
  const int64_t column = int64_t(blockIdx.y) * B::kColumns;
  const int64_t count = e.keys - j < B::kTile ? e.keys - j : B::kTile;
  typename B::Sums dk = {}, dv = {};
  const int64_t end = e.endQuery(j + count - 1);
  for (int64_t h = kv * e.group(); h < (kv + 1) * e.group(); ++h)
    for (int64_t i = e.firstQuery(j) / B::kTile * B::kTile; i < end; i += B::kTile) {
      typename B::Side weights, slopes;
      makeTile<T, kColumnsOfThread, true>(p, b, h, i, j, stage, weights, slopes);
      __syncthreads(); // the last use of the tile is over
      share<B>(weights, tile);
      B::template addRows<true>(tile, B::rowsOf(p.dy, b, i, h, e.queries), column,
                                e.sizeOfValues, stage, dv);
      __syncthreads();
      share<B>(slopes, tile);
      B::template addRows<true>(tile, B::rowsOf(p.q, b, i, h, e.queries), column, e.size,
                                stage, dk);
    }
  B::store(dk, p.dk.row<T>(b, j, kv), p.dk.strides.row, count, column, e.size);
  B::store(dv, p.dv.row<T>(b, j, kv), p.dv.strides.row, count, column, e.sizeOfValues);
}

/// dq of a tile of queries.
template <typename T, int kColumnsOfThread>
__global__ void __launch_bounds__(kTileThreads)
    queriesKernel(const __grid_constant__ AttentionParams p) {
  using B = BlockTiles<T, kColumnsOfThread>;
  using C = typename B::C;
  __shared__ C stage[B::kStage];
  __shared__ typename B::Tile tile;
  const AttentionExtents &e = p.e;
  const int64_t head = blockIdx.x / p.tiles, i = blockIdx.x % p.tiles * B::kTile;
  const int64_t b = head / e.heads, h = head % e.heads;
  const int64_t column = int64_t(blockIdx.y) * B::kColumns;
  const int64_t count = e.queries - i < B::kTile ? e.queries - i : B::kTile;
  typename B::Sums dq = {};
  const int64_t end = e.endKey(i + count - 1);
  for (int64_t j = e.firstKey(i) / B::kTile * B::kTile; j < end; j += B::kTile) {
    typename B::Side weights, slopes;
    makeTile<T, kColumnsOfThread, true>(p, b, h, i, j, stage, weights, slopes);
    __syncthreads();
    share<B>(slopes, tile);
    B::template addRows<false>(tile, B::rowsOf(p.k, b, j, h / e.group(), e.keys), column,
                               e.size, stage, dq);
  }
  B::store(dq, p.dq.row<T>(b, i, h), p.dq.strides.row, count, column, e.size);
}

struct MaskParams : AttentionParams {
  void *dmask = nullptr;
  int64_t dims[4]; ///< of the mask
  int64_t queryTiles = 1, keyTiles = 1;
  using AttentionParams::AttentionParams;
};

/// dmask: a block has a tile of it. It adds up all tiles of scores that share these
/// elements; along dimensions of 1 the tile has one row, or one column.
template <typename T>
__global__ void __launch_bounds__(kTileThreads)
    maskKernel(const __grid_constant__ MaskParams p) {
  using B = BlockTiles<T, 4>;
  using C = typename B::C;
  __shared__ C stage[B::kStage];
  __shared__ typename B::Tile tile;
  const AttentionExtents &e = p.e;
  const int64_t keyTile = blockIdx.x % p.keyTiles, rest = blockIdx.x / p.keyTiles;
  const int64_t queryTile = rest % p.queryTiles, head = rest / p.queryTiles;
  const int64_t mb = head / p.dims[1], mh = head % p.dims[1];
  const bool oneRow = p.dims[2] == 1, oneColumn = p.dims[3] == 1;
  auto range = [](bool isShared, int64_t at, int64_t size, int64_t step, int64_t &begin,
                  int64_t &end) {
    begin = isShared ? 0 : at * step;
    end = isShared || begin + step > size ? size : begin + step;
  };
  int64_t firstB, endB, firstH, endH, firstI, endI, firstJ, endJ;
  range(p.dims[0] == 1, mb, e.batches, 1, firstB, endB);
  range(p.dims[1] == 1, mh, e.heads, 1, firstH, endH);
  range(oneRow, queryTile, e.queries, B::kTile, firstI, endI);
  range(oneColumn, keyTile, e.keys, B::kTile, firstJ, endJ);
  typename B::Side sums = {};
  for (int64_t b = firstB; b < endB; ++b)
    for (int64_t h = firstH; h < endH; ++h)
      for (int64_t i = firstI; i < endI; i += B::kTile)
        for (int64_t j = firstJ; j < endJ; j += B::kTile) {
          typename B::Side weights, slopes;
          makeTile<T, 4, false>(p, b, h, i, j, stage, weights, slopes);
#pragma unroll
          for (int m = 0; m < B::kSide; ++m)
#pragma unroll
            for (int n = 0; n < B::kSide; ++n)
              sums[m][n] += slopes[m][n];
        }
  share<B>(sums, tile);
  __syncthreads();
  const int rows = oneRow ? 1 : B::kTile, columns = oneColumn ? 1 : B::kTile;
  for (int at = int(threadIdx.x); at < rows * columns; at += kTileThreads) {
    const int row = at / columns, column = at % columns;
    const int64_t i = firstI + row, j = firstJ + column;
    if ((!oneRow && i >= e.queries) || (!oneColumn && j >= e.keys))
      continue;
    C sum = 0;
    for (int m = row; m < (oneRow ? B::kTile : row + 1); ++m)
      for (int n = column; n < (oneColumn ? B::kTile : column + 1); ++n)
        sum += tile[m][n];
    const int64_t place = (head * p.dims[2] + (oneRow ? 0 : i)) * p.dims[3] +
                          (oneColumn ? 0 : j);
    if (p.maskKind == MaskKind::Float)
      static_cast<float *>(p.dmask)[place] = float(sum);
    else
      static_cast<T *>(p.dmask)[place] = narrow<T>(sum);
  }
}

template <typename T, int kColumnsOfThread> LaunchPlan launchesOf(AttentionParams p) {
  using B = BlockTiles<T, kColumnsOfThread>;
  const int64_t width = std::max(p.e.size, p.e.sizeOfValues);
  const auto parts = [](int64_t n, int64_t size) { return (n + size - 1) / size; };
  p.tiles = parts(p.e.keys, B::kTile);
  PlannedLaunch keys = plan(keysKernel<T, kColumnsOfThread>,
                            p.tiles * p.e.headsOfKeys * p.e.batches, kTileThreads, p);
  keys.grid[1] = uint32_t(parts(width, B::kColumns));
  p.tiles = parts(p.e.queries, B::kTile);
  PlannedLaunch queries = plan(queriesKernel<T, kColumnsOfThread>,
                               p.tiles * p.e.heads * p.e.batches, kTileThreads, p);
  queries.grid[1] = uint32_t(parts(p.e.size, B::kColumns));
  return {keys, queries};
}

template <typename T>
LaunchPlan attentionBwd(AttentionBwdArgs call, const DeviceLimits &) {
  AttentionParams p(call);
  p.dy = call.dy(), p.dq = call.dq(), p.dk = call.dk(), p.dv = call.dv();
  return std::max(p.e.size, p.e.sizeOfValues) <= 64 ? launchesOf<T, 4>(p)
                                                    : launchesOf<T, 8>(p);
}

template <typename T>
LaunchPlan attentionMaskBwd(AttentionMaskBwdArgs call, const DeviceLimits &) {
  constexpr int kTile = BlockTiles<T, 4>::kTile;
  MaskParams p(call);
  p.dy = call.dy();
  p.dmask = call.dmask().dense();
  std::copy_n(call.dmask().desc.dims, 4, p.dims);
  p.queryTiles = (p.dims[2] + kTile - 1) / kTile;
  p.keyTiles = (p.dims[3] + kTile - 1) / kTile;
  return {plan(maskKernel<T>, p.dims[0] * p.dims[1] * p.queryTiles * p.keyTiles,
               kTileThreads, p)};
}

} // namespace

#define AICF_KERNELS_OF_attention_bwd_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
