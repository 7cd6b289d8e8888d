//===- Reductions.cu - sums, losses, layer norm ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// No atomics: every sum is taken in an order that the shape alone decides. A
// large reduction writes partial sums to the call's workspace and a second
// launch adds them; without workspace one launch does all the work.
//===----------------------------------------------------------------------===//

#include "Common.cuh"
#include "aicf/Support/KernelTable.h"

#include <climits>

namespace aicf::cuda {
namespace {

//===----------------------------------------------------------------------===//
// Sums over a dimension
//===----------------------------------------------------------------------===//

/// Columns: sums over `size` of x[o, i, j] for each (o, j). A block is X
/// columns of V wide and kColumnThreads / X rows high; `chunks` blocks share a
/// column.
constexpr int kColumnThreads = 512;

struct ColumnParams {
  const void *x, *saved; ///< saved: relu_bwd's mask, or null
  void *dx;              ///< relu_bwd's result
  void *out;             ///< y, or partial sums [chunks, outer, inner]
  int64_t outer, size, inner;
  int64_t rowsPerChunk;
};

/// Decides orders of sums, so it is the same for every card.
constexpr int64_t kMultiprocessors = 132;

template <typename T, int V, int X, bool kMask, bool kPartial>
__global__ void __launch_bounds__(kColumnThreads)
    columnKernel(const __grid_constant__ ColumnParams p) {
  using C = Compute<T>;
  constexpr int kRows = kColumnThreads / X;
  __shared__ C sums[kRows][X * V + 1];
  int64_t column = (int64_t(blockIdx.x) * X + threadIdx.x) * V;
  int64_t first = blockIdx.y * p.rowsPerChunk;
  int64_t last = min(p.size, first + p.rowsPerChunk);
  for (int64_t outer = blockIdx.z; outer < p.outer; outer += gridDim.z) {
    int64_t base = outer * p.size * p.inner + column;
    C mine[V] = {};
    __syncthreads(); // the last use of sums is over
    if (column < p.inner)
#pragma unroll 4
      for (int64_t i = first + threadIdx.y; i < last; i += kRows) {
        int64_t vector = (base + i * p.inner) / V;
        Vec<T, V> x = loadVec<T, V>(static_cast<const T *>(p.x), vector);
        if constexpr (kMask) {
          Vec<T, V> s = loadVec<T, V>(static_cast<const T *>(p.saved), vector);
#pragma unroll
          for (int k = 0; k < V; ++k)
            if (!(widen(s.at[k]) > 0))
              x.at[k] = narrow<T>(C(0));
          storeVec<T, V>(static_cast<T *>(p.dx), vector, x);
        }
#pragma unroll
        for (int k = 0; k < V; ++k)
          mine[k] += widen(x.at[k]);
      }
#pragma unroll
    for (int k = 0; k < V; ++k)
      sums[threadIdx.y][threadIdx.x * V + k] = mine[k];
    // Halving in a fixed order.
    for (int half = kRows / 2; half > 0; half /= 2) {
      __syncthreads();
      if (int(threadIdx.y) < half)
#pragma unroll
        for (int k = 0; k < V; ++k)
          sums[threadIdx.y][threadIdx.x * V + k] +=
              sums[threadIdx.y + half][threadIdx.x * V + k];
    }
    if (threadIdx.y != 0 || column >= p.inner)
      continue;
#pragma unroll
    for (int k = 0; k < V; ++k) {
      C total = sums[0][threadIdx.x * V + k];
      int64_t at = outer * p.inner + column + k;
      if constexpr (kPartial)
        static_cast<C *>(p.out)[int64_t(blockIdx.y) * p.outer * p.inner + at] =
            total;
      else
        static_cast<T *>(p.out)[at] = narrow<T>(total);
    }
  }
}

struct CombineParams {
  const void *partials; ///< [chunks, n]
  void *out;            ///< [n]
  int64_t chunks, n;
};

template <typename T>
__global__ void combineKernel(const __grid_constant__ CombineParams p) {
  using C = Compute<T>;
  gridStride(p.n, [&](int64_t j) {
    C total = 0;
    for (int64_t c = 0; c < p.chunks; ++c)
      total += static_cast<const C *>(p.partials)[c * p.n + j];
    static_cast<T *>(p.out)[j] = narrow<T>(total);
  });
}

/// The launches of a column sum; `p` comes with its pointers but out.
template <typename T, int V, int X, bool kMask>
LaunchPlan planColumns(const LaunchArgs &args, const DeviceLimits &limits,
                       ColumnParams p, int64_t outer, void *result) {
  using C = Compute<T>;
  constexpr int64_t kRows = kColumnThreads / X;
  p.outer = outer;
  int64_t strips = (p.inner + X * V - 1) / (X * V);
  int64_t fits = args.workspace.data
                     ? int64_t(args.workspace.desc.numBytes() / sizeof(C)) /
                           (outer * p.inner)
                     : 0;
  // Enough blocks for the card, of at least 16 rows a thread: fewer do not pay
  // for the second launch.
  int64_t wanted = std::min<int64_t>(
      kMultiprocessors * 4 / (strips * outer) + 1, p.size / (kRows * 16));
  int64_t chunks = std::min<int64_t>({wanted, fits, 1024});
  auto launch = [&](auto kernel, int64_t numChunks) {
    p.rowsPerChunk = (p.size + numChunks - 1) / numChunks;
    PlannedLaunch l = plan(kernel, strips, X, p);
    l.block[1] = kRows;
    l.grid[1] = uint32_t(numChunks);
    l.grid[2] = uint32_t(std::min<int64_t>(outer, 65535));
    return l;
  };
  if (chunks < 2) {
    p.out = result;
    return {launch(columnKernel<T, V, X, kMask, false>, 1)};
  }
  p.out = args.workspace.data;
  CombineParams c{p.out, result, chunks, outer * p.inner};
  return {launch(columnKernel<T, V, X, kMask, true>, chunks),
          plan(combineKernel<T>, gridFor(c.n, limits), kBlock, c)};
}

/// Large tensors: 16 bytes a thread. Small ones: narrow blocks, of which there
/// are more; 4 bytes a thread where the width allows it.
template <typename T, bool kMask>
LaunchPlan planColumnsOfAnyWidth(const LaunchArgs &args,
                                 const DeviceLimits &limits, ColumnParams p,
                                 int64_t outer, void *result) {
  uintptr_t bits = 0;
  for (const void *at : {p.x, p.saved, static_cast<const void *>(p.dx)})
    bits |= reinterpret_cast<uintptr_t>(at);
  constexpr int kWide = 16 / sizeof(T), kPair = sizeof(T) == 2 ? 2 : 1;
  bool isLarge = p.size * p.inner * outer >= int64_t(1) << 21;
  if (isLarge && p.inner % kWide == 0 && bits % 16 == 0)
    return planColumns<T, kWide, 32, kMask>(args, limits, p, outer, result);
  if (p.inner % kPair == 0 && bits % 4 == 0)
    return planColumns<T, kPair, 8, kMask>(args, limits, p, outer, result);
  return planColumns<T, 1, 8, kMask>(args, limits, p, outer, result);
}

struct RowParams {
  const void *x;
  void *y;
  int64_t size, rows;
};

/// Blocks for `rows`, which a block takes one after the other.
int64_t rowGrid(int64_t rows) { return std::min<int64_t>(rows, 1 << 20); }

/// Rows: a block a row.
template <typename T>
__global__ void rowKernel(const __grid_constant__ RowParams p) {
  using C = Compute<T>;
  __shared__ C scratch[32];
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
    const T *x = static_cast<const T *>(p.x) + row * p.size;
    C sum = 0;
    for (int64_t i = threadIdx.x; i < p.size; i += blockDim.x)
      sum += widen(x[i]);
    sum = blockSum(sum, scratch);
    if (threadIdx.x == 0)
      static_cast<T *>(p.y)[row] = narrow<T>(sum);
  }
}

template <typename T>
LaunchPlan reduceSum(const LaunchArgs &args, const DeviceLimits &limits) {
  const TensorDesc &desc = args.ins[0].desc;
  int64_t axis = args.attrsAs<ReduceSumAttrs>().axis, inner = 1;
  for (int64_t d = axis + 1; d < desc.rank; ++d)
    inner *= desc.dims[d];
  int64_t size = desc.dims[axis];
  int64_t outer = desc.numElements() / (size * inner);
  if (inner == 1) {
    RowParams p{args.ins[0].data, args.outs[0].data, size, outer};
    return {plan(rowKernel<T>, rowGrid(outer), size > 512 ? 256 : 32, p)};
  }
  ColumnParams p{};
  p.x = args.ins[0].data;
  p.size = size;
  p.inner = inner;
  return planColumnsOfAnyWidth<T, false>(args, limits, p, outer,
                                         args.outs[0].data);
}

template <typename T>
LaunchPlan reluBwdReduce(const LaunchArgs &args, const DeviceLimits &limits) {
  ColumnParams p{};
  p.x = args.ins[0].data;
  p.saved = args.ins[1].data;
  p.dx = args.outs[0].data;
  p.size = args.ins[0].desc.dims[0];
  p.inner = args.ins[0].desc.dims[1];
  return planColumnsOfAnyWidth<T, true>(args, limits, p, 1, args.outs[1].data);
}

//===----------------------------------------------------------------------===//
// Mean squared error
//===----------------------------------------------------------------------===//

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

template <typename T, typename Target, bool kGrad>
LaunchPlan planMse(const LaunchArgs &args, const DeviceLimits &) {
  // The number of blocks decides the order of the sum.
  const DeviceLimits limits{int(kMultiprocessors)};
  MseParams p{};
  p.pred = args.ins[0].data;
  p.target = args.ins[1].data;
  p.loss = args.outs[0].data;
  p.n = args.numElements(0);
  if constexpr (kGrad) {
    p.scale = args.ins.size() > 2 ? args.ins[2].data : nullptr;
    p.dpred = args.outs[1].data;
    p.factor = args.attrsAs<MseLossGradAttrs>().scale;
  }
  int64_t fits =
      args.workspace.data ? int64_t(args.workspace.desc.numBytes() / 8) : 0;
  auto launches = [&](auto kernel, int64_t width) -> LaunchPlan {
    int64_t blocks = std::min(gridFor(p.n / width, limits, 512, 1), fits);
    if (blocks < 2 || p.n <= kSingleBlockElements)
      return {plan(kernel, 1, 1024, p)};
    p.partials = static_cast<double *>(args.workspace.data);
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
LaunchPlan mse(const LaunchArgs &args, const DeviceLimits &limits) {
  if (sizeof(T) == 2 && args.ins[1].desc.dtype == DType::F32)
    return planMse<T, float, kGrad>(args, limits);
  return planMse<T, T, kGrad>(args, limits);
}

//===----------------------------------------------------------------------===//
// Layer norm
//===----------------------------------------------------------------------===//

struct LayerNormParams {
  const void *in[5];
  void *out[3];
  int64_t width, rows;
  double eps;
};

LayerNormParams layerNormParams(const LaunchArgs &args, size_t gamma) {
  LayerNormParams p{};
  for (size_t i = 0; i < args.ins.size(); ++i)
    p.in[i] = args.ins[i].data;
  for (size_t i = 0; i < args.outs.size(); ++i)
    p.out[i] = args.outs[i].data;
  p.width = args.ins[gamma].desc.dims[0];
  p.rows = args.numElements(0) / p.width;
  return p;
}

/// Mean, then variance around it, then the row.
template <typename T>
__device__ void layerNormRow(const LayerNormParams &p, int64_t row,
                             Compute<T> *scratch) {
  using C = Compute<T>;
  int64_t base = row * p.width;
  const T *x = static_cast<const T *>(p.in[0]) + base;
  C sum = 0, squares = 0;
  for (int64_t j = threadIdx.x; j < p.width; j += blockDim.x)
    sum += widen(x[j]);
  C mean = blockSum(sum, scratch) / C(p.width);
  for (int64_t j = threadIdx.x; j < p.width; j += blockDim.x) {
    C d = widen(x[j]) - mean;
    squares += d * d;
  }
  C variance = blockSum(squares, scratch) / C(p.width);
  C rstd = C(1) / sqrt(variance + C(p.eps));
  for (int64_t j = threadIdx.x; j < p.width; j += blockDim.x)
    static_cast<T *>(p.out[0])[base + j] =
        narrow<T>((widen(x[j]) - mean) * rstd *
                      widen(static_cast<const T *>(p.in[1])[j]) +
                  widen(static_cast<const T *>(p.in[2])[j]));
  if (threadIdx.x == 0) {
    static_cast<T *>(p.out[1])[row] = narrow<T>(mean);
    static_cast<T *>(p.out[2])[row] = narrow<T>(rstd);
  }
}

template <typename T>
__global__ void layerNormKernel(const __grid_constant__ LayerNormParams p) {
  __shared__ Compute<T> scratch[32];
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x)
    layerNormRow<T>(p, row, scratch);
}

template <typename T>
LaunchPlan layerNorm(const LaunchArgs &args, const DeviceLimits &) {
  LayerNormParams p = layerNormParams(args, 1);
  p.eps = args.attrsAs<LayerNormAttrs>().eps;
  return {
      plan(layerNormKernel<T>, rowGrid(p.rows), p.width > 512 ? 256 : 64, p)};
}

/// dx = rstd·(g - mean(g) - h·mean(g·h)) of one row.
template <typename T>
__device__ void layerNormDxRow(const LayerNormParams &p, int64_t row,
                               Compute<T> *scratch) {
  using C = Compute<T>;
  int64_t base = row * p.width;
  const T *dy = static_cast<const T *>(p.in[0]) + base;
  const T *x = static_cast<const T *>(p.in[1]) + base;
  const T *gamma = static_cast<const T *>(p.in[2]);
  C mean = widen(static_cast<const T *>(p.in[3])[row]);
  C rstd = widen(static_cast<const T *>(p.in[4])[row]);
  C sumG = 0, sumGH = 0;
  for (int64_t j = threadIdx.x; j < p.width; j += blockDim.x) {
    C g = widen(dy[j]) * widen(gamma[j]);
    sumG += g;
    sumGH += g * (widen(x[j]) - mean) * rstd;
  }
  C meanG = blockSum(sumG, scratch) / C(p.width);
  C meanGH = blockSum(sumGH, scratch) / C(p.width);
  for (int64_t j = threadIdx.x; j < p.width; j += blockDim.x) {
    C g = widen(dy[j]) * widen(gamma[j]), h = (widen(x[j]) - mean) * rstd;
    static_cast<T *>(p.out[0])[base + j] =
        narrow<T>(rstd * (g - meanG - h * meanGH));
  }
}

template <typename T>
__global__ void layerNormDxKernel(const __grid_constant__ LayerNormParams p) {
  __shared__ Compute<T> scratch[32];
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x)
    layerNormDxRow<T>(p, row, scratch);
}

/// dgamma = Σ dy·h and dbeta = Σ dy: 32 columns a block.
template <typename T>
__global__ void
layerNormParamsKernel(const __grid_constant__ LayerNormParams p) {
  using C = Compute<T>;
  __shared__ C sums[2][32][33];
  int64_t column = int64_t(blockIdx.x) * 32 + threadIdx.x;
  C gamma = 0, beta = 0;
  if (column < p.width)
    for (int64_t r = threadIdx.y; r < p.rows; r += 32) {
      int64_t at = r * p.width + column;
      C dy = widen(static_cast<const T *>(p.in[0])[at]);
      C h = (widen(static_cast<const T *>(p.in[1])[at]) -
             widen(static_cast<const T *>(p.in[3])[r])) *
            widen(static_cast<const T *>(p.in[4])[r]);
      gamma += dy * h;
      beta += dy;
    }
  sums[0][threadIdx.y][threadIdx.x] = gamma;
  sums[1][threadIdx.y][threadIdx.x] = beta;
  __syncthreads();
  if (threadIdx.y > 1 || column >= p.width)
    return;
  C total = 0;
  for (int r = 0; r < 32; ++r)
    total += sums[threadIdx.y][r][threadIdx.x];
  static_cast<T *>(p.out[1 + threadIdx.y])[column] = narrow<T>(total);
}

template <typename T>
LaunchPlan layerNormBwd(const LaunchArgs &args, const DeviceLimits &) {
  LayerNormParams p = layerNormParams(args, 2);
  PlannedLaunch columns =
      plan(layerNormParamsKernel<T>, (p.width + 31) / 32, 32, p);
  columns.block[1] = 32;
  return {
      plan(layerNormDxKernel<T>, rowGrid(p.rows), p.width > 512 ? 256 : 64, p),
      columns};
}

//===----------------------------------------------------------------------===//
// All finite
//===----------------------------------------------------------------------===//

/// A launch takes so many operands; more take further launches.
struct FiniteParams {
  const void *in[kMaxAllFiniteOperands];
  int64_t n[kMaxAllFiniteOperands];
  int32_t count;
  int32_t *partials; ///< one a block, or null: a single block
  int32_t *ok;
};

template <typename T>
__global__ void finiteKernel(const __grid_constant__ FiniteParams p) {
  bool bad = false;
  for (int32_t t = 0; t < p.count; ++t) {
    const T *x = static_cast<const T *>(p.in[t]);
    gridStride(p.n[t], [&](int64_t i) { bad |= !isfinite(widen(x[i])); });
  }
  bool any = __syncthreads_or(bad);
  if (threadIdx.x == 0)
    *(p.partials ? p.partials + blockIdx.x : p.ok) = any ? 0 : 1;
}

struct AndParams {
  const int32_t *partials;
  int32_t *ok;
  int64_t count;
};

__global__ void andKernel(const __grid_constant__ AndParams p) {
  bool bad = false;
  for (int64_t i = threadIdx.x; i < p.count; i += blockDim.x)
    bad |= p.partials[i] == 0;
  bool any = __syncthreads_or(bad);
  if (threadIdx.x == 0)
    *p.ok = any ? 0 : 1;
}

/// Operands [first, last) of a call.
FiniteParams finiteParams(const LaunchArgs &args, size_t first, size_t last) {
  FiniteParams p{};
  for (size_t i = first; i < last; ++i) {
    p.in[p.count] = args.ins[i].data;
    p.n[p.count++] = args.numElements(i);
  }
  p.ok = static_cast<int32_t *>(args.outs[0].data);
  return p;
}

template <typename T>
LaunchPlan allFinite(const LaunchArgs &args, const DeviceLimits &limits) {
  int64_t total = 0;
  for (size_t i = 0; i < args.ins.size(); ++i)
    total += args.numElements(i);
  int64_t fits =
      args.workspace.data ? int64_t(args.workspace.desc.numBytes() / 4) : 0;
  size_t numLaunches =
      (args.ins.size() + kMaxAllFiniteOperands - 1) / kMaxAllFiniteOperands;
  int64_t blocks =
      std::min(gridFor(total, limits, 512, 2), fits / int64_t(numLaunches));
  if (numLaunches == 1 && (blocks < 2 || total <= kSingleBlockElements))
    return {
        plan(finiteKernel<T>, 1, 1024, finiteParams(args, 0, args.ins.size()))};
  if (blocks < 1)
    return {}; // so many operands need the workspace
  LaunchPlan launches;
  auto *partials = static_cast<int32_t *>(args.workspace.data);
  for (size_t l = 0; l < numLaunches; ++l) {
    size_t first = l * kMaxAllFiniteOperands;
    FiniteParams p = finiteParams(
        args, first,
        std::min<size_t>(args.ins.size(), first + kMaxAllFiniteOperands));
    p.partials = partials + int64_t(l) * blocks;
    launches.push_back(plan(finiteKernel<T>, blocks, 512, p));
  }
  AndParams a{partials, static_cast<int32_t *>(args.outs[0].data),
              blocks * int64_t(numLaunches)};
  launches.push_back(plan(andKernel, 1, 256, a));
  return launches;
}

} // namespace

#define AICF_EVERY_FLOAT(OP, BODY)                                             \
  AICF_DEFINE_PLANNER(OP##_f32_v0, BODY<f32>)                                  \
  AICF_DEFINE_PLANNER(OP##_f64_v0, BODY<f64>)                                  \
  AICF_DEFINE_PLANNER(OP##_f16_v0, BODY<f16>)                                  \
  AICF_DEFINE_PLANNER(OP##_bf16_v0, BODY<bf16>)
AICF_EVERY_FLOAT(reduce_sum, reduceSum)
AICF_EVERY_FLOAT(relu_bwd_reduce, reluBwdReduce)
AICF_EVERY_FLOAT(layer_norm, layerNorm)
AICF_EVERY_FLOAT(layer_norm_bwd, layerNormBwd)
AICF_EVERY_FLOAT(all_finite, allFinite)

#define AICF_MSE(OP, GRAD, VERSION)                                            \
  AICF_DEFINE_PLANNER(OP##_f32_##VERSION, mse<f32, GRAD>)                      \
  AICF_DEFINE_PLANNER(OP##_f64_##VERSION, mse<f64, GRAD>)                      \
  AICF_DEFINE_PLANNER(OP##_f16_##VERSION, mse<f16, GRAD>)                      \
  AICF_DEFINE_PLANNER(OP##_bf16_##VERSION, mse<bf16, GRAD>)                    \
  AICF_DEFINE_PLANNER(OP##_f16_f32_##VERSION, mse<f16, GRAD>)                  \
  AICF_DEFINE_PLANNER(OP##_bf16_f32_##VERSION, mse<bf16, GRAD>)
AICF_MSE(mse_loss, false, v0)
AICF_MSE(mse_loss_grad, true, v1)

} // namespace aicf::cuda
