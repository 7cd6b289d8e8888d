//===- RowGroup.cuh - the threads that share a row --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CUDA_ROWGROUP_CUH
#define AICF_KERNELS_CUDA_ROWGROUP_CUH

#include "kernels/RowLength.h"
#include "kernels/cuda/Common.cuh"

namespace aicf::cuda {

/// A row is a warp's work, a whole block's where it is long, or a thread's
/// where it is short: `size` threads that start at a multiple of `size`.
struct RowGroup {
  int size, lane;
  void *scratch; ///< 32 values of a block, where the group is one

  template <typename C> __device__ C sum(C x) const {
    if (size == 1)
      return x;
    return size == 32 ? warpSum(x) : blockSum(x, static_cast<C *>(scratch));
  }
  template <typename C> __device__ C max(C x) const {
    if (size == 1)
      return x;
    for (int offset = 16; offset > 0; offset /= 2) {
      C other = __shfl_xor_sync(0xffffffffu, x, offset);
      x = other > x ? other : x;
    }
    if (size == 32)
      return x;
    C *warps = static_cast<C *>(scratch);
    __syncthreads(); // the last use of scratch is over
    if (threadIdx.x % 32 == 0)
      warps[threadIdx.x / 32] = x;
    __syncthreads();
    for (int w = 0; w < size / 32; ++w)
      x = warps[w] > x ? warps[w] : x;
    return x;
  }
};

using families::kHugeBlock, families::kHugeRow, families::kLongRow;

/// Threads of a block whose rows are each the work of `group` threads.
constexpr int blockOf(int group) { return group > kBlock ? group : kBlock; }

/// Calls body(j, Vec of the elements from j on) for the share that a thread has
/// of the row that begins at x: vectors from element `head` on, and what lies
/// before the first and behind the last one by one. Who gets what depends on
/// shapes alone, and each thread sees its share in order. kAtOnce vectors are
/// on their way at once.
template <typename T, int V, int kAtOnce = 2, typename Body>
__device__ inline void forElements(const RowGroup &g, const T *x, int64_t head,
                                   int64_t width, bool isAligned, Body body) {
  for (int64_t j = g.lane; j < head; j += g.size)
    body(j, loadVec<T, 1>(x, j));
  const int64_t vectors = (width - head) / V;
  int64_t i = g.lane;
  if constexpr (V > 1)
    for (; i + (kAtOnce - 1) * g.size < vectors; i += kAtOnce * g.size) {
      Vec<T, V> v[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        v[k] = loadVec<T, V>(x + head, i + k * g.size, isAligned);
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        body(head + (i + k * g.size) * V, v[k]);
    }
  for (; i < vectors; i += g.size)
    body(head + i * V, loadVec<T, V>(x + head, i, isAligned));
  if constexpr (V > 1)
    for (int64_t j = head + vectors * V + g.lane; j < width; j += g.size)
      body(j, loadVec<T, 1>(x, j));
}

/// Elements of a row before the first that lies at a multiple of V in its
/// tensor.
template <int V>
__device__ inline int64_t headOfRow(int64_t row, int64_t width) {
  const int64_t before = (V - row * width % V) % V;
  return before < width ? before : width;
}

/// The same for a row of x, whose vectors are aligned where x is.
template <typename T, int V, typename Body>
__device__ inline void forRow(const RowGroup &g, const T *x, int64_t row,
                              int64_t width, bool isAligned, Body body) {
  forElements<T, V>(g, x + row * width, headOfRow<V>(row, width), width,
                    isAligned, body);
}

/// A row's largest element and the sum of exp(x - most) in one pass: what came
/// before a larger element is scaled down to it (Milakov & Gimelshein 2018,
/// "Online normalizer calculation for softmax").
template <typename C> struct Normalizer {
  C most, sum = 0;
  __device__ void add(C value) {
    if (value > most) {
      sum *= exp(most - value);
      most = value;
    }
    // Not exp(0) of two infinities.
    sum += value == most ? C(1) : exp(value - most);
  }
  /// The same sum in another order, with an exponential less for most elements:
  /// the largest of the vector comes first.
  template <typename T, int V> __device__ void addAll(const Vec<T, V> &v) {
    C high = most;
#pragma unroll
    for (int k = 0; k < V; ++k)
      high = widen(v.at[k]) > high ? C(widen(v.at[k])) : high;
    const C base =
        high == -C(INFINITY) ? C(0) : high; // all are -inf: no NaN yet
    sum *= exp(most - base);
#pragma unroll
    for (int k = 0; k < V; ++k)
      sum += exp(C(widen(v.at[k])) - base);
    most = high;
  }
  /// Over all threads of the group; each gets it.
  __device__ void merge(const RowGroup &g) {
    C mine = most;
    most = g.max(mine);
    sum = g.sum(sum * exp(mine - most));
  }
};

} // namespace aicf::cuda

#endif // AICF_KERNELS_CUDA_ROWGROUP_CUH
