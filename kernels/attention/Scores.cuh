//===- Scores.cuh - scores of attention on CUDA -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the kernels take, and what becomes of a product of q and k.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ATTENTION_SCORES_CUH
#define AICF_KERNELS_ATTENTION_SCORES_CUH

#include "kernels/attention/Extents.h"
#include "kernels/cuda/Common.cuh"
#include "lib/Base/Indices.h"

namespace aicf::cuda {

/// A tensor [batch, row, head, size].
struct HeadTensor {
  void *start = nullptr;
  HeadStrides strides;

  HeadTensor() = default;
  HeadTensor(const TensorView &view)
      : start(view.start()), strides(view.desc) {}
  /// Row t of head h in batch b.
  template <typename T>
  __device__ T *row(int64_t b, int64_t t, int64_t h) const {
    return static_cast<T *>(start) + strides.at(b, t, h);
  }
};

enum class MaskKind : int { None, Flags, Float, Own };

struct AttentionParams {
  AttentionExtents e;
  HeadTensor q, k, v, y, dy, dq, dk, dv;
  void *lse = nullptr;
  const void *mask = nullptr;
  MaskKind maskKind = MaskKind::None;
  MaskStrides maskStrides;
  const int32_t *segments = nullptr;
  Indices step;
  int64_t tiles = 0; ///< of queries or keys, of each head

  template <typename Args>
  explicit AttentionParams(const Args &call)
      : e(call), q(call.q()), k(call.k()), v(call.v()), y(call.y()),
        lse(call.lse().dense()) {
    if (const TensorView *given = present(call.mask())) {
      mask = given->start();
      maskKind = given->desc.dtype == DType::I1    ? MaskKind::Flags
                 : given->desc.dtype == DType::F32 ? MaskKind::Float
                                                   : MaskKind::Own;
      maskStrides = MaskStrides(given->desc);
    }
    if (call.segments())
      segments = call.segments()->template dense<int32_t>();
    if (e.drops())
      step = Indices(*call.step());
  }

private:
  static const TensorView *present(const TensorView &view) { return &view; }
  static const TensorView *present(const TensorView *view) { return view; }
};

template <typename C> __device__ inline C hidden() { return C(-INFINITY); }

/// The score of query i and key j of a head, whose product is given; `slope` gets the
/// softcap's.
template <typename T>
__device__ inline Compute<T> scoreOf(const AttentionParams &p, int64_t b, int64_t h,
                                     int64_t i, int64_t j, Compute<T> product,
                                     Compute<T> &slope) {
  using C = Compute<T>;
  if (j < p.e.firstKey(i) || j >= p.e.endKey(i))
    return hidden<C>();
  C score = product * C(p.e.scale);
  if (p.e.softcap > 0) {
    const C bent = tanh(score / C(p.e.softcap));
    slope = 1 - bent * bent;
    score = C(p.e.softcap) * bent;
  }
  if (p.maskKind != MaskKind::None) {
    const int64_t at = p.maskStrides.at(b, h, i) + j * p.maskStrides.key;
    if (p.maskKind == MaskKind::Flags) {
      if (!static_cast<const uint8_t *>(p.mask)[at])
        return hidden<C>();
    } else if (p.maskKind == MaskKind::Float) {
      score += C(static_cast<const float *>(p.mask)[at]);
    } else {
      score += widen(static_cast<const T *>(p.mask)[at]);
    }
  }
  if (p.segments && p.segments[b * p.e.keys + i] != p.segments[b * p.e.keys + j])
    return hidden<C>();
  return score;
}

/// What the weight of query i and key j is multiplied by: 0 where it is dropped.
template <typename C>
__device__ inline C factorOf(const AttentionParams &p, int64_t b, int64_t h, int64_t i,
                             int64_t j) {
  if (!p.e.drops())
    return C(1);
  const uint64_t element = p.e.elementAt(b, h, i, j);
  const PhiloxWords words = philox(p.e.seed, element / 4, uint64_t(p.step[0]));
  return words.at[element % 4] >= p.e.threshold ? C(p.e.factor) : C(0);
}

} // namespace aicf::cuda

#endif // AICF_KERNELS_ATTENTION_SCORES_CUH
