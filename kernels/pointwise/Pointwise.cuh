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

} // namespace aicf::cuda

#endif // AICF_KERNELS_POINTWISE_POINTWISE_CUH
