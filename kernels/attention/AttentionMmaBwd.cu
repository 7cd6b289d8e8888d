//===- AttentionMmaBwd.cu - gradients of attention on tensor cores --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Three launches: D, the sum of dy · y of each row; blocks of keys, for dk and dv; blocks
// of queries, for dq. Nothing is added by several blocks, so the order of all sums is
// always the same. A warp has 16 rows; its tile of scores is transposed in blocks of keys.
//===----------------------------------------------------------------------===//

#include "kernels/attention/Mma.cuh"

namespace aicf::cuda {
namespace {

constexpr int kWarps = 4, kThreads = 32 * kWarps, kRows = 16 * kWarps;
/// Rows of the other tensors that a block has at once, so that two blocks have room.
template <typename T, int kD>
constexpr int kOthers = kD <= 64 ? 64 : sizeof(T) == 2 ? 32 : 16;

struct BwdParams : AttentionParams {
  float *means = nullptr; ///< D, [batch, head, query]
  using AttentionParams::AttentionParams;
};

/// kLanes lanes have a row, of one piece of 16 bytes each.
template <typename T, int kLanes>
__global__ void __launch_bounds__(kThreads)
    meansKernel(const __grid_constant__ BwdParams p) {
  constexpr int kOfPiece = 16 / sizeof(T);
  const AttentionExtents &e = p.e;
  const int piece = int(threadIdx.x) % kLanes;
  const int64_t row = (int64_t(blockIdx.x) * kThreads + threadIdx.x) / kLanes;
  const bool isIn =
      row < e.batches * e.heads * e.queries && piece * kOfPiece < e.sizeOfValues;
  float sum = 0;
  if (isIn) {
    // Neighbours are heads of one row of y, which lie together.
    const int64_t h = row % e.heads, i = row / e.heads % e.queries,
                  b = row / e.heads / e.queries;
    const Vec<T, kOfPiece> left = loadVec<T, kOfPiece>(p.dy.row<const T>(b, i, h), piece),
                    right = loadVec<T, kOfPiece>(p.y.row<const T>(b, i, h), piece);
#pragma unroll
    for (int d = 0; d < kOfPiece; ++d)
      sum = fmaf(widen(left.at[d]), widen(right.at[d]), sum);
  }
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (isIn && piece == 0)
    p.means[e.rowAt(row / e.heads / e.queries, row % e.heads,
                    row / e.heads % e.queries)] = sum;
}

/// Makes a weight as values are multiplied by it of the product of query i and key j, and
/// of its gradient, d loss / d weight, that of the product but for the scale.
template <typename T, bool kIsPlain>
__device__ inline void makeWeight(const AttentionParams &p, int b, int h, int i, int j,
                                  bool isSeen, float lse, float mean, float &weight,
                                  float &slope) {
  float bend = 1, score = hidden<float>();
  if constexpr (kIsPlain)
    score = weight * (float(p.e.scale) * kOfScores<T>);
  else if (isSeen)
    score = scoreOf<T>(p, b, h, i, j, weight, bend) * kOfScores<T>;
  float power = score - lse;
  if constexpr (kIsPlain && std::is_same_v<T, float>) // large scores lose nothing
    power = fmaf(weight, float(p.e.scale), -lse);
  const float one =
      isSeen && score != hidden<float>() ? exponentialOf<T>(power) : 0.0f;
  float factor = 1;
  if constexpr (!kIsPlain)
    factor = one == 0 ? 0.0f : factorOf<float>(p, b, h, i, j);
  slope = one == 0 ? 0.0f : one * (factor * slope - mean) * bend;
  weight = one * factor;
}

/// The products of the warp's 16 rows: weights = a · bᵀ and slopes = c · dᵀ.
template <typename T, int kD, int kN>
__device__ inline void
multiplyBoth(const SharedRows<T, kD> &a, const SharedRows<T, kD> &b, WarpTile<kN> &weights,
             const SharedRows<T, kD> &c, const SharedRows<T, kD> &d, WarpTile<kN> &slopes) {
  using F = Fragments<T>;
  const int row = int(threadIdx.x) / 32 * 16;
  clear<kN>(weights);
  clear<kN>(slopes);
#pragma unroll
  for (int k = 0; k < kD / F::kDepth; ++k) {
    typename F::Word left[4], other[4];
    a.first(row, k, left);
    c.first(row, k, other);
#pragma unroll
    for (int n = 0; n < kN; n += 2) {
      addProduct(left, b, n, k, weights);
      addProduct(other, d, n, k, slopes);
    }
  }
}

/// lse times kOfScores and D of the queries of a tile; of those that see nothing, and of
/// those that are not there, an lse that makes all weights 0.
template <typename T>
__device__ inline void fetchRows(const BwdParams &p, int64_t firstRow, int count, int rows,
                                 float *lse, float *means) {
  for (int r = int(threadIdx.x); r < rows; r += kThreads) {
    const bool isIn = r < count;
    const float given =
        isIn ? static_cast<const float *>(p.lse)[firstRow + r] : hidden<float>();
    lse[r] = given == hidden<float>() ? INFINITY : given * kOfScores<T>;
    means[r] = isIn ? p.means[firstRow + r] : 0.0f;
  }
}

/// dk and dv of kRows keys.
template <typename T, int kD, bool kIsPlain>
__global__ void __launch_bounds__(kThreads, 2)
    keysKernel(const __grid_constant__ BwdParams p) {
  constexpr int kQueries = kOthers<T, kD>, kN = kQueries / 8;
  constexpr int kTileBytes = kQueries * SharedRows<T, kD>::kPitch,
                kKeyBytes = kRows * SharedRows<T, kD>::kPitch;
  extern __shared__ __align__(128) char memory[];
  __shared__ float lse[2][kQueries], means[2][kQueries];
  const AttentionExtents &e = p.e;
  const int queriesOfAll = int(e.queries), size = int(e.size),
            sizeOfValues = int(e.sizeOfValues);
  const int64_t head = blockIdx.x % (e.headsOfKeys * e.batches);
  const int first = int(int64_t(blockIdx.x) / (e.headsOfKeys * e.batches)) * kRows;
  const int b = int(head / e.headsOfKeys), kv = int(head % e.headsOfKeys);
  const int count = min(int(e.keys) - first, kRows);
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int group = int(e.group());

  const SharedRows<T, kD> k(memory), v(memory + kKeyBytes);
  k.template fetch<kThreads, kRows>(p.k, b, first, kv, count, size);
  v.template fetch<kThreads, kRows>(p.v, b, first, kv, count, sizeOfValues);
  commitFetches();
  WarpTile<kD / 8> dk, dv;
  clear<kD / 8>(dk);
  clear<kD / 8>(dv);
  const int begin = int(e.firstQuery(first)) / kQueries * kQueries,
            end = int(e.endQuery(first + count - 1));
  const int tiles = begin < end ? (end - begin + kQueries - 1) / kQueries : 0;
  auto fetch = [&](int tile, int buffer) {
    const int h = kv * group + tile / tiles, i = begin + tile % tiles * kQueries;
    char *start = memory + 2 * kKeyBytes + buffer * 2 * kTileBytes;
    const int there = min(queriesOfAll - i, kQueries);
    SharedRows<T, kD>(start).template fetch<kThreads, kQueries>(p.q, b, i, h, there, size);
    SharedRows<T, kD>(start + kTileBytes)
        .template fetch<kThreads, kQueries>(p.dy, b, i, h, there, sizeOfValues);
    commitFetches();
    fetchRows<T>(p, e.rowAt(b, h, i), there, kQueries, lse[buffer], means[buffer]);
  };
  // The window of this thread's keys.
  int firstQuery[2], endQuery[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int j = first + warp * 16 + lane / 4 + 8 * half;
    firstQuery[half] = j < e.keys ? int(e.firstQuery(j)) : 0;
    endQuery[half] = j < e.keys ? int(e.endQuery(j)) : 0;
  }
  const int total = tiles * group;
  if (total > 0)
    fetch(0, 0);
  for (int tile = 0, buffer = 0; tile < total; ++tile, buffer ^= 1) {
    if (tile + 1 < total) {
      fetch(tile + 1, buffer ^ 1);
      waitForFetches<1>();
    } else {
      waitForFetches<0>();
    }
    __syncthreads();
    const int h = kv * group + tile / tiles, i = begin + tile % tiles * kQueries;
    const SharedRows<T, kD> q(memory + 2 * kKeyBytes + buffer * 2 * kTileBytes);
    const SharedRows<T, kD> dy(memory + 2 * kKeyBytes + buffer * 2 * kTileBytes +
                               kTileBytes);
    WarpTile<kN> weights, slopes;
    multiplyBoth<T, kD, kN>(k, q, weights, v, dy, slopes);
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int column = 8 * n + lane % 4 * 2 + c % 2, at = i + column;
        const bool isSeen = at >= firstQuery[c / 2] && at < endQuery[c / 2];
        makeWeight<T, kIsPlain>(p, b, h, at, first + warp * 16 + lane / 4 + c / 2 * 8,
                                isSeen, lse[buffer][column], means[buffer][column],
                                weights[n][c], slopes[n][c]);
      }
    addRows<T, kD, kN>(weights, dy, dv);
    addRows<T, kD, kN>(slopes, q, dk);
    __syncthreads(); // the buffer is free
  }
  waitForFetches<0>();
  const int start = first + warp * 16, left = int(e.keys) - start;
  const float scale = float(e.scale);
  storeRows<T, kD / 8>(dk, scale, scale, p.dk.row<T>(b, start, kv), p.dk.strides.row, left,
                       size);
  storeRows<T, kD / 8>(dv, 1, 1, p.dv.row<T>(b, start, kv), p.dv.strides.row, left,
                       sizeOfValues);
}

/// dq of kRows queries.
template <typename T, int kD, bool kIsPlain>
__global__ void __launch_bounds__(kThreads, 2)
    queriesKernel(const __grid_constant__ BwdParams p) {
  constexpr int kKeys = kOthers<T, kD>, kN = kKeys / 8;
  constexpr int kTileBytes = kKeys * SharedRows<T, kD>::kPitch,
                kQueryBytes = kRows * SharedRows<T, kD>::kPitch;
  extern __shared__ __align__(128) char memory[];
  const AttentionExtents &e = p.e;
  const int keys = int(e.keys), size = int(e.size), sizeOfValues = int(e.sizeOfValues);
  const int64_t head = blockIdx.x % (e.heads * e.batches);
  const int first =
      int(p.tiles - 1 - int64_t(blockIdx.x) / (e.heads * e.batches)) * kRows;
  const int b = int(head / e.heads), h = int(head % e.heads), kv = int(h / e.group());
  const int count = min(int(e.queries) - first, kRows);
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;

  const SharedRows<T, kD> q(memory), dy(memory + kQueryBytes);
  q.template fetch<kThreads, kRows>(p.q, b, first, h, count, size);
  dy.template fetch<kThreads, kRows>(p.dy, b, first, h, count, sizeOfValues);
  commitFetches();
  WarpTile<kD / 8> dq;
  clear<kD / 8>(dq);
  float lse[2], means[2];
  int firstKey[2], endKey[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int i = first + warp * 16 + lane / 4 + 8 * half;
    const bool isIn = i < e.queries;
    const float given = isIn ? static_cast<const float *>(p.lse)[e.rowAt(b, h, i)]
                             : hidden<float>();
    lse[half] = given == hidden<float>() ? INFINITY : given * kOfScores<T>;
    means[half] = isIn ? p.means[e.rowAt(b, h, i)] : 0.0f;
    firstKey[half] = isIn ? int(e.firstKey(i)) : 0;
    endKey[half] = isIn ? int(e.endKey(i)) : 0;
  }
  const int begin = int(e.firstKey(first)) / kKeys * kKeys,
            end = int(e.endKey(first + count - 1));
  auto fetch = [&](int j, int buffer) {
    char *start = memory + 2 * kQueryBytes + buffer * 2 * kTileBytes;
    const int there = min(keys - j, kKeys);
    SharedRows<T, kD>(start).template fetch<kThreads, kKeys>(p.k, b, j, kv, there, size);
    SharedRows<T, kD>(start + kTileBytes)
        .template fetch<kThreads, kKeys>(p.v, b, j, kv, there, sizeOfValues);
    commitFetches();
  };
  if (begin < end)
    fetch(begin, 0);
  for (int j = begin, buffer = 0; j < end; j += kKeys, buffer ^= 1) {
    if (j + kKeys < end) {
      fetch(j + kKeys, buffer ^ 1);
      waitForFetches<1>();
    } else {
      waitForFetches<0>();
    }
    __syncthreads();
    const SharedRows<T, kD> k(memory + 2 * kQueryBytes + buffer * 2 * kTileBytes);
    const SharedRows<T, kD> v(memory + 2 * kQueryBytes + buffer * 2 * kTileBytes +
                              kTileBytes);
    WarpTile<kN> weights, slopes;
    multiplyBoth<T, kD, kN>(q, k, weights, dy, v, slopes);
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int key = j + 8 * n + lane % 4 * 2 + c % 2;
        const bool isSeen = key >= firstKey[c / 2] && key < endKey[c / 2];
        makeWeight<T, kIsPlain>(p, b, h, first + warp * 16 + lane / 4 + c / 2 * 8, key,
                                isSeen, lse[c / 2], means[c / 2], weights[n][c],
                                slopes[n][c]);
      }
    addRows<T, kD, kN>(slopes, k, dq);
    __syncthreads(); // the buffer is free
  }
  waitForFetches<0>();
  const int start = first + warp * 16;
  const float scale = float(e.scale);
  storeRows<T, kD / 8>(dq, scale, scale, p.dq.row<T>(b, start, h), p.dq.strides.row,
                       int(e.queries) - start, size);
}

/// Shared memory of a block of keys, or of queries.
template <typename T, int kD>
constexpr uint32_t kBytes = (2 * kRows + 4 * kOthers<T, kD>)*SharedRows<T, kD>::kPitch;

template <typename T, int kD> LaunchPlan launchesOf(BwdParams p) {
  constexpr int kLanes = SharedRows<T, kD>::kPieces;
  constexpr uint32_t bytes = kBytes<T, kD>;
  const bool plain = isPlain(p);
  const auto parts = [](int64_t n, int64_t size) { return (n + size - 1) / size; };
  const PlannedLaunch means =
      plan(meansKernel<T, kLanes>,
           parts(p.e.batches * p.e.heads * p.e.queries * kLanes, kThreads), kThreads, p);
  p.tiles = parts(p.e.keys, kRows);
  const PlannedLaunch keys =
      plan(plain ? keysKernel<T, kD, true> : keysKernel<T, kD, false>,
           p.tiles * p.e.headsOfKeys * p.e.batches, kThreads, p, bytes);
  p.tiles = parts(p.e.queries, kRows);
  const PlannedLaunch queries =
      plan(plain ? queriesKernel<T, kD, true> : queriesKernel<T, kD, false>,
           p.tiles * p.e.heads * p.e.batches, kThreads, p, bytes);
  return {means, keys, queries};
}

/// The kernels for all types, which compute D where they need it.
LaunchPlan withoutWorkspace(AttentionBwdArgs call, const DeviceLimits &limits) {
  const DType type = call.q().desc.dtype;
  return type == DType::F32    ? attention_bwd_f32_v0(*call.operator->(), limits)
         : type == DType::BF16 ? attention_bwd_bf16_v0(*call.operator->(), limits)
                               : attention_bwd_f16_v0(*call.operator->(), limits);
}

/// The kernels for all types run where there is no room for D, and on cards that have too
/// little shared memory: 99 KiB are for f32 up to heads of 32.
template <typename T>
LaunchPlan attentionBwdByMma(AttentionBwdArgs call, const DeviceLimits &limits) {
  const TensorView &workspace = call->workspace;
  const int64_t size = std::max(call.q().desc.width(), call.v().desc.width());
  const uint32_t bytes = size <= 32 && sizeof(T) == 4 ? kBytes<T, 32>
                         : size <= 64                 ? kBytes<T, 64>
                                                      : kBytes<T, 128>;
  if (!workspace.start() ||
      workspace.desc.spanBytes() < 4 * uint64_t(call.lse().elements()) ||
      bytes > limits.sharedBytesOfBlock)
    return withoutWorkspace(call, limits);
  BwdParams p(call);
  p.dy = call.dy(), p.dq = call.dq(), p.dk = call.dk(), p.dv = call.dv();
  p.means = workspace.dense<float>();
  if constexpr (std::is_same_v<T, float>)
    if (size <= 32)
      return launchesOf<T, 32>(p);
  return size <= 64 ? launchesOf<T, 64>(p) : launchesOf<T, 128>(p);
}

} // namespace

#define AICF_KERNELS_OF_attention_mma_bwd_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
