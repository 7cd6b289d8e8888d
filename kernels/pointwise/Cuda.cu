//===- Cuda.cu - pointwise primitives, copies and casts on CUDA -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Element i of the operands is read before element i of the result is written:
// in place is safe where the records' ties allow it. Compiled without
// contraction.
//===----------------------------------------------------------------------===//

#include "kernels/pointwise/CopyView.cuh"
#include "kernels/pointwise/Pointwise.cuh"
#include "lib/Base/ElementSize.h"
#include "lib/Base/Walk.h"

namespace aicf::cuda {
namespace {

struct MapParams {
  const void *a, *b;
  void *out;
  int64_t vectors;     ///< elements / V
  int64_t size, inner; ///< bias_add: b's size, elements behind its axis
};

/// out[o,i,k] = y[o,i,k] + b[i]. With inner == 1 a vector lies along b (its
/// last dimension is a multiple of V), else behind one element of b.
template <typename T, int V>
__global__ void biasAddKernel(const __grid_constant__ MapParams p) {
  const T *b = static_cast<const T *>(p.b);
  gridStride(p.vectors, [&](int64_t i) {
    Vec<T, V> y = loadVec<T, V>(static_cast<const T *>(p.a), i), bias;
    if (p.inner == 1) {
      bias = loadVec<T, V>(b, i % (p.size / V));
    } else {
      T one = b[i * V / p.inner % p.size];
#pragma unroll
      for (int k = 0; k < V; ++k)
        bias.at[k] = one;
    }
#pragma unroll
    for (int k = 0; k < V; ++k)
      y.at[k] = narrow<T>(widen(y.at[k]) + widen(bias.at[k]));
    storeVec<T, V>(static_cast<T *>(p.out), i, y);
  });
}

template <typename T, int V>
LaunchPlan biasAdd(BiasAddArgs call, const DeviceLimits &limits) {
  const TensorDesc &y = call.y().desc;
  int64_t axis = call.attrs().axis;
  if (axis < 0)
    axis = y.rank - 1;
  MapParams p{};
  p.a = call.y().dense();
  p.b = call.b().dense();
  p.out = call.out().dense();
  p.vectors = y.elements() / V;
  p.size = y.dims[axis];
  p.inner = 1;
  for (int64_t d = axis + 1; d < y.rank; ++d)
    p.inner *= y.dims[d];
  // V divides the last dimension: that is b's size if axis is last, else it
  // divides inner.
  return {plan(biasAddKernel<T, V>, gridFor(p.vectors, limits), kBlock, p)};
}

/// True where To is i1, which C++ stores as a byte.
template <typename To, typename From> __device__ To convert(From x) {
  if constexpr (std::is_same_v<To, i1>)
    return widen(x) != Compute<From>(0);
  else if constexpr (std::is_integral_v<To>)
    return scalar::number<To>(widen(x));
  else
    return narrow<To>(Compute<To>(widen(x)));
}

template <typename From, typename To, int V>
__global__ void castKernel(const __grid_constant__ MapParams p) {
  gridStride(p.vectors, [&](int64_t i) {
    Vec<From, V> x = loadVec<From, V>(static_cast<const From *>(p.a), i);
    Vec<To, V> y;
#pragma unroll
    for (int k = 0; k < V; ++k)
      y.at[k] = convert<To>(x.at[k]);
    storeVec<To, V>(static_cast<To *>(p.out), i, y);
  });
}

struct PaddedCastParams {
  const void *x;
  void *y;
  int64_t rows, width;        ///< of values
  int64_t xPitch;             ///< elements
  int64_t storedRows, yPitch; ///< of y: what lies behind the values gets zeros
};

/// A block a row and step.
template <typename From, typename To>
__global__ void paddedCastKernel(const __grid_constant__ PaddedCastParams p) {
  for (int64_t row = blockIdx.x; row < p.storedRows; row += gridDim.x) {
    const From *x = static_cast<const From *>(p.x) + row * p.xPitch;
    To *y = static_cast<To *>(p.y) + row * p.yPitch;
    int64_t width = row < p.rows ? p.width : 0;
    for (int64_t i = threadIdx.x; i < p.yPitch; i += blockDim.x)
      y[i] = i < width ? convert<To>(x[i]) : narrow<To>(Compute<To>(0));
  }
}

template <typename From, typename To>
LaunchPlan paddedCast(const TensorView &from, const TensorView &to,
                      const DeviceLimits &limits) {
  const TensorDesc &x = from.desc, &y = to.desc;
  PaddedCastParams p{from.start(), to.start(),        x.rows(), x.width(),
                     x.pitch(),    y.stored().rows(), y.pitch()};
  return {plan(paddedCastKernel<From, To>,
               gridFor(p.storedRows * kBlock, limits), kBlock, p)};
}

template <typename Args, typename From, typename To, int V>
LaunchPlan cast(Args call, const DeviceLimits &limits) {
  if (!call.x().desc.isDense() || !call.y().desc.isDense())
    return paddedCast<From, To>(call.x(), call.y(), limits);
  MapParams p{};
  p.a = call.x().dense();
  p.out = call.y().dense();
  p.vectors = call.x().elements() / V;
  return {plan(castKernel<From, To, V>, gridFor(p.vectors, limits), kBlock, p)};
}

/// Bytes: 16 at a time where everything is aligned, then the rest.
__global__ void copyKernel(const __grid_constant__ MapParams p) {
  gridStride(p.vectors, [&](int64_t i) {
    static_cast<uint4 *>(p.out)[i] = static_cast<const uint4 *>(p.a)[i];
  });
  if (blockIdx.x == 0)
    for (int64_t i = p.vectors * 16 + threadIdx.x; i < p.size; i += blockDim.x)
      static_cast<char *>(p.out)[i] = static_cast<const char *>(p.a)[i];
}

struct CopyIntoParams {
  const void *from;
  void *to;
  int64_t elements;
  Walks<2> walks; ///< of both
};

/// A copy into a part of another tensor, which lies anywhere. V elements at a
/// time lie side by side in both. Indices of 32 bits are divided in much less
/// time than others.
template <typename T, int V>
__global__ void copyIntoKernel(const __grid_constant__ CopyIntoParams p) {
  const bool isLarge = p.elements > UINT32_MAX;
  gridStride(p.elements / V, [&](int64_t i) {
    int64_t at[2];
    if (isLarge)
      p.walks.at(uint64_t(i * V), at);
    else
      p.walks.at(uint32_t(i * V), at);
    storeVec<T, V>(static_cast<T *>(p.to) + at[1], 0,
                   loadVec<T, V>(static_cast<const T *>(p.from) + at[0], 0));
  });
}

LaunchPlan copyInto(CopyArgs call, const DeviceLimits &limits) {
  CopyIntoParams p{call.x().start(), call.y().start(), call.x().elements(),
                   Walks<2>({&call.x().desc, &call.y().desc})};
  return byElementSize(call.x().desc.dtype, [&](auto element) -> LaunchPlan {
    using T = decltype(element);
    constexpr int V = 16 / sizeof(T);
    auto hasVectors = [&](size_t n, const void *start) {
      return p.walks.step(n) == 1 && p.walks.hasVectors(n, V) &&
             reinterpret_cast<uintptr_t>(start) % 16 == 0;
    };
    if (hasVectors(0, p.from) && hasVectors(1, p.to))
      return {plan(copyIntoKernel<T, V>, gridFor(p.elements / V, limits),
                   kBlock, p)};
    return {plan(copyIntoKernel<T, 1>, gridFor(p.elements, limits), kBlock, p)};
  });
}

/// copy and copy_saved.
template <typename Args>
LaunchPlan copy(Args call, const DeviceLimits &limits) {
  if (!call.x().desc.isDense())
    return {planCopyView(call.x().start(), call.y().start(),
                         Walk(call.x().desc), sizeOf(call.x().desc.dtype),
                         limits)};
  MapParams p{};
  p.a = call.x().dense();
  p.out = call.y().dense();
  p.size = int64_t(call.x().desc.spanBytes());
  auto misaligned = [](const void *at) {
    return reinterpret_cast<uintptr_t>(at) % 16 != 0;
  };
  p.vectors = misaligned(p.a) || misaligned(p.out) ? 0 : p.size / 16;
  return {plan(copyKernel, gridFor(p.vectors, limits), kBlock, p)};
}

} // namespace

#define AICF_KERNELS_OF_pointwise_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
