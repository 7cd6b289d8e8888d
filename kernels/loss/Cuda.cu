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
  p.vectors = call.pred().elements() / V;
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
      sum = fma(x - t, x - t, sum);
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

/// `grad` is null where only the loss is asked for.
template <typename T, typename Target, bool kGrad>
LaunchPlan planMse(const MseLossArgs &call, const MseGradArgs *grad) {
  // The number of blocks decides the order of the sum.
  const DeviceLimits limits{int(kMultiprocessors), kThreadsPerMultiprocessor};
  MseParams p{};
  p.pred = call.pred().data;
  p.target = call.target().data;
  p.loss = call.loss().data;
  p.n = call.pred().elements();
  if constexpr (kGrad) {
    p.scale = grad->loss_scale() ? grad->loss_scale()->data : nullptr;
    p.dpred = grad->dpred().data;
    p.factor = grad->attrs().scale;
  }
  int64_t fits =
      call->workspace.data ? int64_t(call->workspace.desc.spanBytes() / 8) : 0;
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

template <typename T, bool kGrad>
LaunchPlan mse(const MseLossArgs &call, const MseGradArgs *grad) {
  if (sizeof(T) == 2 && call.target().desc.dtype == DType::F32)
    return planMse<T, float, kGrad>(call, grad);
  return planMse<T, T, kGrad>(call, grad);
}

template <typename T>
LaunchPlan mseLoss(MseLossArgs call, const DeviceLimits &) {
  return mse<T, false>(call, nullptr);
}
template <typename T>
LaunchPlan mseLossGrad(MseLossGradArgs call, const DeviceLimits &) {
  MseGradArgs grad = call.grad();
  return mse<T, true>(call.loss(), &grad);
}

//===----------------------------------------------------------------------===//
// Softmax cross entropy
//===----------------------------------------------------------------------===//

struct CrossEntropyParams {
  const void *logits;
  const int32_t *labels;
  const void *lossScale; ///< or null
  void *loss, *dlogits;
  double2 *partials; ///< sum of losses and rows that count, a block; or null
  int64_t rows, width, ignored;
  int64_t numPartials;
  double smoothing;
};

/// A row is a warp's work, a whole block's where it is long, or a thread's where it
/// is short: `size` threads that start at a multiple of `size`.
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

/// A row's largest logit, and the log of the sum of exp(x - most): apart, since
/// their sum would round away the second.
template <typename C> struct LogSumExp {
  C most, logSum;
};

/// Every thread of the group gets it.
template <typename T>
__device__ LogSumExp<Compute<T>> logSumExp(const RowGroup &g, const T *x,
                                           int64_t width) {
  using C = Compute<T>;
  C most = widen(x[0]), sum = 0;
  for (int64_t j = g.lane; j < width; j += g.size) {
    C value = widen(x[j]);
    most = value > most ? value : most;
  }
  most = g.max(most);
  for (int64_t j = g.lane; j < width; j += g.size)
    sum += exp(widen(x[j]) - most);
  return {most, log(g.sum(sum))};
}

/// The loss of one row: 0 if it is ignored, NaN if its label is not a class.
template <typename T>
__device__ double rowLoss(const CrossEntropyParams &p, const RowGroup &g,
                          int64_t row) {
  using C = Compute<T>;
  const T *x = static_cast<const T *>(p.logits) + row * p.width;
  int32_t label = p.labels[row];
  if (label == p.ignored)
    return 0;
  LogSumExp<C> lse = logSumExp(g, x, p.width);
  double even = 0; // what smoothing takes of every class
  if (p.smoothing > 0) {
    C sum = 0;
    for (int64_t j = g.lane; j < p.width; j += g.size)
      sum += widen(x[j]) - lse.most;
    even = p.smoothing * double(g.sum(sum)) / double(p.width);
  }
  if (label < 0 || label >= p.width)
    return nan("");
  return double(lse.logSum) -
         (1 - p.smoothing) * double(widen(x[label]) - lse.most) - even;
}

/// Threads of a block that does all rows: f64 has registers for no more.
constexpr int64_t kOnlyBlock = 512;

template <typename T, typename Loss, int kGroup>
__global__ void __launch_bounds__(kOnlyBlock)
crossEntropyKernel(const __grid_constant__ CrossEntropyParams p) {
  __shared__ double scratch[32];
  int groups = blockDim.x / kGroup, group = threadIdx.x / kGroup;
  RowGroup g{kGroup, int(threadIdx.x % kGroup), scratch};
  double loss = 0, count = 0;
  for (int64_t row = int64_t(blockIdx.x) * groups + group; row < p.rows;
       row += int64_t(gridDim.x) * groups) {
    loss += rowLoss<T>(p, g, row);
    count += p.labels[row] != p.ignored;
  }
  // Each group's first thread speaks for it.
  loss = blockSum(g.lane == 0 ? loss : 0, scratch);
  count = blockSum(g.lane == 0 ? count : 0, scratch);
  if (threadIdx.x != 0)
    return;
  if (p.partials)
    p.partials[blockIdx.x] = {loss, count};
  else
    *static_cast<Loss *>(p.loss) = Loss(loss / count);
}

template <typename Loss>
__global__ void meanLossKernel(const __grid_constant__ CrossEntropyParams p) {
  __shared__ double scratch[32];
  double loss = 0, count = 0;
  for (int64_t i = threadIdx.x; i < p.numPartials; i += blockDim.x) {
    loss += p.partials[i].x;
    count += p.partials[i].y;
  }
  loss = blockSum(loss, scratch);
  count = blockSum(count, scratch);
  if (threadIdx.x == 0)
    *static_cast<Loss *>(p.loss) = Loss(loss / count);
}

/// Rows that count, a partial count a block.
__global__ void countRowsKernel(const __grid_constant__ CrossEntropyParams p) {
  __shared__ double scratch[32];
  double count = 0;
  for (int64_t r = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; r < p.rows;
       r += int64_t(gridDim.x) * blockDim.x)
    count += p.labels[r] != p.ignored;
  count = blockSum(count, scratch);
  if (threadIdx.x == 0)
    p.partials[blockIdx.x] = {0, count};
}

/// Counts again where there are no partial counts: a whole number either way.
template <typename T, int kGroup>
__global__ void
crossEntropyGradKernel(const __grid_constant__ CrossEntropyParams p) {
  using C = Compute<T>;
  __shared__ double scratch[32];
  double mine = 0;
  if (p.partials)
    for (int64_t i = threadIdx.x; i < p.numPartials; i += blockDim.x)
      mine += p.partials[i].y;
  else
    for (int64_t r = threadIdx.x; r < p.rows; r += blockDim.x)
      mine += p.labels[r] != p.ignored;
  double factor = 1 / blockSum(mine, scratch);
  if (p.lossScale)
    factor *= double(*static_cast<const C *>(p.lossScale));
  int groups = blockDim.x / kGroup;
  RowGroup g{kGroup, int(threadIdx.x % kGroup), scratch};
  double even = p.smoothing / double(p.width);
  for (int64_t row = int64_t(blockIdx.x) * groups + threadIdx.x / kGroup;
       row < p.rows; row += int64_t(gridDim.x) * groups) {
    const T *x = static_cast<const T *>(p.logits) + row * p.width;
    T *d = static_cast<T *>(p.dlogits) + row * p.width;
    int32_t label = p.labels[row];
    bool isIgnored = label == p.ignored;
    bool isClass = label >= 0 && label < p.width;
    LogSumExp<C> lse = logSumExp(g, x, p.width);
    C rowFactor = C(isClass ? factor : nan(""));
    for (int64_t j = g.lane; j < p.width; j += g.size) {
      C target = C(j == label ? even + 1 - p.smoothing : even);
      C probability = exp(widen(x[j]) - lse.most - lse.logSum);
      C value = rowFactor * (probability - target);
      d[j] = narrow<T>(isIgnored ? C(0) : value);
    }
  }
}

template <typename Args>
CrossEntropyParams crossEntropyParams(const Args &call) {
  CrossEntropyParams p{};
  p.logits = call.logits().data;
  p.labels = call.labels().template as<int32_t>();
  p.rows = call.labels().elements();
  p.width = call.logits().elements() / p.rows;
  p.ignored = call.attrs().ignore_index;
  p.smoothing = call.attrs().label_smoothing;
  return p;
}

/// Rows longer than this are a block's work; up to this a thread's, in the loss.
constexpr int64_t kLongRow = 1024, kShortRow = 32;

/// The blocks of a reduction over `items`, each of which takes `perBlock`: as
/// many as the workspace has room for. Their number decides the order of a sum.
int64_t partialBlocks(int64_t items, int64_t perBlock,
                      const TensorView &workspace) {
  int64_t fits =
      workspace.data ? int64_t(workspace.desc.spanBytes() / sizeof(double2)) : 0;
  return std::min((items + perBlock - 1) / perBlock, fits);
}

template <typename T, typename Loss>
LaunchPlan crossEntropy(SoftmaxCrossEntropyArgs call, const DeviceLimits &) {
  CrossEntropyParams p = crossEntropyParams(call);
  p.loss = call.loss().data;
  auto launches = [&](auto kernel, int64_t perBlock,
                      int64_t onlyBlock) -> LaunchPlan {
    p.numPartials = partialBlocks(p.rows, perBlock, call->workspace);
    if (p.numPartials < 2)
      return {plan(kernel, 1, onlyBlock, p)};
    p.partials = call->workspace.template as<double2>();
    return {plan(kernel, p.numPartials, kBlock, p),
            plan(meanLossKernel<Loss>, 1, kBlock, p)};
  };
  if (p.width > kLongRow)
    return launches(crossEntropyKernel<T, Loss, kBlock>, 1, kBlock);
  if (p.width > kShortRow)
    return launches(crossEntropyKernel<T, Loss, 32>, kBlock / 32, kOnlyBlock);
  return launches(crossEntropyKernel<T, Loss, 1>, kBlock, kOnlyBlock);
}

template <typename T>
LaunchPlan crossEntropyGrad(SoftmaxCrossEntropyGradArgs call,
                            const DeviceLimits &limits) {
  CrossEntropyParams p = crossEntropyParams(call);
  p.dlogits = call.dlogits().data;
  p.lossScale = call.loss_scale() ? call.loss_scale()->data : nullptr;
  auto launches = [&](auto kernel, int64_t perBlock) -> LaunchPlan {
    int64_t blocks = std::min((p.rows + perBlock - 1) / perBlock,
                              int64_t(limits.numMultiprocessors) * 8);
    p.numPartials = partialBlocks(p.rows, 16 * kBlock, call->workspace);
    if (p.numPartials < 2)
      return {plan(kernel, blocks, kBlock, p)};
    p.partials = call->workspace.template as<double2>();
    return {plan(countRowsKernel, p.numPartials, kBlock, p),
            plan(kernel, blocks, kBlock, p)};
  };
  if (p.width > kLongRow)
    return launches(crossEntropyGradKernel<T, kBlock>, 1);
  return launches(crossEntropyGradKernel<T, 32>, kBlock / 32);
}

} // namespace

#define AICF_KERNELS_OF_loss_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
