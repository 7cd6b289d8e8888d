//===- Elementwise.cu - one result element a time -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// bias_add, relu, relu_bwd, add, copy, copy_saved, cast, reciprocal and
// mse_grad. V elements a thread and step; V = 1 is the fallback for odd sizes.
// Element i of the operands is read before element i of the result is written:
// in place is safe where the ABI's tie table allows it.
//===----------------------------------------------------------------------===//

#include "Common.cuh"

namespace aicf::cuda {
namespace {

struct MapParams {
  const void *a, *b;
  void *out;
  const void *scalar;  ///< mse_grad's loss scale, or null
  int64_t vectors;     ///< elements / V
  int64_t size, inner; ///< bias_add: b's size, elements behind its axis
  double factor;       ///< mse_grad
};

struct Relu {
  template <typename C> static __device__ C apply(C x, C) {
    return x < 0 ? C(0) : x; // NaN stays NaN
  }
};
struct ReluBwd {
  template <typename C> static __device__ C apply(C dy, C saved) {
    return saved > 0 ? dy : C(0);
  }
};
struct Add {
  template <typename C> static __device__ C apply(C a, C b) { return a + b; }
};
struct Reciprocal {
  template <typename C> static __device__ C apply(C x, C) { return C(1) / x; }
};

template <typename Op, typename T, int V, bool kBinary>
__global__ void mapKernel(const __grid_constant__ MapParams p) {
  gridStride(p.vectors, [&](int64_t i) {
    Vec<T, V> a = loadVec<T, V>(static_cast<const T *>(p.a), i), b = a, out;
    if constexpr (kBinary)
      b = loadVec<T, V>(static_cast<const T *>(p.b), i);
#pragma unroll
    for (int k = 0; k < V; ++k)
      out.at[k] = narrow<T>(Op::apply(widen(a.at[k]), widen(b.at[k])));
    storeVec<T, V>(static_cast<T *>(p.out), i, out);
  });
}

MapParams mapParams(const LaunchArgs &args, int v) {
  MapParams p{};
  p.a = args.ins[0].data;
  p.b = args.ins.size() > 1 ? args.ins[1].data : nullptr;
  p.out = args.outs[0].data;
  p.vectors = args.numElements(0) / v;
  return p;
}

template <typename Op, typename T, int V>
LaunchPlan unary(const LaunchArgs &args, const DeviceLimits &limits) {
  MapParams p = mapParams(args, V);
  return {
      plan(mapKernel<Op, T, V, false>, gridFor(p.vectors, limits), kBlock, p)};
}
template <typename Op, typename T, int V>
LaunchPlan binary(const LaunchArgs &args, const DeviceLimits &limits) {
  MapParams p = mapParams(args, V);
  return {
      plan(mapKernel<Op, T, V, true>, gridFor(p.vectors, limits), kBlock, p)};
}

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
LaunchPlan biasAdd(const LaunchArgs &args, const DeviceLimits &limits) {
  const TensorDesc &y = args.ins[0].desc;
  int64_t axis = args.attrsAs<BiasAddAttrs>().axis;
  if (axis < 0)
    axis = y.rank - 1;
  MapParams p = mapParams(args, V);
  p.size = y.dims[axis];
  p.inner = 1;
  for (int64_t d = axis + 1; d < y.rank; ++d)
    p.inner *= y.dims[d];
  // V divides the last dimension: that is b's size if axis is last, else it
  // divides inner.
  return {plan(biasAddKernel<T, V>, gridFor(p.vectors, limits), kBlock, p)};
}

/// dpred = factor [· loss_scale] · (pred - target), in pred's compute type;
/// from halves, whose difference does not overflow.
template <typename T, typename Target, int V>
__global__ void mseGradKernel(const __grid_constant__ MapParams p) {
  using C = Compute<T>;
  double factor = p.factor;
  if (p.scalar)
    factor *= double(widen(*static_cast<const Target *>(p.scalar)));
  const C scale = C(2 * factor), half = C(0.5f);
  gridStride(p.vectors, [&](int64_t i) {
    Vec<T, V> pred = loadVec<T, V>(static_cast<const T *>(p.a), i);
    Vec<Target, V> target =
        loadVec<Target, V>(static_cast<const Target *>(p.b), i);
#pragma unroll
    for (int k = 0; k < V; ++k)
      pred.at[k] = narrow<T>(
          scale * (half * widen(pred.at[k]) - half * C(widen(target.at[k]))));
    storeVec<T, V>(static_cast<T *>(p.out), i, pred);
  });
}

template <typename T, int V>
LaunchPlan mseGrad(const LaunchArgs &args, const DeviceLimits &limits) {
  MapParams p = mapParams(args, V);
  p.factor = args.attrsAs<MseGradAttrs>().scale;
  p.scalar = args.ins.size() > 2 ? args.ins[2].data : nullptr;
  int64_t grid = gridFor(p.vectors, limits);
  if (sizeof(T) == 2 && args.ins[1].desc.dtype == DType::F32)
    return {plan(mseGradKernel<T, float, V>, grid, kBlock, p)};
  return {plan(mseGradKernel<T, T, V>, grid, kBlock, p)};
}

template <typename From, typename To, int V>
__global__ void castKernel(const __grid_constant__ MapParams p) {
  gridStride(p.vectors, [&](int64_t i) {
    Vec<From, V> x = loadVec<From, V>(static_cast<const From *>(p.a), i);
    Vec<To, V> y;
#pragma unroll
    for (int k = 0; k < V; ++k)
      y.at[k] = narrow<To>(Compute<To>(widen(x.at[k])));
    storeVec<To, V>(static_cast<To *>(p.out), i, y);
  });
}

template <typename From, typename To, int V>
LaunchPlan cast(const LaunchArgs &args, const DeviceLimits &limits) {
  MapParams p = mapParams(args, V);
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

LaunchPlan copy(const LaunchArgs &args, const DeviceLimits &limits) {
  MapParams p{};
  p.a = args.ins[0].data;
  p.out = args.outs[0].data;
  p.size = int64_t(args.ins[0].desc.numBytes());
  auto misaligned = [](const void *at) {
    return reinterpret_cast<uintptr_t>(at) % 16 != 0;
  };
  p.vectors = misaligned(p.a) || misaligned(p.out) ? 0 : p.size / 16;
  return {plan(copyKernel, gridFor(p.vectors, limits), kBlock, p)};
}

} // namespace

#define AICF_VARIANTS(OP, BODY, VERSION)                                       \
  AICF_DEFINE_PLANNER(OP##_f32_vec4_##VERSION, BODY(f32, 4))                   \
  AICF_DEFINE_PLANNER(OP##_f32_##VERSION, BODY(f32, 1))                        \
  AICF_DEFINE_PLANNER(OP##_f64_##VERSION, BODY(f64, 1))                        \
  AICF_DEFINE_PLANNER(OP##_f16_vec8_##VERSION, BODY(f16, 8))                   \
  AICF_DEFINE_PLANNER(OP##_f16_vec2_##VERSION, BODY(f16, 2))                   \
  AICF_DEFINE_PLANNER(OP##_f16_##VERSION, BODY(f16, 1))                        \
  AICF_DEFINE_PLANNER(OP##_bf16_vec8_##VERSION, BODY(bf16, 8))                 \
  AICF_DEFINE_PLANNER(OP##_bf16_vec2_##VERSION, BODY(bf16, 2))                 \
  AICF_DEFINE_PLANNER(OP##_bf16_##VERSION, BODY(bf16, 1))

#define AICF_RELU(T, V) unary<Relu, T, V>
#define AICF_RELU_BWD(T, V) binary<ReluBwd, T, V>
#define AICF_ADD(T, V) binary<Add, T, V>
#define AICF_BIAS_ADD(T, V) biasAdd<T, V>
#define AICF_MSE_GRAD(T, V) mseGrad<T, V>
AICF_VARIANTS(relu, AICF_RELU, v0)
AICF_VARIANTS(relu_bwd, AICF_RELU_BWD, v0)
AICF_VARIANTS(add, AICF_ADD, v0)
AICF_VARIANTS(bias_add, AICF_BIAS_ADD, v0)
AICF_VARIANTS(mse_grad, AICF_MSE_GRAD, v1)

#define AICF_CAST(FROM, TO)                                                    \
  AICF_DEFINE_PLANNER(cast_##FROM##_##TO##_vec4_v0, cast<FROM, TO, 4>)         \
  AICF_DEFINE_PLANNER(cast_##FROM##_##TO##_v0, cast<FROM, TO, 1>)
AICF_CAST(f32, f16)
AICF_CAST(f32, bf16)
AICF_CAST(f16, f32)
AICF_CAST(bf16, f32)
AICF_DEFINE_PLANNER(cast_f32_f64_v0, cast<f32, f64, 1>)
AICF_DEFINE_PLANNER(cast_f64_f32_v0, cast<f64, f32, 1>)

AICF_DEFINE_PLANNER(reciprocal_f32_v0, unary<Reciprocal, f32, 1>)
AICF_DEFINE_PLANNER(reciprocal_f64_v0, unary<Reciprocal, f64, 1>)

#define AICF_COPY(T)                                                           \
  AICF_DEFINE_PLANNER(copy_##T##_v0, copy)                                     \
  AICF_DEFINE_PLANNER(copy_saved_##T##_v0, copy)
AICF_COPY(f32)
AICF_COPY(f64)
AICF_COPY(f16)
AICF_COPY(bf16)
AICF_COPY(i32)
AICF_COPY(i64)

} // namespace aicf::cuda
