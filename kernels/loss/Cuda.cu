//===- Cuda.cu - losses on CUDA -------------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// No atomics: every sum is taken in an order that the shape alone decides. A
// large one writes partial sums to the call's workspace and a second launch
// adds them; without workspace one launch does all the work.
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "kernels/loss/Family.h"

namespace aicf::cuda {
namespace {

struct GradParams {
  const void *pred, *target;
  const void *lossScale; ///< or null
  void *dpred;
  int64_t vectors; ///< elements / V
  double factor;
};

/// dpred = factor [· loss_scale] · (pred - target), in pred's compute type;
/// from halves, whose difference does not overflow.
template <typename T, typename Target, int V>
__global__ void mseGradKernel(const __grid_constant__ GradParams p) {
  using C = Compute<T>;
  double factor = p.factor;
  if (p.lossScale)
    factor *= double(widen(*static_cast<const Target *>(p.lossScale)));
  const C scale = C(2 * factor), half = C(0.5f);
  gridStride(p.vectors, [&](int64_t i) {
    Vec<T, V> pred = loadVec<T, V>(static_cast<const T *>(p.pred), i);
    Vec<Target, V> target =
        loadVec<Target, V>(static_cast<const Target *>(p.target), i);
#pragma unroll
    for (int k = 0; k < V; ++k)
      pred.at[k] = narrow<T>(
          scale * (half * widen(pred.at[k]) - half * C(widen(target.at[k]))));
    storeVec<T, V>(static_cast<T *>(p.dpred), i, pred);
  });
}

template <typename T, int V>
LaunchPlan mseGrad(MseGradArgs call, const DeviceLimits &limits) {
  GradParams p{};
  p.pred = call.pred().data;
  p.target = call.target().data;
  p.dpred = call.dpred().data;
  p.factor = call.attrs().scale;
  p.lossScale = call.loss_scale() ? call.loss_scale()->data : nullptr;
  p.vectors = call.pred().numElements() / V;
  int64_t grid = gridFor(p.vectors, limits);
  if (sizeof(T) == 2 && call.target().desc.dtype == DType::F32)
    return {plan(mseGradKernel<T, float, V>, grid, kBlock, p)};
  return {plan(mseGradKernel<T, T, V>, grid, kBlock, p)};
}

struct MseParams {
  const void *pred, *target, *scale;
  void *dpred; ///< null for the loss alone
  void *loss;
  double *partials; ///< one a block, or null: a single block
  int64_t n;
  double factor;
};

/// V elements a thread and step, then one by one what is left.
template <typename T, typename Target, bool kGrad, int V>
__global__ void mseKernel(const __grid_constant__ MseParams p) {
  using C = Compute<T>;
  __shared__ double scratch[32];
  double factor = p.factor;
  if (kGrad && p.scale)
    factor *= double(widen(*static_cast<const Target *>(p.scale)));
  const C scale = C(2 * factor), half = C(0.5f); // as mse_grad
  C sum = 0;
  auto work = [&](auto width, int64_t i) {
    constexpr int kWidth = decltype(width)::value;
    auto pred = loadVec<T, kWidth>(static_cast<const T *>(p.pred), i);
    auto target =
        loadVec<Target, kWidth>(static_cast<const Target *>(p.target), i);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      C x = widen(pred.at[k]), t = C(widen(target.at[k]));
      sum += (x - t) * (x - t);
      if constexpr (kGrad)
        pred.at[k] = narrow<T>(scale * (half * x - half * t));
    }
    if constexpr (kGrad)
      storeVec<T, kWidth>(static_cast<T *>(p.dpred), i, pred);
  };
  gridStride(p.n / V,
             [&](int64_t i) { work(std::integral_constant<int, V>(), i); });
  if (blockIdx.x == 0)
    for (int64_t i = p.n / V * V + threadIdx.x; i < p.n; i += blockDim.x)
      work(std::integral_constant<int, 1>(), i);
  double total = blockSum(double(sum), scratch);
  if (threadIdx.x != 0)
    return;
  if (p.partials)
    p.partials[blockIdx.x] = total;
  else
    *static_cast<Target *>(p.loss) =
        narrow<Target>(Compute<Target>(total / double(p.n)));
}

struct MeanParams {
  const double *partials;
  void *out;
  int64_t count, n;
};

template <typename T>
__global__ void meanKernel(const __grid_constant__ MeanParams p) {
  __shared__ double scratch[32];
  double sum = 0;
  for (int64_t i = threadIdx.x; i < p.count; i += blockDim.x)
    sum += p.partials[i];
  sum = blockSum(sum, scratch);
  if (threadIdx.x == 0)
    *static_cast<T *>(p.out) = narrow<T>(Compute<T>(sum / double(p.n)));
}

template <typename T, typename Target, bool kGrad, typename Args>
LaunchPlan planMse(Args call) {
  // The number of blocks decides the order of the sum.
  const DeviceLimits limits{int(kMultiprocessors)};
  MseParams p{};
  p.pred = call.pred().data;
  p.target = call.target().data;
  p.loss = call.loss().data;
  p.n = call.pred().numElements();
  if constexpr (kGrad) {
    p.scale = call.loss_scale() ? call.loss_scale()->data : nullptr;
    p.dpred = call.dpred().data;
    p.factor = call.attrs().scale;
  }
  int64_t fits =
      call->workspace.data ? int64_t(call->workspace.desc.numBytes() / 8) : 0;
  auto launches = [&](auto kernel, int64_t width) -> LaunchPlan {
    int64_t blocks = std::min(gridFor(p.n / width, limits, 512, 1), fits);
    if (blocks < 2 || p.n <= families::kSingleBlockElements)
      return {plan(kernel, 1, 1024, p)};
    p.partials = static_cast<double *>(call->workspace.data);
    MeanParams m{p.partials, p.loss, blocks, p.n};
    return {plan(kernel, blocks, 512, p), plan(meanKernel<Target>, 1, 256, m)};
  };
  uintptr_t bits = 0;
  for (const void *at : {p.pred, p.target, static_cast<const void *>(p.dpred)})
    bits |= reinterpret_cast<uintptr_t>(at);
  constexpr int kWidth = 16 / sizeof(T);
  if (bits % 16 == 0)
    return launches(mseKernel<T, Target, kGrad, kWidth>, kWidth);
  return launches(mseKernel<T, Target, kGrad, 1>, 1);
}

template <typename T, bool kGrad, typename Args>
LaunchPlan mse(Args call, const DeviceLimits &) {
  if (sizeof(T) == 2 && call.target().desc.dtype == DType::F32)
    return planMse<T, float, kGrad>(call);
  return planMse<T, T, kGrad>(call);
}

template <typename T>
LaunchPlan mseLoss(MseLossArgs call, const DeviceLimits &limits) {
  return mse<T, false>(call, limits);
}
template <typename T>
LaunchPlan mseLossGrad(MseLossGradArgs call, const DeviceLimits &limits) {
  return mse<T, true>(call, limits);
}

} // namespace

#define AICF_KERNELS_OF_loss_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
