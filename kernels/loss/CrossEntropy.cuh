//===- CrossEntropy.cuh - what kernels of cross-entropy share ---*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Their parameters, the loss of one row, and the launches before and behind:
// the one that counts rows, and the one that adds what blocks have.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_LOSS_CROSSENTROPY_CUH
#define AICF_KERNELS_LOSS_CROSSENTROPY_CUH

#include "kernels/cuda/RowGroup.cuh"
#include "lib/Base/Indices.h"

namespace aicf::cuda {
namespace { // each file has its own kernels

struct CrossEntropyParams {
  const void *logits;
  Indices labels;
  const void *lossScale; ///< or null
  void *loss, *dlogits;
  double2 *partials; ///< sum of losses and rows that count, a block; or null
  double *counts; ///< of rows that count, a block of countRowsKernel; or null
  int64_t rows, width, ignored;
  int64_t numPartials, numCounts;
  double smoothing;
  bool isAligned; ///< logits and dlogits begin at multiples of 16 bytes
  bool isStaged;  ///< LossOfRows.cu: a row fits into a block's shared memory
};

/// A row's largest logit, and the log of the sum of exp(x - most): apart, since
/// their sum would round away the second.
template <typename C> struct LogSumExp {
  C most, logSum;
};

/// The loss of a row whose label is a class, with this logit. `even` is what
/// smoothing takes of every class.
template <typename C>
__device__ double lossOf(const CrossEntropyParams &p, LogSumExp<C> lse, C logit,
                         double even) {
  return double(lse.logSum) - (1 - p.smoothing) * double(logit - lse.most) -
         even;
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

/// Rows that count, one count for each block.
__global__ void countRowsKernel(const __grid_constant__ CrossEntropyParams p) {
  __shared__ double scratch[32];
  double count = 0;
  for (int64_t r = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; r < p.rows;
       r += int64_t(gridDim.x) * blockDim.x)
    count += p.labels[r] != p.ignored;
  count = blockSum(count, scratch);
  if (threadIdx.x == 0)
    p.counts[blockIdx.x] = count;
}

/// What a row's gradient is multiplied by. Counts rows again where there are no
/// counts: a whole number either way.
template <typename C>
__device__ double gradientFactor(const CrossEntropyParams &p, double *scratch) {
  double mine = 0;
  if (p.counts)
    for (int64_t i = threadIdx.x; i < p.numCounts; i += blockDim.x)
      mine += p.counts[i];
  else
    for (int64_t r = threadIdx.x; r < p.rows; r += blockDim.x)
      mine += p.labels[r] != p.ignored;
  double factor = 1 / blockSum(mine, scratch);
  if (p.lossScale)
    factor *= double(*static_cast<const C *>(p.lossScale));
  return factor;
}

template <typename Args>
CrossEntropyParams crossEntropyParams(const Args &call) {
  CrossEntropyParams p{};
  p.logits = call.logits().dense();
  p.labels = Indices(call.labels());
  p.rows = call.labels().elements();
  p.width = call.logits().elements() / p.rows;
  p.ignored = call.attrs().ignore_index;
  p.smoothing = call.attrs().label_smoothing;
  p.isAligned = reinterpret_cast<uintptr_t>(p.logits) % 16 == 0;
  return p;
}

} // namespace
} // namespace aicf::cuda

#endif // AICF_KERNELS_LOSS_CROSSENTROPY_CUH
