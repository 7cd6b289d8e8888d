//===- LayerNormBwdVectors.cu - gradients of layer norm by vectors --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// dy and x are read once for dx and for the sums of dgamma and dbeta, which stay in
// registers over the rows of a group of warps; the next rows are on their way to shared
// memory. The gradient of a residual connection may be
// added to dx, and rows of that be summed. The shape alone decides the order. Rows whose
// vectors do not fill lanes have kernels of their own in LayerNormBwd.cu.
//===----------------------------------------------------------------------===//

#include "kernels/norm/LayerNormBwd.cuh"
#include "kernels/norm/RowLanes.cuh"

namespace aicf::cuda {
namespace {

/// Vectors of rows that a thread has asked for: slots of shared memory that it alone
/// writes and reads, so that no registers wait for them.
template <typename T, int kElements, bool kAdds> struct RowsAhead {
  static constexpr int V = 16 / sizeof(T), kVectors = kElements / V;
  static constexpr int kTensors = kAdds ? 3 : 2, kMostStages = 4;
  static constexpr int kSlot = kTensors * kVectors; ///< vectors of a row

  const RowsParams &p;
  const RowLanes &at;
  Vec<T, V> *const slots; ///< [stages, kSlot, threads]

  __device__ Vec<T, V> *slotOf(int stage, int i) const {
    return slots + (stage * kSlot + i) * int(blockDim.x) + threadIdx.x;
  }
  /// Asks for a row, if it is there. Every turn asks once, so that turns can be counted.
  __device__ void ask(int stage, uint32_t row) const {
    if (row < p.rows) {
      const T *from[] = {static_cast<const T *>(p.dy) + p.dyRows.at(row),
                         static_cast<const T *>(p.x) + row * p.width,
                         static_cast<const T *>(p.residual) + row * p.width};
#pragma unroll
      for (int k = 0; k < kVectors; ++k)
        if (const int i = at.lane + at.lanes() * k; i < int(p.width / V))
#pragma unroll
          for (int tensor = 0; tensor < kTensors; ++tensor)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                             uint32_t(__cvta_generic_to_shared(
                                 slotOf(stage, tensor * kVectors + k)))),
                         "l"(from[tensor] + i * V)
                         : "memory"); // what was read there is read
    }
    asm volatile("cp.async.commit_group;");
  }
  /// Waits for the row that was asked for `p.stages` turns ago.
  __device__ void wait() const {
    switch (p.stages) {
    case 1: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 3;" ::: "memory");
    }
  }
  __device__ Vec<T, V> dy(int stage, int k) const { return *slotOf(stage, k); }
  __device__ Vec<T, V> x(int stage, int k) const { return *slotOf(stage, kVectors + k); }
  __device__ Vec<T, V> residual(int stage, int k) const {
    return *slotOf(stage, 2 * kVectors + k);
  }
};

/// Adds what the groups of a block have of column sums, and writes the result.
template <typename T, int kSums, int kVectors, int V>
__device__ void writeSums(const RowsParams &p, const RowLanes &at,
                          const Compute<T> (&totals)[kSums][kVectors][V]) {
  using C = Compute<T>;
  extern __shared__ __align__(16) char memory[];
  C *sums = reinterpret_cast<C *>(memory); // [kSums, groups, lanes · V]
  const int columns = at.lanes() * V;
  for (int k = 0; k < kVectors; ++k) {
    __syncthreads(); // the last use of sums is over
#pragma unroll
    for (int which = 0; which < kSums; ++which)
#pragma unroll
      for (int own = 0; own < kVectors; ++own)
        if (own == k) // an index that is known, so that totals stay in registers
#pragma unroll
          for (int v = 0; v < V; ++v)
            sums[(which * at.groups + at.group) * columns + at.lane * V + v] =
                totals[which][own][v];
    __syncthreads();
    for (int i = int(threadIdx.x); i < kSums * columns; i += int(blockDim.x)) {
      const int which = i / columns, column = i % columns;
      const int64_t j = int64_t(k) * columns + column;
      if (j >= p.width || !p.sums[which])
        continue;
      C total = 0;
      for (int group = 0; group < at.groups; ++group)
        total += sums[(which * at.groups + group) * columns + column];
      if (p.partials)
        static_cast<C *>(
            p.partials)[(which * int64_t(gridDim.x) + blockIdx.x) * p.width + j] = total;
      else
        static_cast<T *>(p.sums[which])[j] = narrow<T>(total);
    }
  }
}

/// Groups of warps have a row each. They ask for the next ones before they compute.
template <typename T, int kElements, bool kAdds>
__global__ void __launch_bounds__(32 * families::rowWarps(kElements), 2)
    layerNormBwdVectorsKernel(const __grid_constant__ RowsParams p) {
  using C = Compute<T>;
  using Ahead = RowsAhead<T, kElements, kAdds>;
  constexpr int V = Ahead::V, kVectors = Ahead::kVectors, kSums = kAdds ? 3 : 2;
  extern __shared__ __align__(16) char memory[];
  __shared__ C shared[2][2][kRowWarps];
  const RowLanes at(p.warps);
  const Ahead ahead{p, at, reinterpret_cast<Vec<T, V> *>(memory)};
  const int vectors = int(p.width / V);
  const C inverse = C(1) / C(p.width);
  Vec<T, V> weight[kVectors];
  C totals[kSums][kVectors][V] = {}; // dgamma, dbeta, and of what is written
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    if (const int i = at.lane + at.lanes() * k; i < vectors)
      weight[k] = loadVec<T, V>(static_cast<const T *>(p.gamma), i);
  const uint32_t step = gridDim.x * at.groups;
  uint32_t row = blockIdx.x * at.groups + at.group;
  for (int stage = 0; stage < p.stages; ++stage)
    ahead.ask(stage, row + stage * step);
  int stage = 0;
#pragma unroll 1
  for (int turn = 0; row < p.rows; row += step, turn ^= 1) {
    const C mean = widen(static_cast<const T *>(p.mean)[row]);
    const C rstd = widen(static_cast<const T *>(p.rstd)[row]);
    ahead.wait();
    Vec<T, V> dy[kVectors], x[kVectors];
    C sums[2] = {}; // of g = dy · gamma, and of g · h
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      if (at.lane + at.lanes() * k < vectors) {
        dy[k] = ahead.dy(stage, k), x[k] = ahead.x(stage, k);
#pragma unroll
        for (int v = 0; v < V; ++v) {
          const C slope = widen(dy[k].at[v]), g = slope * widen(weight[k].at[v]);
          const C h = (widen(x[k].at[v]) - mean) * rstd;
          totals[0][k][v] = fma(slope, h, totals[0][k][v]);
          totals[1][k][v] += slope;
          sums[0] += g;
          sums[1] = fma(g, h, sums[1]);
        }
      }
    at.sum(sums, shared[turn]);
    const C meanG = sums[0] * inverse, meanGH = sums[1] * inverse;
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      if (const int i = at.lane + at.lanes() * k; i < vectors) {
        Vec<T, V> dx, residual;
        if constexpr (kAdds)
          residual = ahead.residual(stage, k);
#pragma unroll
        for (int v = 0; v < V; ++v) {
          const C g = widen(dy[k].at[v]) * widen(weight[k].at[v]);
          const C h = (widen(x[k].at[v]) - mean) * rstd;
          dx.at[v] = narrow<T>(rstd * (g - meanG - h * meanGH));
          if constexpr (kAdds) {
            dx.at[v] = narrow<T>(widen(residual.at[v]) + widen(dx.at[v]));
            totals[2][k][v] += widen(dx.at[v]);
          }
        }
        storeVec<T, V>(static_cast<T *>(p.dx) + row * p.width, i, dx);
      }
    ahead.ask(stage, row + p.stages * step);
    stage = stage + 1 == p.stages ? 0 : stage + 1;
  }
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  writeSums<T>(p, at, totals);
}

template <typename T, bool kAdds>
LaunchPlan vectorLaunchesOf(RowsParams p, const TensorView &workspace,
                            const DeviceLimits &limits) {
  return withRowElements(p.width, [&](auto elements, int warps) {
    using Ahead = RowsAhead<T, elements(), kAdds>;
    constexpr int kSums = kAdds ? 3 : 2, V = Ahead::V;
    const int threads = 32 * warps * (families::rowWarps(elements()) / warps);
    const uint32_t sums = kSums * V * threads * sizeof(Compute<T>),
                   row = Ahead::kSlot * 16 * threads;
    // So many that two blocks have room, of the 227 KiB of a Hopper; one where less is.
    const uint32_t room = std::min<uint32_t>(112 << 10, limits.sharedBytesOfBlock);
    p.warps = warps;
    p.stages = std::clamp<int>(int(room / row), 1, Ahead::kMostStages);
    return launchesOf<T>(p, workspace, layerNormBwdVectorsKernel<T, elements(), kAdds>,
                         threads, families::layerNormVectorBlocks(p.rows),
                         std::max(sums, row * p.stages));
  });
}

template <typename T>
LaunchPlan layerNormBwdOfVectors(LayerNormBwdArgs call, const DeviceLimits &limits) {
  return vectorLaunchesOf<T, false>(RowsParams(call), call->workspace, limits);
}

template <typename T>
LaunchPlan layerNormBwdAddOfVectors(LayerNormBwdAddArgs call, const DeviceLimits &limits) {
  RowsParams p(call.bwd(), call.add().c());
  p.residual = call.add().a().dense();
  if (call.sum())
    p.sums[2] = call.sum()->y().dense();
  return vectorLaunchesOf<T, true>(p, call->workspace, limits);
}

} // namespace

#define AICF_KERNELS_OF_layer_norm_bwd_vectors_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
