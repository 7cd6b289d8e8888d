//===- Cuda.cu - elements and rows that integers choose, on CUDA ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "kernels/lookup/Family.h"
#include "lib/Base/Indices.h"

namespace aicf::cuda {
namespace {

using families::kMostTables;

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

/// The tables of one launch, each with blocks of its own.
template <typename Table, int N> struct Tables {
  int32_t count = 0;
  uint32_t firstBlock[N + 1] = {};
  Table each[N] = {};

  void add(const Table &table, int64_t blocks) {
    each[count++] = table;
    firstBlock[count] = firstBlock[count - 1] + uint32_t(blocks);
  }
  int64_t blocks() const { return firstBlock[count]; }
};
/// What this block does of its table's work.
template <typename Table> struct Share {
  const Table &table;
  int64_t block, blocks;
};
template <typename Table, int N>
__device__ Share<Table> shareOf(const Tables<Table, N> &q) {
  const int t = N == 1 ? 0 : partOfBlock(q.firstBlock, q.count);
  return {q.each[t], int64_t(blockIdx.x) - q.firstBlock[t],
          int64_t(q.firstBlock[t + 1]) - q.firstBlock[t]};
}

/// Vectors that a thread has on their way at once.
constexpr int kLookups = 4;

struct EmbeddingParams {
  const void *table;
  StridedIndices index;
  void *y;
  Walk yRows;
  int64_t count; ///< vectors of y
  int64_t rows;  ///< of the table
  int64_t width; ///< vectors of a row
};

template <typename T, int V, int N>
__global__ void
embeddingKernel(const __grid_constant__ Tables<EmbeddingParams, N> q) {
  const Share<EmbeddingParams> share = shareOf(q);
  const EmbeddingParams &p = share.table;
  // A division of 64 bits takes longer than the rest.
  const bool isShort = p.count <= INT32_MAX;
  for (int64_t first = share.block * kLookups * kBlock + threadIdx.x;
       first < p.count; first += share.blocks * kLookups * kBlock) {
    int64_t at[kLookups], row[kLookups];
#pragma unroll
    for (int u = 0; u < kLookups; ++u) {
      const int64_t i = first + u * kBlock;
      at[u] = isShort ? uint32_t(i) / uint32_t(p.width) : i / p.width;
      row[u] = i < p.count ? p.index[at[u]] : 0;
    }
    Vec<T, V> v[kLookups];
#pragma unroll
    for (int u = 0; u < kLookups; ++u) {
      const int64_t column = first + u * kBlock - at[u] * p.width;
      const bool isRow = row[u] >= 0 && row[u] < p.rows;
      v[u] = loadVec<T, V>(static_cast<const T *>(p.table),
                           (isRow ? row[u] : 0) * p.width + column);
      for (int k = 0; k < V && !isRow; ++k)
        v[u].at[k] = notANumber<T>();
    }
#pragma unroll
    for (int u = 0; u < kLookups; ++u)
      if (const int64_t i = first + u * kBlock; i < p.count)
        storeVec<T, V>(static_cast<T *>(p.y) + p.yRows.at(at[u]),
                       i - at[u] * p.width, v[u]);
  }
}

template <typename T>
LaunchPlan pick(PickArgs call, const DeviceLimits &limits) {
  LookupParams p{call.x().dense(),
                 Indices(call.index()),
                 call.y().dense(),
                 call.y().elements(),
                 0,
                 call.x().desc.width()};
  return {plan(pickKernel<T>, gridFor(p.count, limits), kBlock, p)};
}

template <typename T>
LaunchPlan pickBwd(PickBwdArgs call, const DeviceLimits &limits) {
  LookupParams p{call.dy().dense(),
                 Indices(call.index()),
                 call.dx().dense(),
                 call.dx().elements(),
                 0,
                 call.attrs().size};
  return {plan(pickBwdKernel<T>, gridFor(p.count, limits), kBlock, p)};
}

/// 16 bytes of T where all rows are made of them and lie so, those of `rows`
/// too, else 1 element.
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

template <typename T> int vectorOf(const EmbeddingArgs &call) {
  return vectorFor<T>(call.table().desc.dims[1],
                      {call.table().dense(), call.y().start()},
                      rowsOf(call.y().desc));
}

/// `v`: elements of a vector.
EmbeddingParams paramsOf(const EmbeddingArgs &call, int v) {
  return {call.table().dense(),
          StridedIndices(call.index()),
          call.y().start(),
          rowsOf(call.y().desc),
          call.y().elements() / v,
          call.table().desc.dims[0],
          call.table().desc.dims[1] / v};
}

template <typename T, int N>
LaunchPlan planLookups(Span<const EmbeddingArgs> calls,
                       const DeviceLimits &limits) {
  static_assert(sizeof(Tables<EmbeddingParams, N>) < 32764,
                "CUDA's limit for parameters");
  constexpr int kWidth = 16 / sizeof(T);
  int v = kWidth;
  for (const EmbeddingArgs &call : calls)
    v = std::min(v, vectorOf<T>(call));
  Tables<EmbeddingParams, N> tables;
  for (const EmbeddingArgs &call : calls) {
    const EmbeddingParams p = paramsOf(call, v);
    tables.add(p, gridFor((p.count + kLookups - 1) / kLookups, limits));
  }
  auto kernel =
      v == 1 ? embeddingKernel<T, 1, N> : embeddingKernel<T, kWidth, N>;
  return {plan(kernel, tables.blocks(), kBlock, tables)};
}

template <typename T>
LaunchPlan embedding(EmbeddingArgs call, const DeviceLimits &limits) {
  return planLookups<T, 1>({&call, 1}, limits);
}

template <typename T>
LaunchPlan embeddings(EmbeddingsArgs call, const DeviceLimits &limits) {
  std::vector<EmbeddingArgs> calls;
  for (size_t i = 0; i < call.numGroups(); ++i)
    calls.push_back(call.lookup(i));
  return planLookups<T, kMostTables>({calls.data(), calls.size()}, limits);
}

/// The indices are dense: each block looks at all of them.
struct EmbeddingBwdParams {
  const void *dy;
  Walk dyRows;
  Indices index;
  void *dtable;
  int32_t *list; ///< the workspace: room for the positions of all rows of dy,
                 ///< or null
  int64_t count; ///< rows of dy
  int64_t rows;  ///< of the table
  int64_t width; ///< vectors of a row
  int64_t padding, rowsPerBlock;
};

/// Positions that a thread looks at in one step; neighbours, so that the order
/// of threads is that of positions.
constexpr int kPositions = 8;

/// Blocks that a multiprocessor runs at once.
constexpr int kBwdBlocks = 4;

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

/// Calls put(n, position, row) for the n-th position whose row of the table is
/// in [low, high), in order. Returns their number.
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

/// Positions that a block lists in shared memory. Where it finds more, it lists
/// them in the workspace, behind those of the blocks before; without one it
/// looks at all positions for each row.
constexpr int kListed = 1024;

struct ListedRows {
  int32_t positions[kListed],
      rows[kListed]; ///< rows: from the block's first one
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

__device__ inline Candidates candidates(const EmbeddingBwdParams &p,
                                        int64_t low, int64_t high,
                                        ListedRows &shared) {
  __shared__ int scratch[kBlock / 32];
  if (p.count > INT32_MAX) // positions have no more bits in a list
    return {nullptr, nullptr, p.count};
  int64_t found = listRows(p, low, high, scratch,
                           [&](int64_t at, int32_t position, int64_t row) {
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

/// Adds the rows of dy whose index is `row`, in their order, from candidate
/// `first` on: the lanes look at 32 candidates and add those that match, each
/// for its vector.
template <typename T, int V>
__device__ inline Vec<T, V>
sumOfRows(const EmbeddingBwdParams &p, const Candidates &all, int64_t first,
          int64_t low, int64_t row, int64_t column) {
  using C = Compute<T>;
  // Loads of so many rows are on their way at once.
  constexpr int kAtOnce = V > 4 ? 2 : 4;
  const T *dy = static_cast<const T *>(p.dy);
  C sums[V] = {};
  for (int64_t k = first; k < all.count && row != p.padding; k += 32) {
    const int64_t mine = k + threadIdx.x % 32;
    const bool matches = mine < all.count && all.row(p, low, mine) == row;
    unsigned left = __ballot_sync(0xffffffffu, matches);
    const int64_t position = left && matches ? all.position(mine) : 0;
    while (left) {
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
  Vec<T, V> sum;
#pragma unroll
  for (int n = 0; n < V; ++n)
    sum.at[n] = narrow<T>(sums[n]);
  return sum;
}

template <typename T, int V>
__device__ inline void zeroRows(const EmbeddingBwdParams &p, int64_t low,
                                int64_t high) {
  T *rows = static_cast<T *>(p.dtable) + low * p.width * V;
  Vec<T, V> zeros;
#pragma unroll
  for (int n = 0; n < V; ++n)
    zeros.at[n] = narrow<T>(Compute<T>(0));
  for (int64_t i = threadIdx.x; i < (high - low) * p.width; i += kBlock)
    storeVec<T, V>(rows, i, zeros);
}

/// Makes the rows of the listed candidates; all others are zeros. A warp makes
/// 32 vectors of a row at a time: at the first candidate of the row.
template <typename T, int V>
__device__ inline void makeListedRows(const EmbeddingBwdParams &p,
                                      const Candidates &all, int64_t low) {
  T *table = static_cast<T *>(p.dtable) + low * p.width * V;
  const int lane = threadIdx.x % 32;
  const int64_t parts = (p.width + 31) / 32;
  for (int64_t item = threadIdx.x / 32; item < all.count * parts;
       item += kBlock / 32) {
    const int64_t candidate = item / parts;
    const int row = all.shared->rows[candidate];
    bool isLater = low + row == p.padding;
    for (int k = 0; k < candidate && !isLater; k += 32)
      isLater = __any_sync(0xffffffffu, k + lane < candidate &&
                                            all.shared->rows[k + lane] == row);
    if (isLater)
      continue;
    const int64_t column = item % parts * 32 + lane;
    const auto sum = sumOfRows<T, V>(p, all, candidate, low, low + row, column);
    if (column < p.width)
      storeVec<T, V>(table, row * p.width + column, sum);
  }
}

/// The same where candidates are many: each row looks at all of them.
template <typename T, int V>
__device__ inline void makeEachRow(const EmbeddingBwdParams &p,
                                   const Candidates &all, int64_t low,
                                   int64_t high) {
  const int64_t parts = (p.width + 31) / 32;
  int64_t row = low, part = threadIdx.x / 32;
  for (;; part += kBlock / 32) {
    for (; part >= parts && row < high; ++row)
      part -= parts;
    if (row >= high)
      break;
    const int64_t column = part * 32 + threadIdx.x % 32;
    const auto sum = sumOfRows<T, V>(p, all, 0, low, row, column);
    if (column < p.width)
      storeVec<T, V>(static_cast<T *>(p.dtable), row * p.width + column, sum);
  }
}

/// A block makes some rows of the table. Each row is a sum over the positions
/// that have its index, in their order.
template <typename T, int V, int N>
__global__ void __launch_bounds__(kBlock, kBwdBlocks) embeddingBwdKernel(
    const __grid_constant__ Tables<EmbeddingBwdParams, N> q) {
  __shared__ ListedRows shared;
  const Share<EmbeddingBwdParams> share = shareOf(q);
  const EmbeddingBwdParams &p = share.table;
  const int64_t low = share.block * p.rowsPerBlock;
  const int64_t high = min(p.rows, low + p.rowsPerBlock);
  // Where most rows get zeros, these are on their way while the positions are
  // looked at.
  const bool areFew = p.count <= p.rows && p.count <= INT32_MAX;
  if (areFew)
    zeroRows<T, V>(p, low, high);
  const Candidates all = candidates(p, low, high, shared);
  if (!all.shared)
    return makeEachRow<T, V>(p, all, low, high);
  if (!areFew)
    zeroRows<T, V>(p, low, high);
  __syncthreads(); // zeros are there before sums
  makeListedRows<T, V>(p, all, low);
}

template <typename T> int vectorOf(const EmbeddingBwdArgs &call) {
  return vectorFor<T>(call.dy().desc.width(),
                      {call.dy().start(), call.dtable().dense()},
                      rowsOf(call.dy().desc));
}

/// `list` has room for `room` positions, or is null. Without room for its own,
/// a table has no list.
EmbeddingBwdParams paramsOf(const EmbeddingBwdArgs &call, int v, int32_t *list,
                            int64_t room) {
  const int64_t count = call.index().elements();
  return {call.dy().start(),
          rowsOf(call.dy().desc),
          Indices(call.index()),
          call.dtable().dense(),
          list && count <= room && count <= INT32_MAX ? list : nullptr,
          count,
          call.attrs().rows,
          call.dy().desc.width() / v,
          call.attrs().padding,
          1};
}

/// Each table gets its share of as many blocks as the card runs at once.
template <typename T, int N>
LaunchPlan planGradients(Span<const EmbeddingBwdArgs> calls,
                         const TensorView &workspace,
                         const DeviceLimits &limits) {
  static_assert(sizeof(Tables<EmbeddingBwdParams, N>) < 32764,
                "CUDA's limit for parameters");
  constexpr int kWidth = 16 / sizeof(T);
  int v = kWidth;
  int64_t allRows = 0;
  for (const EmbeddingBwdArgs &call : calls) {
    v = std::min(v, vectorOf<T>(call));
    allRows += call.attrs().rows;
  }
  int32_t *list = workspace.start() ? workspace.dense<int32_t>() : nullptr;
  int64_t room = list ? int64_t(workspace.desc.spanBytes() / 4) : 0;
  const double blocksPerRow =
      double(limits.numMultiprocessors) * kBwdBlocks / double(allRows);
  Tables<EmbeddingBwdParams, N> tables;
  for (const EmbeddingBwdArgs &call : calls) {
    EmbeddingBwdParams p = paramsOf(call, v, list, room);
    if (p.list) {
      list += p.count;
      room -= p.count;
    }
    const auto share = int64_t(double(p.rows) * blocksPerRow);
    const int64_t blocks = std::clamp<int64_t>(share, 1, p.rows);
    p.rowsPerBlock = (p.rows + blocks - 1) / blocks;
    tables.add(p, (p.rows + p.rowsPerBlock - 1) / p.rowsPerBlock);
  }
  auto kernel =
      v == 1 ? embeddingBwdKernel<T, 1, N> : embeddingBwdKernel<T, kWidth, N>;
  return {plan(kernel, tables.blocks(), kBlock, tables)};
}

template <typename T>
LaunchPlan embeddingBwd(EmbeddingBwdArgs call, const DeviceLimits &limits) {
  return planGradients<T, 1>({&call, 1}, call->workspace, limits);
}

template <typename T>
LaunchPlan embeddingsBwd(EmbeddingsBwdArgs call, const DeviceLimits &limits) {
  std::vector<EmbeddingBwdArgs> calls;
  for (size_t i = 0; i < call.numGroups(); ++i)
    calls.push_back(call.grad(i));
  return planGradients<T, kMostTables>({calls.data(), calls.size()},
                                       call->workspace, limits);
}

} // namespace

#define AICF_KERNELS_OF_lookup_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
