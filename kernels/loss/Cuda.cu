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

#include "kernels/loss/CrossEntropy.cuh"
#include "kernels/loss/Family.h"

namespace aicf::cuda {
namespace {

using families::kOnlyBlock, families::kShortRow;

//===----------------------------------------------------------------------===//
// Means over elements
//===----------------------------------------------------------------------===//

struct GradParams {
  const void *pred, *target;
  const void *lossScale; ///< or null
  void *dpred;
  int64_t vectors; ///< elements / V
  double factor;
};

/// What a mean adds for one element, to `sum`, and `slope` of it with respect
/// to pred, of which kSlopes make the gradient. Functors of the records'
/// formulas.
struct Mse {
  /// The difference of halves is exact, and does not overflow where the product
  /// with the scale would not.
  static constexpr double kSlopes = 2;
  template <typename C> static __device__ C add(C sum, C x, C t) {
    return fma(x - t, x - t, sum);
  }
  template <typename C> static __device__ C slope(C x, C t) {
    return C(0.5f) * x - C(0.5f) * t;
  }
};
struct BceWithLogits {
  static constexpr double kSlopes = 1;
  template <typename C> static __device__ C add(C sum, C x, C t) {
    C most = x > 0 ? x : C(0);
    return sum + (most - x * t + log1p(exp(-fabs(x))));
  }
  template <typename C> static __device__ C slope(C x, C t) {
    return 1 / (1 + exp(-x)) - t;
  }
};
struct L1 {
  static constexpr double kSlopes = 1;
  template <typename C> static __device__ C add(C sum, C x, C t) {
    return sum + fabs(x - t);
  }
  template <typename C> static __device__ C slope(C x, C t) {
    C d = x - t;
    return d > 0 ? C(1) : d < 0 ? C(-1) : d; // 0 or NaN
  }
};
/// The mean of pred itself.
struct Plain {
  template <typename C> static __device__ C add(C sum, C x, C) {
    return sum + x;
  }
};

/// dpred = factor [· loss_scale] · slope, in pred's compute type.
template <typename Loss, typename T, typename Target, int V>
__global__ void lossGradKernel(const __grid_constant__ GradParams p) {
  using C = Compute<T>;
  double factor = p.factor;
  if (p.lossScale)
    factor *= double(widen(*static_cast<const Target *>(p.lossScale)));
  const C scale = C(Loss::kSlopes * factor);
  gridStride(p.vectors, [&](int64_t i) {
    Vec<T, V> pred = loadVec<T, V>(static_cast<const T *>(p.pred), i);
    Vec<Target, V> target =
        loadVec<Target, V>(static_cast<const Target *>(p.target), i);
#pragma unroll
    for (int k = 0; k < V; ++k)
      pred.at[k] = narrow<T>(
          scale * Loss::slope(C(widen(pred.at[k])), C(widen(target.at[k]))));
    storeVec<T, V>(static_cast<T *>(p.dpred), i, pred);
  });
}

template <typename Loss, typename Args, typename T, int V>
LaunchPlan lossGrad(Args call, const DeviceLimits &limits) {
  GradParams p{};
  p.pred = call.pred().dense();
  p.target = call.target().dense();
  p.dpred = call.dpred().dense();
  p.factor = call.attrs().scale;
  p.lossScale = call.loss_scale() ? call.loss_scale()->dense() : nullptr;
  p.vectors = call.pred().elements() / V;
  int64_t grid = gridFor(p.vectors, limits);
  if (sizeof(T) == 2 && call.target().desc.dtype == DType::F32)
    return {plan(lossGradKernel<Loss, T, float, V>, grid, kBlock, p)};
  return {plan(lossGradKernel<Loss, T, T, V>, grid, kBlock, p)};
}

struct LossParams {
  const void *pred, *target, *scale;
  void *dpred; ///< null for the loss alone
  void *loss;
  double *partials; ///< one a block, or null: a single block
  int64_t n;
  double factor;
};

/// V elements a thread and step, then one by one what is left.
template <typename Loss, typename T, typename Target, bool kGrad, int V>
__global__ void lossKernel(const __grid_constant__ LossParams p) {
  using C = Compute<T>;
  constexpr bool kTarget = !std::is_same_v<Loss, Plain>;
  __shared__ double scratch[32];
  double factor = p.factor;
  if (kGrad && p.scale)
    factor *= double(widen(*static_cast<const Target *>(p.scale)));
  C scale = 0, sum = 0;
  if constexpr (kGrad)
    scale = C(Loss::kSlopes * factor); // as the gradient alone
  auto work = [&](auto width, int64_t i) {
    constexpr int kWidth = decltype(width)::value;
    auto pred = loadVec<T, kWidth>(static_cast<const T *>(p.pred), i);
    Vec<Target, kWidth> target{};
    if constexpr (kTarget)
      target =
          loadVec<Target, kWidth>(static_cast<const Target *>(p.target), i);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      C x = widen(pred.at[k]), t = C(widen(target.at[k]));
      sum = Loss::add(sum, x, t);
      if constexpr (kGrad)
        pred.at[k] = narrow<T>(scale * Loss::slope(x, t));
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

/// `p` comes with its pointers but partials; a result of type Target.
template <typename Loss, typename T, typename Target, bool kGrad>
LaunchPlan planLoss(LossParams p, const TensorView &workspace) {
  // The number of blocks decides the order of the sum.
  const DeviceLimits limits{int(kMultiprocessors), kThreadsPerMultiprocessor};
  // f64 has no registers for more where it takes exponentials.
  constexpr int kOnly =
      std::is_same_v<T, double> && !std::is_same_v<Loss, Mse> ? 512 : 1024;
  int64_t fits =
      workspace.start() ? int64_t(workspace.desc.spanBytes() / 8) : 0;
  auto launches = [&](auto kernel, int64_t width) -> LaunchPlan {
    int64_t blocks = std::min(gridFor(p.n / width, limits, 512, 1), fits);
    if (blocks < 2 || p.n <= families::kSingleBlockElements)
      return {plan(kernel, 1, kOnly, p)};
    p.partials = workspace.dense<double>();
    MeanParams m{p.partials, p.loss, blocks, p.n};
    return {plan(kernel, blocks, 512, p), plan(meanKernel<Target>, 1, 256, m)};
  };
  uintptr_t bits = 0;
  for (const void *at : {p.pred, p.target, static_cast<const void *>(p.dpred)})
    bits |= reinterpret_cast<uintptr_t>(at);
  constexpr int kWidth = 16 / sizeof(T);
  if (bits % 16 == 0)
    return launches(lossKernel<Loss, T, Target, kGrad, kWidth>, kWidth);
  return launches(lossKernel<Loss, T, Target, kGrad, 1>, 1);
}

/// A 16-bit pred has a target of its own type or of f32.
template <typename Loss, typename T, bool kGrad, typename Args>
LaunchPlan planLossOf(const Args &call, LossParams p) {
  p.pred = call.pred().dense();
  p.target = call.target().dense();
  p.loss = call.loss().dense();
  p.n = call.pred().elements();
  if (sizeof(T) == 2 && call.target().desc.dtype == DType::F32)
    return planLoss<Loss, T, float, kGrad>(p, call->workspace);
  return planLoss<Loss, T, T, kGrad>(p, call->workspace);
}

template <typename Loss, typename Args, typename T>
LaunchPlan meanLoss(Args call, const DeviceLimits &) {
  return planLossOf<Loss, T, false>(call, LossParams{});
}
template <typename Loss, typename Args, typename T>
LaunchPlan lossAndGrad(Args call, const DeviceLimits &) {
  auto grad = call.grad();
  LossParams p{};
  p.scale = grad.loss_scale() ? grad.loss_scale()->dense() : nullptr;
  p.dpred = grad.dpred().dense();
  p.factor = grad.attrs().scale;
  return planLossOf<Loss, T, true>(call.loss(), p);
}

template <typename T> LaunchPlan mean(MeanArgs call, const DeviceLimits &) {
  LossParams p{};
  p.pred = call.x().dense();
  p.loss = call.y().dense();
  p.n = call.x().elements();
  using Wide = std::conditional_t<sizeof(T) == 2, float, T>;
  return planLoss<Plain, T, Wide, false>(p, call->workspace);
}

struct CountParams {
  const void *a;
  Indices b;
  int32_t *count;
  int64_t n;
};

/// One block: labels of a batch are few.
template <typename T>
__global__ void countEqualKernel(const __grid_constant__ CountParams p) {
  __shared__ int32_t scratch[32];
  const T *a = static_cast<const T *>(p.a);
  int32_t count = 0;
  gridStride(p.n, [&](int64_t i) { count += int64_t(a[i]) == p.b[i]; });
  count = blockSum(count, scratch);
  if (threadIdx.x == 0)
    *p.count = count;
}

template <typename T>
LaunchPlan countEqual(CountEqualArgs call, const DeviceLimits &) {
  CountParams p{call.a().dense(), Indices(call.b()),
                call.count().dense<int32_t>(), call.a().elements()};
  return {plan(countEqualKernel<T>, 1, p.n > 256 ? 1024 : 128, p)};
}

//===----------------------------------------------------------------------===//
// Softmax cross entropy
//===----------------------------------------------------------------------===//

/// Every thread of the group gets it. With kWide a row is read once, by
/// vectors.
template <bool kWide, typename T>
__device__ LogSumExp<Compute<T>> logSumExp(const RowGroup &g, const T *logits,
                                           int64_t row, int64_t width,
                                           bool isAligned) {
  using C = Compute<T>;
  const T *x = logits + row * width;
  if constexpr (kWide) {
    Normalizer<C> all{widen(x[0])};
    forRow<T, 16 / sizeof(T)>(g, logits, row, width, isAligned,
                              [&](int64_t, const auto &v) { all.addAll(v); });
    all.merge(g);
    return {all.most, log(all.sum)};
  }
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
template <typename T, bool kWide>
__device__ double rowLoss(const CrossEntropyParams &p, const RowGroup &g,
                          int64_t row) {
  using C = Compute<T>;
  const T *logits = static_cast<const T *>(p.logits);
  const T *x = logits + row * p.width;
  int64_t label = p.labels[row];
  if (label == p.ignored)
    return 0;
  LogSumExp<C> lse = logSumExp<kWide>(g, logits, row, p.width, p.isAligned);
  double even = 0;
  if (p.smoothing > 0) {
    C sum = 0;
    for (int64_t j = g.lane; j < p.width; j += g.size)
      sum += widen(x[j]) - lse.most;
    even = p.smoothing * double(g.sum(sum)) / double(p.width);
  }
  if (label < 0 || label >= p.width)
    return nan("");
  return lossOf<C>(p, lse, widen(x[label]), even);
}

template <typename T, typename Loss, int kGroup, bool kWide>
__global__ void __launch_bounds__(kOnlyBlock)
    crossEntropyKernel(const __grid_constant__ CrossEntropyParams p) {
  __shared__ double scratch[32];
  int groups = blockDim.x / kGroup, group = threadIdx.x / kGroup;
  RowGroup g{kGroup, int(threadIdx.x % kGroup), scratch};
  double loss = 0, count = 0;
  for (int64_t row = int64_t(blockIdx.x) * groups + group; row < p.rows;
       row += int64_t(gridDim.x) * groups) {
    loss += rowLoss<T, kWide>(p, g, row);
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

template <typename T, int kGroup, bool kWide>
__global__ void __launch_bounds__(blockOf(kGroup))
    crossEntropyGradKernel(const __grid_constant__ CrossEntropyParams p) {
  using C = Compute<T>;
  __shared__ double scratch[32];
  const double factor = gradientFactor<C>(p, scratch);
  int groups = blockDim.x / kGroup;
  RowGroup g{kGroup, int(threadIdx.x % kGroup), scratch};
  double even = p.smoothing / double(p.width);
  const C onLabel = C(even + 1 - p.smoothing), offLabel = C(even);
  for (int64_t row = int64_t(blockIdx.x) * groups + threadIdx.x / kGroup;
       row < p.rows; row += int64_t(gridDim.x) * groups) {
    const T *logits = static_cast<const T *>(p.logits);
    T *d = static_cast<T *>(p.dlogits) + row * p.width;
    int64_t label = p.labels[row];
    bool isIgnored = label == p.ignored;
    bool isClass = label >= 0 && label < p.width;
    LogSumExp<C> lse = logSumExp<kWide>(g, logits, row, p.width, p.isAligned);
    C rowFactor = C(isClass ? factor : nan(""));
    constexpr int kVector = kWide ? 16 / sizeof(T) : 1;
    forRow<T, kVector>(
        g, logits, row, p.width, p.isAligned, [&](int64_t j, auto v) {
          const int here =
              label >= j && label < j + v.kSize ? int(label - j) : -1;
#pragma unroll
          for (int k = 0; k < v.kSize; ++k) {
            C target = k == here ? onLabel : offLabel;
            C probability = exp(widen(v.at[k]) - lse.most - lse.logSum);
            C value = rowFactor * (probability - target);
            v.at[k] = narrow<T>(isIgnored ? C(0) : value);
          }
          storeVec(d + j, 0, v, p.isAligned);
        });
  }
}

/// The blocks of a reduction over `items`, each of which takes `perBlock`: as
/// many as the workspace has room for. Their number decides the order of a sum.
int64_t partialBlocks(int64_t items, int64_t perBlock,
                      const TensorView &workspace) {
  int64_t fits = workspace.start()
                     ? int64_t(workspace.desc.spanBytes() / sizeof(double2))
                     : 0;
  return std::min((items + perBlock - 1) / perBlock, fits);
}

template <typename T, typename Loss, bool kWide = false>
LaunchPlan crossEntropy(SoftmaxCrossEntropyArgs call, const DeviceLimits &) {
  CrossEntropyParams p = crossEntropyParams(call);
  p.loss = call.loss().dense();
  auto launches = [&](auto kernel, int64_t perBlock,
                      int64_t onlyBlock) -> LaunchPlan {
    p.numPartials = partialBlocks(p.rows, perBlock, call->workspace);
    if (p.numPartials < 2)
      return {plan(kernel, 1, onlyBlock, p)};
    p.partials = call->workspace.template dense<double2>();
    return {plan(kernel, p.numPartials, kBlock, p),
            plan(meanLossKernel<Loss>, 1, kBlock, p)};
  };
  if (kWide || p.width > kLongRow)
    return launches(crossEntropyKernel<T, Loss, kBlock, kWide>, 1, kBlock);
  if (p.width > kShortRow)
    return launches(crossEntropyKernel<T, Loss, 32, false>, kBlock / 32,
                    kOnlyBlock);
  return launches(crossEntropyKernel<T, Loss, 1, false>, kBlock, kOnlyBlock);
}

template <typename T, bool kWide = false>
LaunchPlan crossEntropyGrad(SoftmaxCrossEntropyGradArgs call,
                            const DeviceLimits &limits) {
  CrossEntropyParams p = crossEntropyParams(call);
  p.dlogits = call.dlogits().dense();
  p.isAligned &= reinterpret_cast<uintptr_t>(p.dlogits) % 16 == 0;
  p.lossScale = call.loss_scale() ? call.loss_scale()->dense() : nullptr;
  auto launches = [&](auto kernel, int group) -> LaunchPlan {
    int block = blockOf(group), perBlock = block / group;
    int64_t blocks = std::min((p.rows + perBlock - 1) / perBlock,
                              int64_t(limits.numMultiprocessors) * 8);
    p.numCounts = partialBlocks(p.rows, 16 * kBlock, call->workspace);
    if (p.numCounts < 2)
      return {plan(kernel, blocks, block, p)};
    p.counts = call->workspace.template dense<double>();
    return {plan(countRowsKernel, p.numCounts, kBlock, p),
            plan(kernel, blocks, block, p)};
  };
  if constexpr (kWide)
    if (p.width > kHugeRow)
      return launches(crossEntropyGradKernel<T, kHugeBlock, kWide>, kHugeBlock);
  if (kWide || p.width > kLongRow)
    return launches(crossEntropyGradKernel<T, kBlock, kWide>, kBlock);
  return launches(crossEntropyGradKernel<T, 32, false>, 32);
}

} // namespace

#define AICF_KERNELS_OF_loss_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
