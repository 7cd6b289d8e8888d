//===- LossOfRows.cu - cross-entropy of long rows, on CUDA ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The loss of rows of many classes with its gradient, and of 16-bit rows the
// loss alone. A block goes through a row once to find the log of the sum of
// exponentials (Milakov & Gimelshein 2018, "Online normalizer calculation for
// softmax"), and once more each for label smoothing and for the gradient: by
// then the row is in the block's shared memory, if it fits and there is a
// gradient. The order of every sum follows from shapes alone. Short rows are
// Cuda.cu's, and so is the loss alone of others.
//===----------------------------------------------------------------------===//

#include "kernels/loss/CrossEntropy.cuh"
#include "kernels/loss/Family.h"

namespace aicf::cuda {
namespace {

using families::kMaxRowCounts, families::RowBlocks, families::rowBlocks;

/// exp(x - most - more). Of 16-bit elements it is one instruction behind a
/// product: its relative error is about |x - most| * 2^-23.
template <typename T> struct Exponential {
  using C = Compute<T>;
  static constexpr bool kIsFast = sizeof(T) == 2;
  static constexpr float kLog2E = 1.44269504f;
  C most, more;

  __device__ Exponential(C most, C more)
      : most(most), more(kIsFast ? more * C(kLog2E) : more) {}
  __device__ C operator()(C x) const {
    if constexpr (!kIsFast)
      return exp(x - most - more);
    float y;
    const float exponent = __fmaf_rn(float(x - most), kLog2E, -float(more));
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(exponent));
    return C(y);
  }
};

/// A row's largest element and the sum of exp(x - most), of what a thread has
/// seen.
template <typename T> struct RunningSum {
  using C = Compute<T>;
  C most, sum = 0;

  template <int V> __device__ void add(const Vec<T, V> &v) {
    C high = most;
#pragma unroll
    for (int k = 0; k < V; ++k)
      high = max(high, C(widen(v.at[k]))); // a NaN makes the sum NaN
    const C base =
        high == -C(INFINITY) ? C(0) : high; // all are -inf: no NaN yet
    const Exponential<T> exponential(base, 0);
    sum *= exponential(most);
#pragma unroll
    for (int k = 0; k < V; ++k)
      sum += exponential(widen(v.at[k]));
    most = high;
  }
  /// Over all threads of the group; each gets it.
  __device__ LogSumExp<C> merge(const RowGroup &g) const {
    const C all = g.max(most);
    return {all, log(g.sum(sum * exp(most - all)))};
  }
};

/// Rows of one block, one after the other.
template <typename T, int kThreads> class BlockRows {
public:
  using C = Compute<T>;
  static constexpr int V = 16 / sizeof(T);

  __device__ BlockRows(const CrossEntropyParams &p, double *scratch, T *stage)
      : p(p), g{kThreads, int(threadIdx.x), scratch}, stage(stage) {}

  __device__ void begin(int64_t of) {
    // In another row, a thread may stage where a neighbour still reads.
    if (p.isStaged)
      __syncthreads();
    row = of;
    x = static_cast<const T *>(p.logits) + row * p.width;
    label = p.labels[row];
    head = headOfRow<V>(row, p.width);
    // Vectors lie as in the tensor. Each thread reads what it has put there.
    staged = stage + row * p.width % V;
    // The gradient may lie over the logits.
    logit = isClass() ? C(widen(x[label])) : C(0);
  }
  __device__ bool isClass() const { return label >= 0 && label < p.width; }
  __device__ bool isIgnored() const { return label == p.ignored; }

  __device__ void readOnce() {
    RunningSum<T> all{widen(x[0])};
    forElements<T, V, 4>(g, x, head, p.width, p.isAligned,
                         [&](int64_t j, const auto &v) {
                           if (p.isStaged)
                             storeVec(staged + j, 0, v);
                           all.add(v);
                         });
    lse = all.merge(g);
  }
  /// The loss of the row: 0 if it is ignored, NaN if its label is not a class.
  __device__ double loss() const {
    double even = 0;
    if (p.smoothing > 0) {
      C sum = 0;
      again([&](int64_t, const auto &v) {
#pragma unroll
        for (int k = 0; k < v.kSize; ++k)
          sum += C(widen(v.at[k])) - lse.most;
      });
      even = p.smoothing * double(g.sum(sum)) / double(p.width);
    }
    if (isIgnored())
      return 0;
    return isClass() ? lossOf<C>(p, lse, logit, even) : nan("");
  }
  __device__ void storeGradient(double factor) const {
    const double even = p.smoothing / double(p.width);
    const C onLabel = C(even + 1 - p.smoothing), offLabel = C(even);
    const C scale = C(isClass() ? factor : nan(""));
    const Exponential<T> probability(lse.most, lse.logSum);
    T *d = static_cast<T *>(p.dlogits) + row * p.width;
    if (isIgnored())
      return again([&](int64_t j, auto v) {
#pragma unroll
        for (int k = 0; k < v.kSize; ++k)
          v.at[k] = narrow<T>(C(0));
        storeVec(d + j, 0, v, p.isAligned);
      });
    again([&](int64_t j, const auto &v) {
      auto made = v;
#pragma unroll
      for (int k = 0; k < v.kSize; ++k)
        made.at[k] =
            narrow<T>(scale * (probability(widen(v.at[k])) - offLabel));
      // Rarely, so that it costs one comparison for each vector.
      if (const int64_t here = label - j; here >= 0 && here < v.kSize)
#pragma unroll
        for (int k = 0; k < v.kSize; ++k)
          if (k == here)
            made.at[k] =
                narrow<T>(scale * (probability(widen(v.at[k])) - onLabel));
      storeVec(d + j, 0, made, p.isAligned);
    });
  }

private:
  template <typename Visit> __device__ void again(Visit visit) const {
    if (p.isStaged)
      forElements<T, V>(g, staged, head, p.width, true, visit);
    else
      forElements<T, V>(g, x, head, p.width, p.isAligned, visit);
  }

  const CrossEntropyParams &p;
  const RowGroup g;
  T *const stage;
  int64_t row = 0, label = 0, head = 0;
  const T *x = nullptr;
  T *staged = nullptr;
  C logit = 0;
  LogSumExp<C> lse{};
};

template <typename T, typename Loss, int kThreads, bool kHasGradient>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    lossOfRowsKernel(const __grid_constant__ CrossEntropyParams p) {
  extern __shared__ __align__(16) unsigned char stage[];
  __shared__ double scratch[32];
  double factor = 0, loss = 0, count = 0;
  if constexpr (kHasGradient)
    factor = gradientFactor<Compute<T>>(p, scratch);
  BlockRows<T, kThreads> rows(p, scratch, reinterpret_cast<T *>(stage));
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
    rows.begin(row);
    rows.readOnce();
    loss += rows.loss();
    count += !rows.isIgnored();
    if constexpr (kHasGradient)
      rows.storeGradient(factor);
  }
  if (threadIdx.x != 0)
    return;
  if (p.partials)
    p.partials[blockIdx.x] = {loss, count};
  else
    *static_cast<Loss *>(p.loss) = Loss(loss / count);
}

/// The workspace holds the partial sums, and counts behind them.
void useWorkspace(CrossEntropyParams &p, int64_t blocks,
                  const TensorView &workspace) {
  const int64_t room =
      workspace.start() ? int64_t(workspace.desc.spanBytes()) : 0;
  const int64_t forSums = room - kMaxRowCounts * int64_t(sizeof(double));
  const int64_t sums =
      std::min({p.rows, blocks, forSums / int64_t(sizeof(double2))});
  if (sums < 2)
    return;
  p.numPartials = sums;
  p.partials = workspace.dense<double2>();
  p.numCounts =
      std::min((p.rows + 16 * kBlock - 1) / (16 * kBlock), kMaxRowCounts);
  if (p.numCounts > 1)
    p.counts = reinterpret_cast<double *>(p.partials + p.numPartials);
}

template <typename T, typename Loss, bool kHasGradient>
LaunchPlan planRows(CrossEntropyParams p, const RowBlocks &row,
                    const TensorView &workspace) {
  useWorkspace(p, row.blocks, workspace);
  auto kernel =
      row.threads == 128   ? lossOfRowsKernel<T, Loss, 128, kHasGradient>
      : row.threads == 256 ? lossOfRowsKernel<T, Loss, 256, kHasGradient>
      : row.threads == 512 ? lossOfRowsKernel<T, Loss, 512, kHasGradient>
                           : lossOfRowsKernel<T, Loss, 1024, kHasGradient>;
  LaunchPlan launches;
  if (kHasGradient && p.counts)
    launches.push_back(plan(countRowsKernel, p.numCounts, kBlock, p));
  launches.push_back(plan(kernel, p.partials ? p.numPartials : 1, row.threads,
                          p, p.isStaged ? row.stagedBytes : 0));
  if (p.partials)
    launches.push_back(plan(meanLossKernel<Loss>, 1, kBlock, p));
  return launches;
}

template <typename T, typename Loss>
LaunchPlan crossEntropyOfRows(SoftmaxCrossEntropyArgs call,
                              const DeviceLimits &) {
  CrossEntropyParams p = crossEntropyParams(call);
  p.loss = call.loss().dense();
  return planRows<T, Loss, false>(p, rowBlocks(p.width, sizeof(T), false),
                                  call->workspace);
}

template <typename T, typename Loss>
LaunchPlan crossEntropyLossGrad(SoftmaxCrossEntropyLossGradArgs call,
                                const DeviceLimits &limits) {
  CrossEntropyParams p = crossEntropyParams(call.loss());
  p.loss = call.loss().loss().dense();
  p.dlogits = call.grad().dlogits().dense();
  p.isAligned &= reinterpret_cast<uintptr_t>(p.dlogits) % 16 == 0;
  p.lossScale =
      call.grad().loss_scale() ? call.grad().loss_scale()->dense() : nullptr;
  const RowBlocks row = rowBlocks(p.width, sizeof(T), true);
  p.isStaged = row.stagedBytes <= limits.sharedBytesOfBlock;
  return planRows<T, Loss, true>(p, row, call->workspace);
}

} // namespace

#define AICF_KERNELS_OF_loss_of_rows_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
