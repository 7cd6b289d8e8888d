//===- CopyView.cuh - dense copies of views on CUDA -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Two ways. Where elements lie behind each other in both tensors, a thread
// moves as many as 16 bytes hold. Where another dimension of the view does,
// tiles of both dimensions go through shared memory, so that reads and writes
// are whole sectors (Ruetsch and Micikevicius, "Optimizing Matrix Transpose in
// CUDA", 2009). Element types do not matter, their size does.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_POINTWISE_COPYVIEW_CUH
#define AICF_KERNELS_POINTWISE_COPYVIEW_CUH

#include "kernels/cuda/Common.cuh"
#include "kernels/pointwise/CopyView.h"
#include "lib/Base/FastDivisor.h"

namespace aicf::cuda {

/// The loops of a view, the innermost one first.
struct ViewLoops {
  int32_t rank = 0;
  FastDivisor dims[kMaxRank];
  int64_t strides[kMaxRank] = {}; ///< elements of x

  void add(int64_t dim, int64_t stride) {
    dims[rank] = FastDivisor(dim);
    strides[rank++] = stride;
  }
  /// Where element `i` of x lies, in row-major order.
  __device__ int64_t at(uint32_t i) const {
    int64_t offset = 0;
#pragma unroll
    for (int d = 0; d < kMaxRank - 1; ++d) {
      if (d >= rank - 1)
        break;
      uint32_t rest = dims[d].quotient(i);
      offset += int64_t(i - rest * dims[d].divisor) * strides[d];
      i = rest;
    }
    return rank ? offset + int64_t(i) * strides[rank - 1] : 0;
  }
};

struct CopyItemsParams {
  const void *x;
  void *y;
  int64_t items;
  ViewLoops loops; ///< items of x
  Walk walk;       ///< the same, for 2^31 items and more
};

/// An item is one element, or as many of a row as a vector holds. A thread
/// moves N of them at once.
template <typename Item, int N>
__global__ void copyItemsKernel(const __grid_constant__ CopyItemsParams p) {
  gridStride(p.items / N, [&](int64_t i) {
    Vec<Item, N> v;
#pragma unroll
    for (int k = 0; k < N; ++k)
      v.at[k] =
          static_cast<const Item *>(p.x)[p.loops.at(uint32_t(i) * N + k)];
    storeVec<Item, N>(static_cast<Item *>(p.y), i, v);
  });
}
template <typename Item>
__global__ void copyManyItemsKernel(const __grid_constant__ CopyItemsParams p) {
  gridStride(p.items, [&](int64_t i) {
    static_cast<Item *>(p.y)[i] =
        static_cast<const Item *>(p.x)[p.walk.at(uint64_t(i))];
  });
}

struct CopyTilesParams {
  const void *x;
  void *y;
  int64_t numTiles;
  uint32_t across, down;        ///< extents: x goes across, y goes down
  FastDivisor tilesAcross, tilesDown;
  int64_t xDown, yAcross;       ///< strides, elements
  ViewLoops xOuter, yOuter;     ///< of the other dimensions
};

/// Each block moves tiles of Across x Down elements. Consecutive elements of x
/// lie across, those of y down. A thread moves V of them at once.
template <typename T, int V, int Across, int Down>
__global__ void __launch_bounds__(kBlock)
    copyTilesKernel(const __grid_constant__ CopyTilesParams p) {
  // Rows of an odd number of banks.
  constexpr int kPitch = Across + (sizeof(T) < 4 ? 4 / int(sizeof(T)) : 1);
  __shared__ T tile[Down * kPitch];
  constexpr int kReads = Across / V * Down, kWrites = Down / V * Across;
  static_assert(kReads % kBlock == 0 && kWrites % kBlock == 0);
  for (int64_t t = blockIdx.x; t < p.numTiles; t += gridDim.x) {
    uint32_t rest = p.tilesAcross.quotient(uint32_t(t));
    uint32_t across = (uint32_t(t) - rest * p.tilesAcross.divisor) * Across;
    uint32_t outer = p.tilesDown.quotient(rest);
    uint32_t down = (rest - outer * p.tilesDown.divisor) * Down;
    const T *x = static_cast<const T *>(p.x) + p.xOuter.at(outer) + across +
                 int64_t(down) * p.xDown;
    T *y = static_cast<T *>(p.y) + p.yOuter.at(outer) + down +
           int64_t(across) * p.yAcross;
    uint32_t numAcross = min(p.across - across, uint32_t(Across)),
             numDown = min(p.down - down, uint32_t(Down));
    Vec<T, V> read[kReads / kBlock]; // all are under way before one is waited for
#pragma unroll
    for (int r = 0; r < kReads / kBlock; ++r) {
      int i = r * kBlock + int(threadIdx.x), a = i % (Across / V) * V,
          d = i / (Across / V);
      if (a < numAcross && d < numDown)
        read[r] = loadVec<T, V>(x + int64_t(d) * p.xDown + a, 0);
    }
#pragma unroll
    for (int r = 0; r < kReads / kBlock; ++r) {
      int i = r * kBlock + int(threadIdx.x), a = i % (Across / V) * V,
          d = i / (Across / V);
#pragma unroll
      for (int k = 0; k < V; ++k)
        tile[d * kPitch + a + k] = read[r].at[k];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kWrites / kBlock; ++r) {
      int i = r * kBlock + int(threadIdx.x), d = i % (Down / V) * V,
          a = i / (Down / V);
      Vec<T, V> v;
#pragma unroll
      for (int k = 0; k < V; ++k)
        v.at[k] = tile[(d + k) * kPitch + a];
      if (a < numAcross && d < numDown)
        storeVec<T, V>(y + int64_t(a) * p.yAcross + d, 0, v);
    }
    __syncthreads();
  }
}

template <typename T, int V, int Across, int Down>
PlannedLaunch planTiles(CopyTilesParams &p, int64_t outer,
                        const DeviceLimits &limits) {
  int64_t tilesAcross = (p.across + Across - 1) / Across,
          tilesDown = (p.down + Down - 1) / Down;
  p.tilesAcross = FastDivisor(tilesAcross);
  p.tilesDown = FastDivisor(tilesDown);
  p.numTiles = tilesAcross * tilesDown * outer;
  int64_t grid = std::min<int64_t>(p.numTiles, 64 * limits.numMultiprocessors);
  return plan(copyTilesKernel<T, V, Across, Down>, grid, kBlock, p);
}

/// `along` is tiledDim().
template <typename T>
PlannedLaunch copyTiles(const void *x, void *y, const Walk &walk, int along,
                        const DeviceLimits &limits) {
  CopyTilesParams p{};
  p.x = x;
  p.y = y;
  int last = walk.rank - 1;
  p.across = uint32_t(walk.dims[along]);
  p.down = uint32_t(walk.dims[last]);
  p.xDown = walk.strides[last];
  int64_t distances[2 * kMaxRank + 2] = {p.across, p.down, p.xDown};
  size_t numDistances = 3;
  int64_t yStride = p.down, outer = 1;
  for (int d = last - 1; d >= 0; yStride *= walk.dims[d--]) {
    distances[numDistances++] = yStride;
    if (d == along) {
      p.yAcross = yStride;
      continue;
    }
    distances[numDistances++] = walk.strides[d];
    p.xOuter.add(walk.dims[d], walk.strides[d]);
    p.yOuter.add(walk.dims[d], yStride);
    outer *= walk.dims[d];
  }
  constexpr int kSize = sizeof(T);
  int64_t aligned =
      commonPower(16, x, y, {distances, numDistances}, kSize);
  bool isNarrow = p.across <= 32, isShort = p.down <= 32;
  auto sized = [&](auto vector) {
    constexpr int N = decltype(vector)::value;
    // Each thread reads and writes a vector at least.
    constexpr int kSmall = 32 * 32 / N >= kBlock ? 32 : 64;
    if (isNarrow && isShort)
      return planTiles<T, N, kSmall, kSmall>(p, outer, limits);
    if (isNarrow)
      return planTiles<T, N, 32, 4096 / 32>(p, outer, limits);
    if (isShort)
      return planTiles<T, N, 4096 / 32, 32>(p, outer, limits);
    return planTiles<T, N, 64, 64>(p, outer, limits);
  };
  if (aligned == 16)
    return sized(std::integral_constant<int, 16 / kSize>());
  if (aligned >= 4)
    return sized(std::integral_constant<int, std::max(4 / kSize, 1)>());
  return sized(std::integral_constant<int, 1>());
}

template <typename Item>
PlannedLaunch copyItems(const void *x, void *y, const Walk &walk,
                        const DeviceLimits &limits) {
  CopyItemsParams p{x, y, 1, {}, walk};
  for (int d = walk.rank - 1; d >= 0; --d)
    p.items *= walk.dims[d];
  bool isMany = p.items >= int64_t(1) << 31;
  for (int d = walk.rank - 1; d >= 0 && !isMany; --d)
    p.loops.add(walk.dims[d], walk.strides[d]);
  if (isMany)
    return plan(copyManyItemsKernel<Item>, gridFor(p.items, limits), kBlock, p);
  constexpr int N = std::min<int>(16 / sizeof(Item), 4);
  if (commonPower(N * sizeof(Item), y, y, {&p.items, 1}, sizeof(Item)) ==
      N * sizeof(Item))
    return plan(copyItemsKernel<Item, N>, gridFor(p.items / N, limits), kBlock,
                p);
  return plan(copyItemsKernel<Item, 1>, gridFor(p.items, limits), kBlock, p);
}

/// Copies what `walk` goes over, elements of `size` bytes, to y, which is dense.
inline PlannedLaunch planCopyView(const void *x, void *y, Walk walk, size_t size,
                                  const DeviceLimits &limits) {
  int along = tiledDim(walk);
  int64_t elements = 1;
  for (int d = 0; d < walk.rank; ++d)
    elements *= walk.dims[d];
  if (along >= 0 && elements < int64_t(1) << 31) {
    switch (size) {
    case 1:
      return copyTiles<uint8_t>(x, y, walk, along, limits);
    case 2:
      return copyTiles<uint16_t>(x, y, walk, along, limits);
    case 4:
      return copyTiles<uint32_t>(x, y, walk, along, limits);
    default:
      return copyTiles<uint64_t>(x, y, walk, along, limits);
    }
  }
  int last = walk.rank - 1;
  if (walk.strides[last] == 1) {
    int64_t distances[kMaxRank] = {walk.dims[last]};
    for (int d = 0; d < last; ++d)
      distances[d + 1] = walk.strides[d];
    int64_t item = commonPower(16, x, y, {distances, size_t(walk.rank)},
                               int64_t(size));
    int64_t perItem = std::max<int64_t>(item / int64_t(size), 1);
    walk.dims[last] /= perItem;
    for (int d = 0; d < last; ++d)
      walk.strides[d] /= perItem;
    size *= size_t(perItem);
  }
  switch (size) {
  case 1:
    return copyItems<uint8_t>(x, y, walk, limits);
  case 2:
    return copyItems<uint16_t>(x, y, walk, limits);
  case 4:
    return copyItems<uint32_t>(x, y, walk, limits);
  case 8:
    return copyItems<uint64_t>(x, y, walk, limits);
  default:
    return copyItems<uint4>(x, y, walk, limits);
  }
}

} // namespace aicf::cuda

#endif // AICF_KERNELS_POINTWISE_COPYVIEW_CUH
