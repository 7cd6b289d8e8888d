//===- Pointwise.cuh - CUDA's templates of pointwise kernels ---------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Element i of the operands is read before element i of the result is written:
// in place is safe where the records' ties allow it. Compiled without
// contraction.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_POINTWISE_POINTWISE_CUH
#define AICF_KERNELS_POINTWISE_POINTWISE_CUH

#include "kernels/cuda/Common.cuh"
#include "kernels/pointwise/Functors.h"
#include "lib/Base/Walk.h"

#include <utility>

namespace aicf::cuda {

/// The elements of operand N of the primitive F, whose numbers are T; i1 is a
/// byte.
template <typename F, typename T, size_t N>
using ElementOf = std::conditional_t<F::kIsBool[N], i1, T>;
template <typename F, typename T>
using ResultOf = std::conditional_t<F::kGivesBool, i1, T>;

template <typename F> using PointwiseArgs = typename F::template View<LaunchArgs>;
template <typename F>
inline constexpr size_t kNumOperands = PointwiseArgs<F>::kNumInputs;

/// Operand N as F computes with it.
template <typename F, size_t N, typename Element>
__device__ inline auto scalarOf(Element x) {
  if constexpr (F::kIsBool[N])
    return x != 0;
  else
    return widen(x);
}
template <typename F, typename T, typename C>
__device__ inline ResultOf<F, T> resultOf(C y) {
  if constexpr (F::kGivesBool)
    return y;
  else
    return narrow<T>(y);
}

/// V elements of operand N, in registers.
template <typename F, typename T, int V, size_t N> struct Loaded {
  Vec<ElementOf<F, T, N>, V> elements;
  __device__ Loaded(const void *from, int64_t vector)
      : elements(loadVec<ElementOf<F, T, N>, V>(
            static_cast<const ElementOf<F, T, N> *>(from), vector)) {}
  __device__ auto at(int k) const { return scalarOf<F, N>(elements.at[k]); }
};

template <typename F, typename T, int V, typename... Operands>
__device__ inline Vec<ResultOf<F, T>, V>
computed(const typename F::Attrs &attrs, const Operands &...x) {
  Vec<ResultOf<F, T>, V> y;
#pragma unroll
  for (int k = 0; k < V; ++k)
    y.at[k] =
        resultOf<F, T>(F::template apply<Compute<T>, sizeof(T) == 2>(
            attrs, x.at(k)...));
  return y;
}

template <typename F> struct PointwiseParams {
  const void *inputs[kNumOperands<F>];
  void *output;
  int64_t vectors; ///< elements / V
  typename F::Attrs attrs;
};

/// V elements a thread and step; V = 1 is the fallback for odd sizes.
template <typename F, typename T, int V, size_t... N>
__device__ inline void pointwiseElements(const PointwiseParams<F> &p,
                                         std::index_sequence<N...>) {
  gridStride(p.vectors, [&](int64_t i) {
    storeVec<ResultOf<F, T>, V>(
        static_cast<ResultOf<F, T> *>(p.output), i,
        computed<F, T, V>(p.attrs, Loaded<F, T, V, N>(p.inputs[N], i)...));
  });
}
template <typename F, typename T, int V>
__global__ void pointwiseKernel(const __grid_constant__ PointwiseParams<F> p) {
  pointwiseElements<F, T, V>(p, std::make_index_sequence<kNumOperands<F>>());
}

template <typename F, typename T, int V>
LaunchPlan pointwise(PointwiseArgs<F> call, const DeviceLimits &limits) {
  PointwiseParams<F> p{};
  for (size_t i = 0; i < kNumOperands<F>; ++i)
    p.inputs[i] = call.inputs()[i]->dense();
  p.output = call.output().dense();
  p.vectors = call.output().elements() / V;
  p.attrs = call.attrs();
  return {
      plan(pointwiseKernel<F, T, V>, gridFor(p.vectors, limits), kBlock, p)};
}

template <typename F> struct StridedParams {
  const void *inputs[kNumOperands<F>];
  void *output;
  int64_t elements;
  bool hasVectors; ///< of kStridedWidth elements, in all tensors
  Walks<kNumOperands<F> + 1> walks; ///< of the operands and the result
  typename F::Attrs attrs;
};

/// Elements that a thread takes at once where they lie side by side.
template <typename T>
inline constexpr int kStridedWidth = sizeof(T) == 8 ? 2 : 4;

/// V elements of operand N that lie side by side, or one that is repeated.
template <typename F, typename T, int V, size_t N> struct LoadedAt {
  using Element = ElementOf<F, T, N>;
  Vec<Element, V> elements;
  __device__ LoadedAt(const void *from, int64_t at, int64_t step) {
    const Element *first = static_cast<const Element *>(from) + at;
    if (step != 0) {
      elements = loadVec<Element, V>(first, 0);
      return;
    }
    const Element one = *first;
#pragma unroll
    for (int k = 0; k < V; ++k)
      elements.at[k] = one;
  }
  __device__ auto at(int k) const { return scalarOf<F, N>(elements.at[k]); }
};

template <typename F, typename T, size_t... N>
__device__ inline void stridedVectors(const StridedParams<F> &p,
                                      std::index_sequence<N...>) {
  constexpr int V = kStridedWidth<T>;
  const bool isLarge = p.elements > UINT32_MAX;
  gridStride(p.elements / V, [&](int64_t i) {
    int64_t at[sizeof...(N) + 1];
    if (isLarge)
      p.walks.at(uint64_t(i * V), at);
    else
      p.walks.at(uint32_t(i * V), at);
    storeVec<ResultOf<F, T>, V>(
        static_cast<ResultOf<F, T> *>(p.output) + at[sizeof...(N)], 0,
        computed<F, T, V>(p.attrs, LoadedAt<F, T, V, N>(p.inputs[N], at[N],
                                                        p.walks.step(N))...));
  });
}

/// Operands and the result lie anywhere. Indices of 32 bits are divided in much
/// less time than others, and those of vectors are fewer.
template <typename F, typename T, size_t... N>
__device__ inline void stridedElements(const StridedParams<F> &p,
                                       std::index_sequence<N...>) {
  const bool isLarge = p.elements > UINT32_MAX;
  gridStride(p.elements, [&](int64_t i) {
    int64_t at[sizeof...(N) + 1];
    if (isLarge)
      p.walks.at(uint64_t(i), at);
    else
      p.walks.at(uint32_t(i), at);
    static_cast<ResultOf<F, T> *>(p.output)[at[sizeof...(N)]] =
        resultOf<F, T>(F::template apply<Compute<T>, sizeof(T) == 2>(
            p.attrs, scalarOf<F, N>(static_cast<const ElementOf<F, T, N> *>(
                         p.inputs[N])[at[N]])...));
  });
}
template <typename F, typename T>
__global__ void stridedKernel(const __grid_constant__ StridedParams<F> p) {
  constexpr auto each = std::make_index_sequence<kNumOperands<F>>();
  if (p.hasVectors)
    stridedVectors<F, T>(p, each);
  else
    stridedElements<F, T>(p, each);
}

/// Whether tensor `n`, whose first element is at `start`, has vectors of V
/// aligned elements.
template <int V, size_t N>
bool hasAlignedVectors(const Walks<N> &walks, size_t n, const void *start,
                       DType dtype) {
  const uint64_t bytes = walks.step(n) == 0 ? 1 : V * sizeOf(dtype);
  return walks.hasVectors(n, V) &&
         reinterpret_cast<uintptr_t>(start) % bytes == 0;
}

template <typename F, typename T>
LaunchPlan pointwiseStrided(PointwiseArgs<F> call, const DeviceLimits &limits) {
  StridedParams<F> p{};
  const TensorDesc *descs[kNumOperands<F> + 1];
  for (size_t i = 0; i < kNumOperands<F>; ++i) {
    p.inputs[i] = call.inputs()[i]->start();
    descs[i] = &call.inputs()[i]->desc;
  }
  descs[kNumOperands<F>] = &call.output().desc;
  p.output = call.output().start();
  p.elements = call.output().elements();
  p.walks = Walks<kNumOperands<F> + 1>(descs);
  p.attrs = call.attrs();
  constexpr int V = kStridedWidth<T>;
  p.hasVectors = true;
  for (size_t n = 0; n <= kNumOperands<F>; ++n)
    p.hasVectors &= hasAlignedVectors<V>(
        p.walks, n, n < kNumOperands<F> ? p.inputs[n] : p.output,
        descs[n]->dtype);
  return {plan(stridedKernel<F, T>,
               gridFor(p.hasVectors ? p.elements / V : p.elements, limits),
               kBlock, p)};
}

} // namespace aicf::cuda

#endif // AICF_KERNELS_POINTWISE_POINTWISE_CUH
