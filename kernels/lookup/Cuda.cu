//===- Cuda.cu - elements and rows that integers choose, on CUDA -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "lib/Base/Indices.h"

namespace aicf::cuda {
namespace {

struct LookupParams {
  const void *from; ///< x, dy or the table
  Indices index;
  void *to;
  int64_t count; ///< vectors of the result
  int64_t rows;  ///< of the table
  int64_t width; ///< vectors of a row
};

template <typename T> __device__ inline T notANumber() {
  return narrow<T>(Compute<T>(nan("")));
}

template <typename T>
__global__ void pickKernel(const __grid_constant__ LookupParams p) {
  gridStride(p.count, [&](int64_t row) {
    int64_t at = p.index[row];
    static_cast<T *>(p.to)[row] =
        at < 0 || at >= p.width
            ? notANumber<T>()
            : static_cast<const T *>(p.from)[row * p.width + at];
  });
}

template <typename T>
__global__ void pickBwdKernel(const __grid_constant__ LookupParams p) {
  gridStride(p.count, [&](int64_t i) {
    int64_t row = i / p.width;
    static_cast<T *>(p.to)[i] = p.index[row] == i - row * p.width
                                    ? static_cast<const T *>(p.from)[row]
                                    : narrow<T>(Compute<T>(0));
  });
}

struct EmbeddingParams {
  const void *table;
  StridedIndices index;
  void *y;
  Walk yRows;
  int64_t count; ///< vectors of y
  int64_t rows;  ///< of the table
  int64_t width; ///< vectors of a row
};

template <typename T, int V>
__global__ void embeddingKernel(const __grid_constant__ EmbeddingParams p) {
  gridStride(p.count, [&](int64_t i) {
    const int64_t at = i / p.width, column = i - at * p.width;
    const int64_t row = p.index[at];
    Vec<T, V> v;
    if (row < 0 || row >= p.rows)
      for (int k = 0; k < V; ++k)
        v.at[k] = notANumber<T>();
    else
      v = loadVec<T, V>(static_cast<const T *>(p.table),
                        row * p.width + column);
    storeVec<T, V>(static_cast<T *>(p.y) + p.yRows.at(at), column, v);
  });
}

template <typename T>
LaunchPlan pick(PickArgs call, const DeviceLimits &limits) {
  LookupParams p{call.x().dense(),        Indices(call.index()),
                 call.y().dense(),        call.y().elements(),
                 0, call.x().desc.width()};
  return {plan(pickKernel<T>, gridFor(p.count, limits), kBlock, p)};
}

template <typename T>
LaunchPlan pickBwd(PickBwdArgs call, const DeviceLimits &limits) {
  LookupParams p{call.dy().dense(),  Indices(call.index()),
                 call.dx().dense(),  call.dx().elements(),
                 0, call.attrs().size};
  return {plan(pickBwdKernel<T>, gridFor(p.count, limits), kBlock, p)};
}

/// 16 bytes of T where all rows are made of them and lie so, those of `rows` too,
/// else 1 element.
template <typename T>
int vectorFor(int64_t width, std::initializer_list<const void *> pointers,
              const Walk &rows) {
  constexpr int kWidth = 16 / sizeof(T);
  bool fits = width % kWidth == 0;
  for (const void *at : pointers)
    fits &= reinterpret_cast<uintptr_t>(at) % 16 == 0;
  for (int d = 0; d < rows.rank; ++d)
    fits &= rows.dims[d] == 1 || rows.strides[d] % kWidth == 0;
  return fits ? kWidth : 1;
}

template <typename T>
LaunchPlan embedding(EmbeddingArgs call, const DeviceLimits &limits) {
  constexpr int kWidth = 16 / sizeof(T);
  int64_t width = call.table().desc.dims[1];
  const Walk yRows = rowsOf(call.y().desc);
  int v = vectorFor<T>(width, {call.table().dense(), call.y().start()}, yRows);
  EmbeddingParams p{call.table().dense(),
                    StridedIndices(call.index()),
                    call.y().start(),
                    yRows,
                    call.y().elements() / v,
                    call.table().desc.dims[0],
                    width / v};
  auto kernel = v == 1 ? embeddingKernel<T, 1> : embeddingKernel<T, kWidth>;
  return {plan(kernel, gridFor(p.count, limits), kBlock, p)};
}

/// The indices are dense: each block looks at all of them.
struct EmbeddingBwdParams {
  const void *dy;
  Walk dyRows;
  Indices index;
  void *dtable;
  int32_t *list; ///< the workspace: room for the positions of all rows of dy, or null
  int64_t count; ///< rows of dy
  int64_t rows;  ///< of the table
  int64_t width; ///< vectors of a row
  int64_t padding, rowsPerBlock;
};

/// Positions that a thread looks at in one step; neighbours, so that the order of
/// threads is that of positions.
constexpr int kPositions = 8;

/// Blocks that a multiprocessor runs at once.
constexpr int kBwdBlocks = 4;

/// Rows of dy that a thread loads before it adds them.
constexpr int kAtOnce = 4;

/// The sum of x over the threads of a block before this one; `total` is of all.
__device__ inline int sumBefore(int x, int *scratch, int &total) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = x;
  for (int offset = 1; offset < 32; offset *= 2) {
    int other = __shfl_up_sync(0xffffffffu, sum, offset);
    sum += lane >= offset ? other : 0;
  }
  __syncthreads(); // the last use of scratch is over
  if (lane == 31)
    scratch[warp] = sum;
  __syncthreads();
  int before = 0;
  total = 0;
  for (int w = 0; w < kBlock / 32; ++w) {
    before += w < warp ? scratch[w] : 0;
    total += scratch[w];
  }
  return before + sum - x;
}

/// Calls put(n, position, row) for the n-th position whose row of the table is in
/// [low, high), in order. Returns their number.
template <typename Put>
__device__ inline int64_t listRows(const EmbeddingBwdParams &p, int64_t low,
                                   int64_t high, int *scratch, Put put) {
  int64_t found = 0;
  for (int64_t base = 0; base < p.count; base += kBlock * kPositions) {
    const int64_t first = base + threadIdx.x * kPositions;
    int64_t rows[kPositions];
    int mine = 0;
#pragma unroll
    for (int k = 0; k < kPositions; ++k) {
      rows[k] = first + k < p.count ? p.index[first + k] : -1;
      mine += rows[k] >= low && rows[k] < high;
    }
    if (!__syncthreads_or(mine))
      continue;
    int total;
    int64_t at = found + sumBefore(mine, scratch, total);
#pragma unroll
    for (int k = 0; k < kPositions; ++k)
      if (rows[k] >= low && rows[k] < high)
        put(at++, int32_t(first + k), rows[k]);
    found += total;
  }
  __syncthreads(); // what other threads have put is read
  return found;
}

/// Positions whose row is before `low`.
__device__ inline int64_t countBelow(const EmbeddingBwdParams &p, int64_t low,
                                     int *scratch) {
  int below = 0, total;
  for (int64_t i = threadIdx.x; i < p.count; i += kBlock)
    below += p.index[i] >= 0 && p.index[i] < low;
  sumBefore(below, scratch, total);
  return total;
}

/// Positions that a block lists in shared memory. Where it finds more, it lists them
/// in the workspace, behind those of the blocks before; without one it looks at all
/// positions for each row.
constexpr int kListed = 1024;

struct ListedRows {
  int32_t positions[kListed], rows[kListed]; ///< rows: from the block's first one
};

/// Where `mine`-th candidate of a block lies in dy, and its row of the table.
struct Candidates {
  const ListedRows *shared; ///< or null
  const int32_t *list;      ///< or null: every position is one
  int64_t count;

  __device__ int64_t position(int64_t mine) const {
    return shared ? shared->positions[mine] : list ? list[mine] : mine;
  }
  __device__ int64_t row(const EmbeddingBwdParams &p, int64_t low,
                         int64_t mine) const {
    return shared ? low + shared->rows[mine] : p.index[position(mine)];
  }
};

__device__ inline Candidates candidates(const EmbeddingBwdParams &p, int64_t low,
                                        int64_t high, ListedRows &shared) {
  __shared__ int scratch[kBlock / 32];
  if (p.count > INT32_MAX) // positions have no more bits in a list
    return {nullptr, nullptr, p.count};
  int64_t found = listRows(
      p, low, high, scratch, [&](int64_t at, int32_t position, int64_t row) {
        if (at < kListed) {
          shared.positions[at] = position;
          shared.rows[at] = int32_t(row - low);
        }
      });
  if (found <= kListed)
    return {&shared, nullptr, found};
  if (!p.list)
    return {nullptr, nullptr, p.count};
  int32_t *list = p.list + countBelow(p, low, scratch);
  listRows(p, low, high, scratch,
           [&](int64_t at, int32_t position, int64_t) { list[at] = position; });
  return {nullptr, list, found};
}

/// A block makes some rows of the table, a warp 32 vectors of one at a time. Each row
/// is a sum over the positions that have its index, in their order: the lanes look at
/// 32 candidates and add those that match, each for its vector.
template <typename T, int V>
__global__ void __launch_bounds__(kBlock, kBwdBlocks)
    embeddingBwdKernel(const __grid_constant__ EmbeddingBwdParams p) {
  using C = Compute<T>;
  __shared__ ListedRows shared;
  const int64_t low = int64_t(blockIdx.x) * p.rowsPerBlock;
  const int64_t high = min(p.rows, low + p.rowsPerBlock);
  const Candidates all = candidates(p, low, high, shared);
  const T *dy = static_cast<const T *>(p.dy);
  const int lane = threadIdx.x % 32;
  const int64_t parts = (p.width + 31) / 32;
  int64_t row = low, part = threadIdx.x / 32;
  for (;; part += kBlock / 32) {
    for (; part >= parts && row < high; ++row)
      part -= parts;
    if (row >= high)
      break;
    const int64_t column = part * 32 + lane;
    C sums[V] = {};
    for (int64_t k = 0; k < all.count && row != p.padding; k += 32) {
      const int64_t mine = k + lane;
      const bool matches = mine < all.count && all.row(p, low, mine) == row;
      unsigned left = __ballot_sync(0xffffffffu, matches);
      if (!left)
        continue;
      const int64_t position = matches ? all.position(mine) : 0;
      while (left) {
        // Loads of several are on their way at once; they are added in order.
        Vec<T, V> v[kAtOnce];
        bool isThere[kAtOnce];
#pragma unroll
        for (int u = 0; u < kAtOnce; ++u) {
          int64_t from = __shfl_sync(0xffffffffu, position, __ffs(left) - 1);
          isThere[u] = left != 0 && column < p.width;
          left &= left - 1;
          if (isThere[u])
            v[u] = loadVec<T, V>(dy + p.dyRows.at(from), column);
        }
#pragma unroll
        for (int u = 0; u < kAtOnce; ++u)
#pragma unroll
          for (int n = 0; n < V; ++n)
            if (isThere[u])
              sums[n] += C(widen(v[u].at[n]));
      }
    }
    if (column >= p.width)
      continue;
    Vec<T, V> sum;
#pragma unroll
    for (int n = 0; n < V; ++n)
      sum.at[n] = narrow<T>(sums[n]);
    storeVec<T, V>(static_cast<T *>(p.dtable), row * p.width + column, sum);
  }
}

template <typename T>
LaunchPlan embeddingBwd(EmbeddingBwdArgs call, const DeviceLimits &limits) {
  constexpr int kWidth = 16 / sizeof(T);
  int64_t width = call.dy().desc.width(), count = call.index().elements();
  const Walk dyRows = rowsOf(call.dy().desc);
  int v =
      vectorFor<T>(width, {call.dy().start(), call.dtable().dense()}, dyRows);
  const TensorView &workspace = call->workspace;
  bool hasRoom = workspace.start() && count <= INT32_MAX &&
                 int64_t(workspace.desc.spanBytes() / 4) >= count;
  EmbeddingBwdParams p{call.dy().start(),
                       dyRows,
                       Indices(call.index()),
                       call.dtable().dense(),
                       hasRoom ? workspace.dense<int32_t>() : nullptr,
                       count,
                       call.attrs().rows,
                       width / v,
                       call.attrs().padding,
                       1};
  int64_t blocks =
      std::min(p.rows, int64_t(limits.numMultiprocessors) * kBwdBlocks);
  p.rowsPerBlock = (p.rows + blocks - 1) / blocks;
  blocks = (p.rows + p.rowsPerBlock - 1) / p.rowsPerBlock;
  auto kernel =
      v == 1 ? embeddingBwdKernel<T, 1> : embeddingBwdKernel<T, kWidth>;
  return {plan(kernel, blocks, kBlock, p)};
}

} // namespace

#define AICF_KERNELS_OF_lookup_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
